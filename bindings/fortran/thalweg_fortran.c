/* C side of module thalweg: actual arguments of any type and rank arrive as descriptors.
 *
 * A task whose arguments are wrong may not leave the others of a collective call alone: tw_f_memory carries what is wrong
 * into the call of the library, which then fails on all tasks. */
#include <ISO_Fortran_binding.h>
#include <stdlib.h>
#include <string.h>

#include "thalweg_fortran.h"

/* Sets tw_last_error(). */
tw_status tw_f_fail(tw_status status, const char* message) {
  tw_group* alone = NULL;
  const tw_status made = tw_group_self(&alone);
  if (made != TW_OK) return made;
  status = tw_group_agree(alone, status, 0, message);
  tw_group_free(&alone);
  return status;
}

static tw_status refuse(const tw_f_memory* memory) { return tw_f_fail(TW_ERR_INVALID, memory->problem); }

/* The status of a call that was made although this task's arguments are wrong. */
static tw_status conclude(const tw_f_memory* memory, tw_status status) {
  return memory->problem != NULL ? refuse(memory) : status;
}

/* Arguments whose size a descriptor does not have are refused. In gfortran these are scalars of type character, which arrive
 * with a wrong length or as one byte, and polymorphic objects, which arrive as an address. */
static const char* problem_of(const CFI_cdesc_t* data, const tw_f_memory* memory) {
  const int kinds = 0xff; /* gfortran has the kind of a type above these bits */
  const int is_text = (data->type & kinds) == (CFI_type_char & kinds);
  if (data->rank > 0 && data->dim[data->rank - 1].extent < 0)
    return "the length of an assumed-size array is not known: pass a section, as in a(1:n)";
  if (data->rank == 0 && (is_text || data->elem_len == 1))
    return "text, or a scalar of one byte: pass text to write_text or read_text, and a byte as an array of one item";
  if (data->elem_len == 0) return "items without bytes: text of length 0, or a type without components";
  if (data->rank == 0 && data->type == CFI_type_cptr)
    return "a polymorphic object, or an address: pass the object inside of select type";
  if (data->base_addr == NULL && memory->nbytes > 0) return "an array that is not allocated, or a pointer to nothing";
  if (data->rank > 0 && memory->nbytes > 0 && CFI_is_contiguous(data) == 0)
    return "an array that does not lie together: pass a contiguous one to a nonblocking call, and a polymorphic one "
           "inside of select type";
  return NULL;
}

void tw_f_describe(const CFI_cdesc_t* data, tw_f_memory* memory) {
  memset(memory, 0, sizeof *memory);
  memory->address = data->base_addr;
  memory->item_bytes = memory->nbytes = (int64_t)data->elem_len;
  memory->rank = data->rank;
  for (int i = 0; i < data->rank; ++i) {
    memory->extents[i] = data->dim[i].extent;
    memory->nbytes *= data->dim[i].extent;
  }
  memory->problem = problem_of(data, memory);
  if (memory->problem != NULL) memory->nbytes = 0;
}

tw_status tw_f_check(const tw_f_memory* memory) { return memory->problem != NULL ? refuse(memory) : TW_OK; }

/* `comm` may be NULL. A group of all threads of all ranks takes that of the ranks on thread 0 only. */
tw_status tw_f_open_group(const void* comm, int32_t threads, tw_group** group) {
  *group = NULL;
  if (threads != 0) return tw_f_group_threads(comm, group);
  return comm != NULL ? tw_f_group_mpi(comm, group) : TW_OK;
}

static tw_access access_of(const tw_f_memory* memory, int32_t writes, int32_t placement, int64_t offset,
                           const tw_extent* piece) {
  tw_access access = {.struct_size = sizeof access};
  access.direction = writes != 0 ? TW_ACCESS_WRITE : TW_ACCESS_READ;
  access.placement = placement;
  access.extents = piece;
  access.n = memory->problem != NULL ? 0 : 1;
  access.offset = offset;
  if (memory->problem != NULL) {
    access.status = TW_ERR_INVALID;
    access.message = memory->problem;
  }
  return access;
}

/* The list of extents of a nonblocking access stays until it is complete, unless the access has a view of memory. */
static tw_status start(tw_file* file, tw_access access, int64_t nbytes, int32_t collective, tw_request** request) {
  tw_view* bytes = NULL;
  tw_status status = tw_view_contiguous(nbytes, NULL, &bytes);
  if (status != TW_OK && collective == 0) return status;
  if (status != TW_OK) {
    access.status = status;
    access.n = 0;
  } else {
    access.memory = bytes;
    if (nbytes == 0) access.n = 0;
  }
  status =
      collective != 0 ? tw_file_iaccess_all(file, NULL, &access, request) : tw_file_iaccess(file, &access, request);
  tw_view_free(&bytes);
  return status;
}

