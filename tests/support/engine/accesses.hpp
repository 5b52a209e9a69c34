// Accesses of file.h that tests describe by tw_access: lists of extents, and the common arguments of all tasks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thalweg/file.h"

namespace thalweg::test {

inline tw_access access_of(tw_direction direction, tw_placement placement, const tw_extent* extents, std::int64_t n) {
  tw_access access{};
  access.struct_size = sizeof access;
  access.direction = direction;
  access.placement = placement;
  access.extents = extents;
  access.n = n;
  return access;
}
inline tw_access list_of(tw_direction direction, const tw_extent* extents, std::int64_t n) {
  return access_of(direction, TW_AT_EXTENTS, extents, n);
}
inline tw_access common(tw_access access) {
  access.common = 1;
  return access;
}

inline tw_status write_list_all(tw_file* file, const tw_extent* extents, std::int64_t n) {
  const tw_access access = list_of(TW_ACCESS_WRITE, extents, n);
  return tw_file_access_all(file, nullptr, &access, nullptr);
}
inline tw_status read_list_all(tw_file* file, const tw_extent* extents, std::int64_t n, std::size_t* nread) {
  const tw_access access = list_of(TW_ACCESS_READ, extents, n);
  return tw_file_access_all(file, nullptr, &access, nread);
}
inline tw_status iwrite_list_all(tw_file* file, const tw_extent* extents, std::int64_t n, tw_request** request) {
  const tw_access access = list_of(TW_ACCESS_WRITE, extents, n);
  return tw_file_iaccess_all(file, nullptr, &access, request);
}
inline tw_status iread_list_all(tw_file* file, const tw_extent* extents, std::int64_t n, tw_request** request) {
  const tw_access access = list_of(TW_ACCESS_READ, extents, n);
  return tw_file_iaccess_all(file, nullptr, &access, request);
}
inline tw_status write_list(tw_file* file, const tw_extent* extents, std::int64_t n) {
  const tw_access access = list_of(TW_ACCESS_WRITE, extents, n);
  return tw_file_access(file, &access, nullptr);
}
inline tw_status read_list(tw_file* file, const tw_extent* extents, std::int64_t n, std::size_t* nread) {
  const tw_access access = list_of(TW_ACCESS_READ, extents, n);
  return tw_file_access(file, &access, nread);
}
inline tw_status iwrite_list(tw_file* file, const tw_extent* extents, std::int64_t n, tw_request** request) {
  const tw_access access = list_of(TW_ACCESS_WRITE, extents, n);
  return tw_file_iaccess(file, &access, request);
}
inline tw_status iread_list(tw_file* file, const tw_extent* extents, std::int64_t n, tw_request** request) {
  const tw_access access = list_of(TW_ACCESS_READ, extents, n);
  return tw_file_iaccess(file, &access, request);
}

}  // namespace thalweg::test
