// The C++ types, given up: by abandon(), or by an exception that leaves the scope that owns them.
#pragma once

#include <optional>
#include <stdexcept>

#include "support/crash/abandoned.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::test {

enum class Leave { by_call, by_exception };

// A Group whose end frees nothing: the group is that of the test.
union Borrowed {
  explicit Borrowed(tw_group* borrowed) : group(borrowed) {}
  ~Borrowed() {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  v1::Group group;
};

template <class Call>
tw_status status_of_call(Call&& call) {
  try {
    call();
  } catch (const v1::Error& error) {
    return error.status();
  }
  return TW_OK;
}

template <class File>
tw_status leave(std::optional<File>& file, Leave way) {
  if (way == Leave::by_call) return status_of_call([&] { file->abandon(); });
  try {
    const File owned = std::move(*file);
    throw std::runtime_error("this task cannot go on");
  } catch (const std::runtime_error&) {
  }
  return TW_OK;
}

template <Leave kWay>
class GivenCppMultifile : public GivenMultifile {
 public:
  void open(tw_group* group, const std::string& path) override {
    task_ = tw_group_rank(group);
    const Borrowed borrowed(group);
    file_.emplace(borrowed.group, path, TW_CREATE | TW_TRUNCATE);
  }
  tw_status write() override {
    return status_of_call([&] { file_->write(bytes_of(task_)); });
  }
  tw_status close() override {
    return status_of_call([&] { file_->close(); });
  }
  tw_status abandon() override { return leave(file_, kWay); }

 private:
  std::optional<v1::Multifile> file_;
  std::int64_t task_ = 0;
};

template <Leave kWay>
class GivenCppVpfile : public GivenVpfile {
 public:
  void open(tw_group* group, const std::string& path) override {
    task_ = tw_group_rank(group);
    const Borrowed borrowed(group);
    file_.emplace(borrowed.group, path, "w+", v1::vp::Shape{tw_group_size(group)});
    file_->write_all(std::string("++++"), 4);
    file_->flush_all();
  }
  tw_status write() override {
    return status_of_call([&] { file_->stream(task_).write(bytes_of(task_)); });
  }
  tw_status close() override {
    return status_of_call([&] { file_->close(); });
  }
  tw_status abandon() override { return leave(file_, kWay); }

 private:
  std::optional<v1::vp::File> file_;
  std::int64_t task_ = 0;
};

template <Leave kWay>
class GivenCppFile : public GivenFile {
 public:
  void open(tw_group* group, const std::string& path) override {
    constexpr int kNew = TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE;
    task_ = tw_group_rank(group);
    const Borrowed borrowed(group);
    file_.emplace(borrowed.group, path, kNew);
  }
  tw_status write() override {
    return status_of_call([&] { file_->write_at(bytes_of(task_), task_ * 4000); });
  }
  tw_status close() override {
    EXPECT_EQ(status_of_call([&] { file_->sync(); }), TW_ERR_NOT_CLOSED) << tw_last_error();
    EXPECT_NE(status_of_call([&] { file_->iwrite_at_all(bytes_of(task_), 0).wait(); }), TW_OK);
    return status_of_call([&] { file_->close(); });
  }
  tw_status abandon() override { return leave(file_, kWay); }

 private:
  std::optional<v1::File> file_;
  std::int64_t task_ = 0;
};

}  // namespace thalweg::test
