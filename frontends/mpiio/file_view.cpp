// The view of a file: MPI_File_set_view() and what asks for it.
#include <cstring>
#include <string>

#include "mpiio/calls.hpp"
#include "mpiio/hints.hpp"
#include "mpiio/open_file.hpp"
#include "mpiio/representation.hpp"
#include "mpiio/shared_pointer.hpp"

namespace thalweg::mpiio {

namespace {

constexpr const char* kSetView = "MPI_File_set_view";

Failure wrong(int error_class, const std::string& what) { return {error_class, std::string(kSetView) + ": " + what}; }

Failure find_representation(const char* datarep, const Representation*& found) {
  if (datarep == nullptr) return wrong(MPI_ERR_ARG, "datarep is NULL");
  Failure failure;
  found = representation_of(datarep, failure);
  if (!failure.none()) failure.message = std::string(kSetView) + ": " + failure.message;
  return failure;
}

// What MPI_DISPLACEMENT_CURRENT stands for: where the shared pointer is. Collective in sequential mode. Each rank reads
// the pointer behind its own accesses: the largest value is behind those of all.
Failure find_current(OpenFile& file, std::int64_t& displacement) {
  if ((file.amode & MPI_MODE_SEQUENTIAL) == 0) return {};
  std::int64_t position = advance_shared(file, 0);
  Failure failure = failure_of(tw_group_allreduce(file.group, &position, 1, TW_MAX));
  if (failure.none())
    failure = failure_of(tw_file_view_offset(file.file, position * file.view.etype_bytes, &displacement));
  return failure;
}

Failure choose_displacement(const OpenFile& file, std::int64_t current, MPI_Offset& displacement) {
  const bool wants_current = displacement == MPI_DISPLACEMENT_CURRENT;
  if (wants_current && (file.amode & MPI_MODE_SEQUENTIAL) == 0)
    return wrong(MPI_ERR_ARG, "displacement is MPI_DISPLACEMENT_CURRENT; only with MPI_MODE_SEQUENTIAL");
  if (!wants_current && displacement < 0)
    return wrong(MPI_ERR_ARG, "displacement is " + std::to_string(displacement) + "; 0 or more bytes");
  if (wants_current) displacement = current;
  return {};
}

struct Asked {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  const char* datarep;
};

struct Found {
  const Representation* representation = nullptr;
  const Layout* etype = nullptr;
  const Layout* filetype = nullptr;
  Layout own_etype, own_filetype;  // where a representation has sizes of its own
};

Failure check_types(const Asked& asked, Found& found) {
  Failure failure;
  found.etype = layout_in_file(asked.etype, found.representation, found.own_etype, failure);
  if (failure.none())
    found.filetype = layout_in_file(asked.filetype, found.representation, found.own_filetype, failure);
  if (!failure.none()) return wrong(failure.error_class, failure.message);
  if (found.etype->size == 0 || found.filetype->size % found.etype->size != 0)
    return wrong(MPI_ERR_ARG, "the filetype has " + std::to_string(found.filetype->size) +
                                  " bytes, which is no multiple of the etype's " + std::to_string(found.etype->size));
  for (const Layout* const type : {found.etype, found.filetype})
    if (type->base < 0 || type->extent < 0 || type->decreases)
      return wrong(MPI_ERR_IO, std::string(type == found.etype ? "the etype" : "the filetype") +
                                   " has a displacement that is negative or below the one before it, or a negative "
                                   "extent (MPI 4.1, 14.3)");
  return {};
}

// The view as the library has it; null for the bytes of the file from the displacement on.
ViewPtr library_view(const Layout& filetype, Failure& failure) {
  if (filetype.is_run() && filetype.extent == filetype.size && filetype.base == 0) return nullptr;
  return view_from_start(filetype, failure);
}

MPI_Datatype kept(MPI_Datatype type) {
  if (is_predefined(type)) return type;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &copy);
  return copy;
}

void keep_view(OpenFile& file, const Asked& asked, const Found& found) {
  const std::scoped_lock lock(file.mutex);
  for (MPI_Datatype* type : {&file.view.etype, &file.view.filetype})
    if (!is_predefined(*type)) MPI_Type_free(type);
  file.view = {asked.displacement, kept(asked.etype),    kept(asked.filetype),
               asked.datarep,      found.representation, found.etype->size};
  file.position = 0;
  set_shared(file, 0);
  ask_whether_alone(file);
}

// All ranks come to the library's call; one whose arguments are wrong passes a displacement that fails on all.
Failure change_view(OpenFile& file, Asked asked) {
  Found found;
  ViewPtr view;
  std::int64_t current = 0;
  if (Failure failure = find_current(file, current); !failure.none()) return failure;
  Failure mine = find_representation(asked.datarep, found.representation);
  if (mine.none()) mine = check_types(asked, found);
  if (mine.none()) mine = choose_displacement(file, current, asked.displacement);
  if (mine.none()) view = library_view(*found.filetype, mine);
  const tw_status status = tw_file_set_view(file.file, mine.none() ? asked.displacement : -1, view.get());
  if (!mine.none()) return mine;
  Failure failure = failure_of(status);
  if (status == TW_ERR_INVALID) failure.error_class = MPI_ERR_IO;  // bytes twice in a file that may be written
  if (failure.none())
    keep_view(file, asked, found);
  else
    failure.message = std::string(kSetView) + ": " + failure.message;
  return failure;
}

}  // namespace

int set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
             MPI_Info info) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(kSetView));
  {
    const std::scoped_lock lock(file->mutex);
    add_hints(info, file->communicator->rank == 0, file->info);
  }
  return conclude(file.get(), change_view(*file, {displacement, etype, filetype, datarep}));
}

int get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open("MPI_File_get_view"));
  const std::scoped_lock lock(file->mutex);
  *displacement = file->view.displacement;
  *etype = kept(file->view.etype);
  *filetype = kept(file->view.filetype);
  std::strcpy(datarep, file->view.datarep.c_str());  // at most MPI_MAX_DATAREP_STRING
  return MPI_SUCCESS;
}

int get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* displacement) {
  constexpr const char* kCall = "MPI_File_get_byte_offset";
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(kCall));
  std::int64_t position = 0, found = 0;
  if (offset < 0 || __builtin_mul_overflow(static_cast<std::int64_t>(offset), file->view.etype_bytes, &position))
    return conclude(file.get(), {MPI_ERR_ARG, std::string(kCall) + ": offset is " + std::to_string(offset) +
                                                  "; offsets are 0 or more, and below 2^63 bytes"});
  const Failure failure = failure_of(tw_file_view_offset(file->file, position, &found));
  *displacement = found;
  return conclude(file.get(), failure);
}

int get_type_extent(MPI_File handle, MPI_Datatype type, MPI_Count* extent) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open("MPI_File_get_type_extent"));
  Failure failure;
  {
    const std::scoped_lock lock(file->mutex);
    Layout own;
    const Layout* const layout = layout_in_file(type, file->view.representation, own, failure);
    if (layout != nullptr) *extent = layout->extent;
  }
  return conclude(file.get(), failure);
}

}  // namespace thalweg::mpiio
