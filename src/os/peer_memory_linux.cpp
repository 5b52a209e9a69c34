#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "os/peer_memory.hpp"

namespace thalweg {

namespace {

std::uint64_t& number_of_this_process() {
  // Not a secret: it only has to differ from the content of this address in other processes.
  static std::uint64_t number =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9E3779B97F4A7C15U ^
      static_cast<std::uint64_t>(::getpid()) << 32;
  return number;
}

void skip(std::span<iovec>& parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts[0].iov_len) {
    bytes -= parts[0].iov_len;
    parts = parts.subspan(1);
  }
  if (bytes == 0) return;
  parts[0].iov_base = static_cast<char*>(parts[0].iov_base) + bytes;
  parts[0].iov_len -= bytes;
}

void copy_here(Direction direction, std::span<iovec> here, std::span<iovec> there) {
  while (!here.empty() && !there.empty()) {
    const std::size_t bytes = std::min(here[0].iov_len, there[0].iov_len);
    if (direction == Direction::read) {
      std::memcpy(here[0].iov_base, there[0].iov_base, bytes);
    } else {
      std::memcpy(there[0].iov_base, here[0].iov_base, bytes);
    }
    skip(here, bytes);
    skip(there, bytes);
  }
}

// The kernel moves less than 2 GiB per call; the next call continues.
Status copy_by_kernel(Direction direction, std::int64_t process, std::span<iovec> here, std::span<iovec> there) {
  if (process == ::getpid()) {
    copy_here(direction, here, there);
    return {};
  }
  const auto call = direction == Direction::read ? ::process_vm_readv : ::process_vm_writev;
  while (!here.empty() && !there.empty()) {
    const ssize_t moved = call(static_cast<pid_t>(process), here.data(), here.size(), there.data(), there.size(), 0);
    if (moved <= 0) {
      const int err = moved == 0 ? EFAULT : errno;
      return Status::failed_call(
          Code::io_error, err,
          fmt::format("cannot {} the memory of process {}: {}", direction == Direction::read ? "read" : "write",
                      process, std::strerror(err)));
    }
    skip(here, static_cast<std::size_t>(moved));
    skip(there, static_cast<std::size_t>(moved));
  }
  return {};
}

}  // namespace

PeerProbe probe_of_this_process() {
  std::uint64_t& number = number_of_this_process();
  return {::getpid(), reinterpret_cast<std::uintptr_t>(&number), number};
}

bool can_reach(const PeerProbe& peer) {
  if (peer.process == ::getpid()) return peer.number == number_of_this_process();
  std::uint64_t seen = 0;
  iovec here{&seen, sizeof seen};
  iovec there{reinterpret_cast<void*>(peer.address), sizeof seen};
  if (!copy_peer(Direction::read, peer.process, {&here, 1}, {&there, 1}).ok() || seen != peer.number) return false;
  here = {&seen, sizeof seen};
  there = {reinterpret_cast<void*>(peer.address), sizeof seen};
  return copy_peer(Direction::write, peer.process, {&here, 1}, {&there, 1}).ok();
}

PeerCopyCall& peer_copy_call() {
  static PeerCopyCall call = copy_by_kernel;
  return call;
}

Status copy_peer(Direction direction, std::int64_t process, std::span<iovec> here, std::span<iovec> there) {
  return peer_copy_call()(direction, process, here, there);
}

}  // namespace thalweg
