// The short forms of file.h: each is tw_access_all() or tw_access_one(), or their nonblocking twin, with its arguments
// put in place.
#include "thalweg/file.h"

namespace {

tw_extent one(const void* data, int64_t nbytes) { return {const_cast<void*>(data), nbytes, 0}; }

tw_access in_order(tw_direction direction, const tw_extent* extent, int common) {
  return {sizeof(tw_access), direction, TW_IN_ORDER, common, TW_PROGRESS_DEFAULT, extent, 1, 0, TW_OK, 0, nullptr};
}

tw_access at(tw_direction direction, const tw_extent* extent, int64_t offset, int common) {
  return {
      sizeof(tw_access), direction, TW_AT_OFFSET, common, TW_PROGRESS_DEFAULT, extent, 1, offset, TW_OK, 0, nullptr};
}

tw_access list(tw_direction direction, const tw_extent* extents, int64_t n, int common) {
  return {sizeof(tw_access), direction, TW_AT_EXTENTS, common, TW_PROGRESS_DEFAULT, extents, n, 0, TW_OK, 0, nullptr};
}

}  // namespace

extern "C" {

tw_status tw_write_all(tw_file* file, const void* data, int64_t nbytes) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_WRITE, &extent, 0);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_all(tw_file* file, void* data, int64_t nbytes, int64_t* nread) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_READ, &extent, 0);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_at_all(tw_file* file, const void* data, int64_t nbytes, int64_t offset) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 0);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_at_all(tw_file* file, void* data, int64_t nbytes, int64_t offset, int64_t* nread) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 0);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_list_all(tw_file* file, const tw_extent* extents, int64_t n) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 0);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_list_all(tw_file* file, const tw_extent* extents, int64_t n, int64_t* nread) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 0);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_com_all(tw_file* file, const void* data, int64_t nbytes) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_WRITE, &extent, 1);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_com_all(tw_file* file, void* data, int64_t nbytes, int64_t* nread) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_READ, &extent, 1);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_com_at_all(tw_file* file, const void* data, int64_t nbytes, int64_t offset) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 1);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_com_at_all(tw_file* file, void* data, int64_t nbytes, int64_t offset, int64_t* nread) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 1);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_com_list_all(tw_file* file, const tw_extent* extents, int64_t n) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 1);
  return tw_access_all(file, nullptr, &access, nullptr);
}

tw_status tw_read_com_list_all(tw_file* file, const tw_extent* extents, int64_t n, int64_t* nread) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 1);
  return tw_access_all(file, nullptr, &access, nread);
}

tw_status tw_write_at(tw_file* file, const void* data, int64_t nbytes, int64_t offset) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 0);
  return tw_access_one(file, &access, nullptr);
}

tw_status tw_read_at(tw_file* file, void* data, int64_t nbytes, int64_t offset, int64_t* nread) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 0);
  return tw_access_one(file, &access, nread);
}

tw_status tw_write_list(tw_file* file, const tw_extent* extents, int64_t n) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 0);
  return tw_access_one(file, &access, nullptr);
}

tw_status tw_read_list(tw_file* file, const tw_extent* extents, int64_t n, int64_t* nread) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 0);
  return tw_access_one(file, &access, nread);
}

tw_status tw_iwrite_all(tw_file* file, const void* data, int64_t nbytes, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_WRITE, &extent, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_all(tw_file* file, void* data, int64_t nbytes, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_READ, &extent, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_at_all(tw_file* file, const void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_at_all(tw_file* file, void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_list_all(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_list_all(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 0);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_com_all(tw_file* file, const void* data, int64_t nbytes, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_WRITE, &extent, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_com_all(tw_file* file, void* data, int64_t nbytes, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = in_order(TW_ACCESS_READ, &extent, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_com_at_all(tw_file* file, const void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_com_at_all(tw_file* file, void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_com_list_all(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iread_com_list_all(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 1);
  return tw_iaccess_all(file, nullptr, &access, request);
}

tw_status tw_iwrite_at(tw_file* file, const void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_WRITE, &extent, offset, 0);
  return tw_iaccess_one(file, &access, request);
}

tw_status tw_iread_at(tw_file* file, void* data, int64_t nbytes, int64_t offset, tw_request** request) {
  const tw_extent extent = one(data, nbytes);
  const tw_access access = at(TW_ACCESS_READ, &extent, offset, 0);
  return tw_iaccess_one(file, &access, request);
}

tw_status tw_iwrite_list(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_WRITE, extents, n, 0);
  return tw_iaccess_one(file, &access, request);
}

tw_status tw_iread_list(tw_file* file, const tw_extent* extents, int64_t n, tw_request** request) {
  const tw_access access = list(TW_ACCESS_READ, extents, n, 0);
  return tw_iaccess_one(file, &access, request);
}

}  // extern "C"