/* `request` NULL: blocking. */
tw_status tw_f_access(tw_file* file, const tw_f_memory* memory, int32_t writes, int32_t placement, int32_t collective,
                      int64_t offset, size_t* moved, tw_request** request) {
  const tw_extent piece = {memory->address, memory->nbytes, 0};
  const tw_access access = access_of(memory, writes, placement, offset, &piece);
  *moved = 0;
  if (memory->problem != NULL && collective == 0) return refuse(memory);
  if (request != NULL) return start(file, access, memory->nbytes, collective, request);
  const tw_status status =
      collective != 0 ? tw_file_access_all(file, NULL, &access, moved) : tw_file_access(file, &access, moved);
  return conclude(memory, status);
}

enum { MOST_DIMS = 15 };

/* The numbers of dimensions must be those of the array; each task has its own arguments. */
static const char* array_problem(const tw_f_memory* memory, const tw_f_part* part, tw_dim* dims) {
  const int64_t n = memory->rank;
  if (memory->problem != NULL) return memory->problem;
  if (n == 0) return "a scalar: pass an array";
  if (part->n_global != n || part->n_first != n || (part->halo != NULL && part->n_halo != n))
    return "the array and its global shape, first indices and halo have different numbers of dimensions";
  for (int64_t i = 0; i < n; ++i) {
    const int64_t halo = part->halo != NULL ? part->halo[i] : 0;
    const tw_dim dim = {part->global[i], part->first[i] - 1, memory->extents[i] - 2 * halo, halo, halo};
    if (dim.count < 0) return "the halo is larger than the array";
    dims[i] = dim;
  }
  return NULL;
}

tw_status tw_f_array(tw_file* file, const tw_f_memory* memory, int32_t writes, const tw_f_part* part, int64_t offset,
                     size_t* moved, tw_request** request) {
  tw_dim dims[MOST_DIMS] = {{0, 0, 0, 0, 0}};
  tw_f_memory mine = *memory;
  mine.problem = array_problem(memory, part, dims);
  *moved = 0;
  if (mine.problem != NULL) { /* all tasks fail, and learn why */
    const tw_access access = access_of(&mine, writes, TW_AT_OFFSET, 0, NULL);
    if (request != NULL) return tw_file_iaccess_all(file, NULL, &access, request);
    return conclude(&mine, tw_file_access_all(file, NULL, &access, moved));
  }
  const size_t item_bytes = (size_t)mine.item_bytes;
  const int32_t n = (int32_t)mine.rank;
  void* const data = mine.address;
  if (request != NULL)
    return writes != 0 ? tw_file_iwrite_array(file, data, item_bytes, n, dims, TW_COLUMN_MAJOR, offset, request)
                       : tw_file_iread_array(file, data, item_bytes, n, dims, TW_COLUMN_MAJOR, offset, request);
  return writes != 0 ? tw_file_write_array(file, data, item_bytes, n, dims, TW_COLUMN_MAJOR, offset)
                     : tw_file_read_array(file, data, item_bytes, n, dims, TW_COLUMN_MAJOR, offset, moved);
}

static const char* vps_problem(const tw_f_memory* memory, const tw_vpfile_summary* box, const int64_t* n_each,
                               const uint8_t* mask) {
  if (memory->problem != NULL || box->n_local == 0) return memory->problem;
  if (n_each == NULL)
    return memory->nbytes % (box->n_local * memory->item_bytes) == 0
               ? NULL
               : "the array does not have as many items for each virtual processor of this task";
  int64_t items = 0;
  for (int64_t i = 0; i < box->n_local; ++i)
    if (mask == NULL || mask[i] != 0) items += n_each[i];
  return items * memory->item_bytes <= memory->nbytes ? NULL : "the array has fewer items than the lengths add up to";
}

/* Without `n_each` all virtual processors move as many items, and have their place in the array whether they take part
 * or not. */
tw_status tw_f_all_vps(tw_vpfile* vpfile, const tw_f_memory* memory, int32_t writes, const int64_t* n_each,
                       const uint8_t* mask, int64_t* counts) {
  tw_vpfile_summary box = {.struct_size = sizeof box};
  const tw_status asked = tw_vpfile_summarize(vpfile, &box);
  if (asked != TW_OK) return asked;
  int64_t strides[TW_VPFILE_MOST_DIMS] = {0};
  tw_f_memory mine = *memory;
  mine.problem = vps_problem(memory, &box, n_each, mask);
  tw_vpfile_data data = {mine.address, mine.problem != NULL ? 0 : (size_t)mine.item_bytes, 0, n_each, 0, NULL};
  if (n_each == NULL && mine.problem == NULL && box.n_local > 0) {
    const int64_t of_one = mine.nbytes / box.n_local;
    data.n_items = of_one / mine.item_bytes;
    int64_t stride = of_one;
    for (int32_t i = box.n_dims; i-- > 0; stride *= box.box_count[i]) strides[i] = stride;
    if (mask != NULL) data.vp_strides = strides;
  }
  return conclude(&mine, writes != 0 ? tw_vpfile_write_all(vpfile, data, mask, counts)
                                     : tw_vpfile_read_all(vpfile, data, mask, counts));
}
