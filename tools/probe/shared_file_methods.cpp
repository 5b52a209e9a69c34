// Methods 19 and 20: one shared file that is the array; each rank accesses its block through a view.
#include <thalweg/thalweg.hpp>

#include "direct_method.hpp"
#include "thalweg_methods.hpp"

namespace probe {

namespace {

thalweg::View view_of(const Array& array, const Block& block) {
  if (array.ragged) {
    std::vector<std::int64_t> places, lengths;
    for_each_run(array, block, [&](const Run& row) {
      places.push_back(row.in_array * kElement);
      lengths.push_back(row.length);
    });
    return thalweg::View::indexed(places, lengths, thalweg::View::of<float>());
  }
  std::vector<tw_slice> slices;
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    slices.push_back({array.shape[d], block.start[d], block.count[d]});
  return thalweg::View::subarray(slices, thalweg::View::of<float>(),
                                 array.order == Order::c ? TW_ROW_MAJOR : TW_COLUMN_MAJOR);
}

constexpr std::int32_t kNew = TW_WRITE | TW_CREATE | TW_TRUNCATE;

template <class Kind>
class SharedFileMethod : public DirectMethod<Kind> {
 public:
  std::string library() const override { return thalweg_name(); }

 protected:
  Parts run(const Task& task, std::int32_t flags, const std::function<void(thalweg::File&)>& act) {
    const auto open = [&] {
      thalweg::File file(group_of(task.comm), this->file_of(task.folder), flags | (task.direct ? TW_DIRECT : 0));
      file.set_view(0, view_of(*task.array, task.block));
      return file;
    };
    return this->use(task, open, act);
  }
  void must_have_read(std::size_t got, const Task& task) const {
    if (got != static_cast<std::size_t>(task.block.bytes()))
      throw Failed("'" + this->file_of(task.folder) + "' is too short: a rank read " + std::to_string(got) + " of " +
                   std::to_string(task.block.bytes()) + " bytes");
  }
};

class CollectiveMethod : public SharedFileMethod<Method> {
 public:
  std::string plan() const override { return plan_; }

  Parts write(const Task& task) override {
    return run(task, kNew, [&](thalweg::File& file) {
      file.write_view_all(task.memory);
      if (task.rank == 0) plan_ = file.last_plan();
    });
  }
  Parts read(const Task& task) override {
    return run(task, TW_READ, [&](thalweg::File& file) { must_have_read(file.read_view_all(task.memory), task); });
  }

 private:
  std::string plan_;
};

class NonblockingMethod : public SharedFileMethod<OverlappingMethod> {
 public:
  std::map<std::string, std::string> hints() const override { return {{"progress", progress_}}; }

  Parts write(const Task& task) override {
    return write_while(task, [](const auto& /*between*/) {});
  }
  Parts write_while(const Task& task, const Compute& compute) override {
    return run(task, kNew, [&](thalweg::File& file) {
      note_progress(file);
      thalweg::Request request = file.iwrite_view_all(task.memory);
      bool done = false;
      compute([&] {
        if (asks_ && !done) done = request.test().has_value();
      });
      if (!done) request.wait();
    });
  }
  Parts read(const Task& task) override {
    return run(task, TW_READ,
               [&](thalweg::File& file) { must_have_read(file.iread_view_all(task.memory).wait(), task); });
  }

 private:
  // Where a thread advances requests, computing need not stop for them.
  void note_progress(const thalweg::File& file) {
    if (!progress_.empty()) return;
    const tw_progress by = file.progress();
    asks_ = by != TW_PROGRESS_THREAD;
    progress_ = asks_ ? "poll" : "thread";
  }

  std::string progress_;
  bool asks_ = false;
};

}  // namespace

std::unique_ptr<Method> make_collective_method() { return std::make_unique<CollectiveMethod>(); }
std::unique_ptr<Method> make_nonblocking_method() { return std::make_unique<NonblockingMethod>(); }

}  // namespace probe
