// The short forms of file.h: each is tw_file_access_all() or tw_file_access(), or their nonblocking twin, with its
// arguments put in place.
#include "capi/file_handle.hpp"

using thalweg::Call;

namespace {

// An access borrows its piece: a temporary in the arguments of a call lives until that call returns.
tw_extent one(const void* data, size_t nbytes) { return {const_cast<void*>(data), static_cast<int64_t>(nbytes), 0}; }

tw_access placed(tw_placement where, tw_direction direction, const tw_extent& piece, int64_t offset = 0) {
  return {sizeof(tw_access), direction, where, 0, TW_PROGRESS_DEFAULT, &piece, 1, offset, TW_OK, 0, nullptr, nullptr};
}
tw_access in_order(tw_direction direction, const tw_extent& piece) { return placed(TW_IN_ORDER, direction, piece); }
tw_access in_view(tw_direction direction, const tw_extent& piece) { return placed(TW_IN_VIEW, direction, piece); }
tw_access at(int64_t offset, tw_direction direction, const tw_extent& piece) {
  return placed(TW_AT_OFFSET, direction, piece, offset);
}

tw_status by_all(Call call, tw_file* file, const tw_access& access, size_t* nread = nullptr) {
  return access_by_all(call, file, nullptr, &access, nread);
}

tw_status by_one(tw_file* file, const tw_access& access, size_t* nread = nullptr) {
  return tw_file_access(file, &access, nread);
}

tw_status begin_by_all(Call call, tw_file* file, const tw_access& access, tw_request** request) {
  return start_by_all(call, file, nullptr, &access, request);
}

tw_status start_by_one(tw_file* file, const tw_access& access, tw_request** request) {
  return tw_file_iaccess(file, &access, request);
}

}  // namespace

extern "C" {

tw_status tw_file_write_all(tw_file* file, const void* data, size_t nbytes) {
  return by_all(Call::tw_file_write_all, file, in_order(TW_ACCESS_WRITE, one(data, nbytes)));
}

tw_status tw_file_read_all(tw_file* file, void* data, size_t nbytes, size_t* nread) {
  return by_all(Call::tw_file_read_all, file, in_order(TW_ACCESS_READ, one(data, nbytes)), nread);
}

tw_status tw_file_write_at_all(tw_file* file, const void* data, size_t nbytes, int64_t offset) {
  return by_all(Call::tw_file_write_at_all, file, at(offset, TW_ACCESS_WRITE, one(data, nbytes)));
}

tw_status tw_file_read_at_all(tw_file* file, void* data, size_t nbytes, int64_t offset, size_t* nread) {
  return by_all(Call::tw_file_read_at_all, file, at(offset, TW_ACCESS_READ, one(data, nbytes)), nread);
}

tw_status tw_file_write_view_all(tw_file* file, const void* data, size_t nbytes) {
  return by_all(Call::tw_file_write_view_all, file, in_view(TW_ACCESS_WRITE, one(data, nbytes)));
}

tw_status tw_file_read_view_all(tw_file* file, void* data, size_t nbytes, size_t* nread) {
  return by_all(Call::tw_file_read_view_all, file, in_view(TW_ACCESS_READ, one(data, nbytes)), nread);
}

tw_status tw_file_write_at(tw_file* file, const void* data, size_t nbytes, int64_t offset) {
  return by_one(file, at(offset, TW_ACCESS_WRITE, one(data, nbytes)));
}

tw_status tw_file_read_at(tw_file* file, void* data, size_t nbytes, int64_t offset, size_t* nread) {
  return by_one(file, at(offset, TW_ACCESS_READ, one(data, nbytes)), nread);
}

tw_status tw_file_write_view(tw_file* file, const void* data, size_t nbytes) {
  return by_one(file, in_view(TW_ACCESS_WRITE, one(data, nbytes)));
}

tw_status tw_file_read_view(tw_file* file, void* data, size_t nbytes, size_t* nread) {
  return by_one(file, in_view(TW_ACCESS_READ, one(data, nbytes)), nread);
}

tw_status tw_file_iwrite_all(tw_file* file, const void* data, size_t nbytes, tw_request** request) {
  return begin_by_all(Call::tw_file_iwrite_all, file, in_order(TW_ACCESS_WRITE, one(data, nbytes)), request);
}

tw_status tw_file_iread_all(tw_file* file, void* data, size_t nbytes, tw_request** request) {
  return begin_by_all(Call::tw_file_iread_all, file, in_order(TW_ACCESS_READ, one(data, nbytes)), request);
}

tw_status tw_file_iwrite_at_all(tw_file* file, const void* data, size_t nbytes, int64_t offset, tw_request** request) {
  return begin_by_all(Call::tw_file_iwrite_at_all, file, at(offset, TW_ACCESS_WRITE, one(data, nbytes)), request);
}

tw_status tw_file_iread_at_all(tw_file* file, void* data, size_t nbytes, int64_t offset, tw_request** request) {
  return begin_by_all(Call::tw_file_iread_at_all, file, at(offset, TW_ACCESS_READ, one(data, nbytes)), request);
}

tw_status tw_file_iwrite_view_all(tw_file* file, const void* data, size_t nbytes, tw_request** request) {
  return begin_by_all(Call::tw_file_iwrite_view_all, file, in_view(TW_ACCESS_WRITE, one(data, nbytes)), request);
}

tw_status tw_file_iread_view_all(tw_file* file, void* data, size_t nbytes, tw_request** request) {
  return begin_by_all(Call::tw_file_iread_view_all, file, in_view(TW_ACCESS_READ, one(data, nbytes)), request);
}

tw_status tw_file_iwrite_at(tw_file* file, const void* data, size_t nbytes, int64_t offset, tw_request** request) {
  return start_by_one(file, at(offset, TW_ACCESS_WRITE, one(data, nbytes)), request);
}

tw_status tw_file_iread_at(tw_file* file, void* data, size_t nbytes, int64_t offset, tw_request** request) {
  return start_by_one(file, at(offset, TW_ACCESS_READ, one(data, nbytes)), request);
}

tw_status tw_file_iwrite_view(tw_file* file, const void* data, size_t nbytes, tw_request** request) {
  return start_by_one(file, in_view(TW_ACCESS_WRITE, one(data, nbytes)), request);
}

tw_status tw_file_iread_view(tw_file* file, void* data, size_t nbytes, tw_request** request) {
  return start_by_one(file, in_view(TW_ACCESS_READ, one(data, nbytes)), request);
}

}  // extern "C"
