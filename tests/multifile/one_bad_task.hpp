// One task of a group opens a multifile with a wrong argument: all tasks get the failure, none hangs, no file is
// damaged, and the group stays usable. Bodies for every kind of group, here and in tests/mpi.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "capi/handles.hpp"
#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {

struct BadRequest {
  const char* name;
  MultifileMode good;  // mode of the other tasks
  bool needs_others;   // wrong only together with the others' arguments
  std::function<void(OpenRequest&)> spoil;
};
inline void PrintTo(const BadRequest& bad, std::ostream* out) { *out << bad.name; }

// Requests that are wrong by themselves or only beside the others', for each way to open.
inline std::vector<BadRequest> bad_requests() {
  std::vector<BadRequest> all;
  const auto add = [&](const char* name, std::vector<MultifileMode> ways, bool needs_others,
                       std::function<void(OpenRequest&)> spoil) {
    for (const MultifileMode good : ways) all.push_back({name, good, needs_others, spoil});
  };
  const auto create = MultifileMode::create, read = MultifileMode::read, append = MultifileMode::append;
  const std::vector<MultifileMode> any = {create, read, append}, writing = {create, append};
  add("RefusedByTheCaller", any, false,
      [](OpenRequest& r) { r.arguments = Status::error(Code::invalid_argument, "a bad argument"); });
  add("RefusedWithTheModeUnknown", any, false, [](OpenRequest& r) {
    r.access = MultifileMode::read;
    r.arguments = Status::error(Code::invalid_argument, "a bad mode");
  });
  add("OtherPath", any, true, [](OpenRequest& r) { r.path += "_other"; });
  add("PathInNoFolder", any, true, [](OpenRequest& r) { r.path += ".d/none/run.tw"; });
  add("OtherTotal", any, true, [](OpenRequest& r) { ++r.serving.n_logical; });
  add("ImpossibleTotal", any, false, [](OpenRequest& r) { r.serving.n_logical = std::int64_t{1} << 41; });
  add("NoTotal", {create}, false, [](OpenRequest& r) { r.serving.n_logical = -1; });
  add("RankBeyondTheEnd", any, false, [](OpenRequest& r) { r.serving.first = r.serving.n_logical; });
  add("NegativeRank", any, false, [](OpenRequest& r) {
    r.serving.kind = Serving::Kind::list;
    r.serving.list = {-1};
  });
  add("RanksOfAnother", writing, true, [](OpenRequest& r) {
    r.serving.first = 0;
    r.serving.count = r.serving.n_logical;
  });
  add("RankTwice", any, false, [](OpenRequest& r) {
    r.serving.kind = Serving::Kind::list;
    r.serving.list.assign(2, r.serving.first);
  });
  add("OtherPhysicalFiles", writing, true, [](OpenRequest& r) { r.options.physical_files = 2; });
  add("OtherGranule", writing, true, [](OpenRequest& r) { r.options.granule_bytes = 8192; });
  add("OtherCompression", writing, true, [](OpenRequest& r) { r.options.codec = format::Codec::lz4; });
  add("OtherSync", writing, true, [](OpenRequest& r) { r.options.sync_on_close = true; });
  add("ExclusiveAlone", {create}, true, [](OpenRequest& r) { r.exclusive = true; });
  add("CreatesAlone", {read, append}, true, [](OpenRequest& r) { r.access = MultifileMode::create; });
  add("ReadsAlone", {create, append}, true, [](OpenRequest& r) { r.access = MultifileMode::read; });
  add("AppendsAlone", {create, read}, true, [](OpenRequest& r) { r.access = MultifileMode::append; });
  return all;
}

inline OpenRequest good_request(const Group& group, std::shared_ptr<Backend> backend, const std::string& path,
                                MultifileMode access) {
  OpenRequest request;
  request.backend = std::move(backend);
  request.path = path;
  request.access = access;
  request.options.physical_files = 1;
  request.serving = {Serving::Kind::range, 2 * group.size(), 2 * group.rank(), 2, {}};
  return request;
}

inline std::byte byte_of(std::uint64_t rank) { return static_cast<std::byte>(rank + 1); }

// Called by one thread before the group starts: creates the multifile that is read or appended to.
inline void prepare(const std::shared_ptr<Backend>& backend, const std::string& path, MultifileMode access,
                    std::int64_t tasks) {
  if (access == MultifileMode::create) return;
  const auto group = make_self_group();
  OpenRequest request = good_request(*group, backend, path, MultifileMode::create);
  request.serving = {Serving::Kind::range, 2 * tasks, 0, 2 * tasks, {}};
  auto file = run(open_multifile(*group, std::move(request))).value();
  for (std::uint64_t rank = 0; rank < 2 * static_cast<std::uint64_t>(tasks); ++rank) {
    ASSERT_TRUE(file->writing->seek_to(rank, 0).ok());
    ASSERT_TRUE(file->writing->write(*file->writing->current(), std::vector{byte_of(rank)}).ok());
  }
  const Status closed = run(close_multifile(*group, std::move(file)));
  ASSERT_TRUE(closed.ok()) << closed.message();
}

inline Op<Status> expect_same_failure(Group& group, Status mine) {
  const auto code = static_cast<std::int64_t>(mine.code());
  std::vector<std::int64_t> both(2);
  both[0] = code;
  both[1] = -code;
  auto codes = co_await group.allreduce(std::move(both), Reduction::max);
  EXPECT_TRUE(codes.has_value());
  if (!codes.has_value()) co_return codes.error();
  EXPECT_FALSE(mine.ok()) << "task " << group.rank() << " of " << group.size() << " was let in";
  EXPECT_EQ((*codes)[0], -(*codes)[1]) << "task " << group.rank() << " was told: " << mine.message();
  co_return Status{};
}

