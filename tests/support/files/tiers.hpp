// Checkpoints of simulated tasks on several nodes, whose tiers are one folder of this machine.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "multifile/check/check_multifile.hpp"
#include "multifile/tier/tier.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {

struct Checkpoint {
  std::string path;
  std::string tier;
  std::int64_t nodes = 2;
  std::int64_t tasks_of_node = 2;
  MultifileOptions options{};
  std::size_t bytes = 300'000;  // of each task
  bool closes = true;           // else: flushed, and abandoned
  std::function<void()> before_close{};
  std::shared_ptr<Backend> backend = posix_backend();
  bool exclusive = false;
  std::string name{};  // of the logical file of each task

  OpenRequest request(MultifileMode access) const {
    OpenRequest request;
    request.backend = backend;
    request.exclusive = exclusive;
    request.path = path;
    request.access = access;
    request.options = options;
    request.options.tier = tier;
    return request;
  }
  static std::byte byte_at(std::int64_t task, std::size_t at, int version) {
    return static_cast<std::byte>(
        1 + (at * 7 + at / 4096 + static_cast<std::size_t>(task) * 31 + static_cast<std::size_t>(version) * 101) % 251);
  }
  std::vector<std::byte> content(std::int64_t task, int version) const {
    std::vector<std::byte> data(bytes + static_cast<std::size_t>(task) * 1000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_at(task, i, version);
    return data;
  }
  SimOptions tasks() const { return {.tasks = nodes * tasks_of_node, .seed = 1, .processes_per_node = tasks_of_node}; }

  // Returns the status of the open, the flush or the close, that of all tasks.
  Status write(int version) const {
    const auto body = [this, version](Group& group) -> Op<Result<int>> {
      std::unique_ptr<Tier> tier_of_task;
      auto file = co_await open_in_tier(group, request(MultifileMode::create), tier_of_task);
      if (!file.has_value()) co_return file.status();
      WriteHandle& writing = *(*file)->writing;
      const std::vector<std::byte> data = content(group.rank(), version);
      TW_CO_ASSIGN_OR_RETURN(LogicalWriter * writer, writing.current_or_first());
      if (!name.empty()) TW_CO_RETURN_IF_ERROR(writing.set_name(*writer, name, 0));
      TW_CO_RETURN_IF_ERROR(writing.write(*writer, data));
      TW_CO_RETURN_IF_ERROR(writing.flush());
      if (!closes) {
        TW_CO_RETURN_IF_ERROR(co_await group.barrier());
        TW_CO_RETURN_IF_ERROR(leave_multifile(**file, Call::tw_multifile_abandon));
        co_return 0;
      }
      if (group.rank() == 0 && before_close) before_close();
      TW_CO_RETURN_IF_ERROR(co_await close_in_tier(group, std::move(file).value(), std::move(tier_of_task)));
      co_return 0;
    };
    Status first;
    for (const Result<int>& result : results_on_sim<Result<int>>(tasks(), body)) first = first.or_else(result.status());
    return first;
  }

  // The version that all tasks read; -1: some task is refused; -2: other bytes, or tasks read different versions.
  int read(bool from_tier = false) const {
    const auto body = [this, from_tier](Group& group) -> Op<Result<int>> {
      OpenRequest asked = request(MultifileMode::read);
      if (!from_tier) asked.options.tier.clear();
      std::unique_ptr<Tier> tier_of_task;
      auto file = co_await open_in_tier(group, std::move(asked), tier_of_task);
      if (!file.has_value()) co_return -1;
      TW_CO_ASSIGN_OR_RETURN(LogicalReader * reader, (*file)->reading->current_or_first());
      for (int version = 0; version < 5; ++version) {
        const std::vector<std::byte> wanted = content(group.rank(), version);
        std::vector<std::byte> found(wanted.size() + 1);
        std::size_t got = 0;
        if (!reader->read(0, found, got).ok()) co_return -1;
        if (got == wanted.size() && std::equal(wanted.begin(), wanted.end(), found.begin())) co_return version;
      }
      co_return -2;
    };
    std::vector<int> versions;
    for (const Result<int>& result : results_on_sim<Result<int>>(tasks(), body))
      versions.push_back(result.has_value() ? result.value() : -1);
    if (std::ranges::count(versions, -1) > 0 && std::ranges::count(versions, -2) == 0) return -1;
    const bool alike = !versions.empty() && std::ranges::count(versions, versions[0]) == std::ssize(versions);
    return alike ? versions[0] : -2;
  }

  bool is_whole() const {
    CheckResult found;
    return verify_multifile(posix_backend(), path, {}, found).ok();
  }
  // Folders in the tier whose names end so: ".000001", ".000001.copy".
  std::vector<std::filesystem::path> in_tier(const std::string& end = "") const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(tier))
      if (entry.path().string().ends_with(end)) found.push_back(entry.path());
    return found;
  }
  // Loses the tier of a node: its own part, and the copy that it has of the node before it.
  void lose_node(std::int64_t node) const {
    const auto number = [](std::int64_t n) { return "." + std::string(5, '0') + std::to_string(n); };
    for (const auto& folder : in_tier(number(node))) std::filesystem::remove_all(folder);
    for (const auto& folder : in_tier(number((node + nodes - 1) % nodes) + ".copy"))
      std::filesystem::remove_all(folder);
  }
};

// Calls drain_tier(); its lines are added to `*lines`.
inline Status drained(const std::string& tier, bool lost = false, std::string* lines = nullptr,
                      const std::shared_ptr<Backend>& backend = posix_backend()) {
  return drain_tier(backend, {tier, "", lost, [lines](const std::string& line) {
                                if (lines != nullptr) *lines += line + "\n";
                              }});
}

}  // namespace thalweg::test
