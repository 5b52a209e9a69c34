#include "thalweg_methods.hpp"

#include <thalweg/group_mpi.h>
#include <thalweg/version.h>

namespace probe {

namespace {

int free_group(MPI_Comm /*comm*/, int /*keyval*/, void* group, void* /*extra*/) {
  const std::unique_ptr<thalweg::Group> owned(static_cast<thalweg::Group*>(group));
  return MPI_SUCCESS;
}

int group_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    must_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_group, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

}  // namespace

const thalweg::Group& group_of(MPI_Comm comm) {
  void* found = nullptr;
  int has = 0;
  must_mpi(MPI_Comm_get_attr(comm, group_key(), &found, &has), "MPI_Comm_get_attr");
  if (has == 0) {
    auto made = std::make_unique<thalweg::Group>(thalweg::Group::make(tw_group_mpi, comm));
    must_mpi(MPI_Comm_set_attr(comm, group_key(), made.get()), "MPI_Comm_set_attr");
    found = made.release();
  }
  return *static_cast<thalweg::Group*>(found);
}

std::string thalweg_name() { return std::string("Thalweg ") + tw_version_string(); }

std::unique_ptr<Method> make_thalweg_method(std::string_view id) {
  if (id == "tw-multifile") return make_multifile_method();
  if (id == "tw-collective") return make_collective_method();
  if (id == "tw-nonblocking") return make_nonblocking_method();
  return make_vpfile_method();
}

}  // namespace probe