// After the failure a correct open succeeds: the previous content is still there.
inline Op<Status> expect_usable(Group& group, OpenRequest request) {
  const MultifileMode access = request.access;
  auto file = co_await open_multifile(group, std::move(request));
  EXPECT_TRUE(file.has_value()) << file.status().message();
  if (!file.has_value()) co_return Status{};
  const auto rank = 2 * static_cast<std::uint64_t>(group.rank()) + 1;
  if (access == MultifileMode::read) {
    std::vector<std::byte> data(2);
    std::size_t got = 0;
    EXPECT_TRUE((*file)->reading->seek_to(rank, 0).ok());
    const Status status = (*file)->reading->current()->read(0, data, got);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(data[0], byte_of(rank));
  } else {
    EXPECT_TRUE((*file)->writing->seek_to(rank, -1).ok());
    EXPECT_EQ((*file)->writing->current()->position(), access == MultifileMode::append ? 1U : 0U);
    EXPECT_TRUE((*file)->writing->write(*(*file)->writing->current(), std::vector{byte_of(rank)}).ok());
  }
  const Status closed = co_await close_multifile(group, std::move(file).value());
  EXPECT_TRUE(closed.ok()) << closed.message();
  co_return Status{};
}

// Body: task `spoiler` makes the bad request.
inline Op<Status> one_bad_request(Group& group, std::shared_ptr<Backend> backend, std::string path, BadRequest bad,
                                  TaskRank spoiler) {
  OpenRequest request = good_request(group, backend, path, bad.good);
  if (group.rank() == spoiler) bad.spoil(request);
  Status status;
  {
    const auto file = co_await open_multifile(group, std::move(request));
    status = file.status();
  }
  (void)(co_await expect_same_failure(group, status)).ok();
  if (group.rank() == 0 && bad.good == MultifileMode::create) {
    EXPECT_EQ(backend->open(path, OpenMode::read).status().code(), Code::not_found) << "a failed creation left a file";
  }
  (void)(co_await group.barrier()).ok();
  co_return co_await expect_usable(group, good_request(group, backend, path, bad.good));
}

// ---- The C API ---------------------------------------------------------------------------------------------------

struct BadCall {
  const char* name;
  bool needs_others;
  std::function<tw_status(tw_group*, const char* path, int mode, tw_multifile** file)> open;
};
inline void PrintTo(const BadCall& bad, std::ostream* out) { *out << bad.name; }

inline std::vector<BadCall> bad_calls() {
  const auto with_path = [](const char* path) {
    return [path](tw_group* g, const char*, int mode, tw_multifile** f) {
      return tw_multifile_open(g, path, mode, nullptr, f);
    };
  };
  const auto with_mode = [](int mode) {
    return [mode](tw_group* g, const char* path, int, tw_multifile** f) {
      return tw_multifile_open(g, path, mode, nullptr, f);
    };
  };
  return {{"NullPath", false, with_path(nullptr)},
          {"EmptyPath", false, with_path("")},
          {"PathInNoFolder", false, with_path("/nonexistent/folder/run.tw")},
          {"NoMode", false, with_mode(0)},
          {"UnknownMode", false, with_mode(99)},
          {"UnknownFlag", false, with_mode(TW_CREATE | TW_TRUNCATE | 1024)},
          {"RecoverAndCreate", false, with_mode(TW_CREATE | TW_TRUNCATE | TW_RECOVER)},
          {"ExclusiveAndRead", false, with_mode(TW_READ | TW_EXCLUSIVE)},
          {"NoPlaceForTheHandle", false, [](tw_group* g, const char* path, int mode, tw_multifile**) {
             return tw_multifile_open(g, path, mode, nullptr, nullptr);
           }}};
}

// Body for groups whose tasks may block.
inline void one_bad_call(Group& group, const std::string& path, int mode, const BadCall& bad, TaskRank spoiler) {
  auto* handle = new tw_group{run(group.duplicate()).value()};
  tw_multifile* file = nullptr;
  const tw_status mine = group.rank() == spoiler ? bad.open(handle, path.c_str(), mode, &file)
                                                 : tw_multifile_open(handle, path.c_str(), mode, nullptr, &file);
  std::int64_t both[2] = {mine, -mine};
  EXPECT_EQ(tw_group_allreduce(handle, both, 2, TW_MAX), TW_OK) << tw_last_error();
  EXPECT_NE(mine, TW_OK) << "task " << group.rank();
  EXPECT_EQ(both[0], -both[1]) << "task " << group.rank() << " was told " << tw_status_name(mine);
  EXPECT_EQ(file, nullptr);
  EXPECT_STRNE(tw_last_error(), "");
  EXPECT_EQ(tw_multifile_open(handle, path.c_str(), mode, nullptr, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  tw_group_free(&handle);
}

inline const std::vector<std::pair<int, MultifileMode>>& modes() {
  static const std::vector<std::pair<int, MultifileMode>> all = {{TW_CREATE | TW_TRUNCATE, MultifileMode::create},
                                                                 {TW_READ, MultifileMode::read},
                                                                 {TW_APPEND, MultifileMode::append}};
  return all;
}

}  // namespace thalweg::test
