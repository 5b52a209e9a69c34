// Method 21: a virtual processor for each element, with a stream of one real; all of them are written at once. The
// result is the plain array of the elements, in order of their virtual processors; for an array in order f the shape is
// reversed.
#include <thalweg/thalweg.hpp>

#include "direct_method.hpp"
#include "thalweg_methods.hpp"

namespace probe {

namespace {

std::vector<std::int64_t> from_slow_to_fast(const Array& array, const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> out;
  for (const std::size_t d : array.slow_to_fast()) out.push_back(values[d]);
  return out;
}

std::span<float> elements_of(const Task& task) {
  return {reinterpret_cast<float*>(task.memory.data()), task.memory.size() / sizeof(float)};
}

class VpfileMethod : public DirectMethod<Method> {
 public:
  std::string library() const override { return thalweg_name(); }
  std::string plan() const override { return plan_; }
  std::string unfit_for(const Array& array) const override { return array.ragged ? "not programmed for vpfiles" : ""; }

  Parts write(const Task& task) override {
    return run(task, "w", [&](thalweg::vp::File& file) {
      file.write_all(elements_of(task), 1);
      if (task.rank == 0) note_plan(file);
    });
  }
  Parts read(const Task& task) override {
    return run(task, "r", [&](thalweg::vp::File& file) { file.read_all(elements_of(task), 1, thalweg::vp::all, {}); });
  }

 private:
  Parts run(const Task& task, const char* mode, const std::function<void(thalweg::vp::File&)>& act) {
    thalweg::Options options;
    if (task.direct) options.hints("io=direct");
    options.box(from_slow_to_fast(*task.array, task.block.start), from_slow_to_fast(*task.array, task.block.count));
    options.shape(from_slow_to_fast(*task.array, task.array->shape));
    const auto open = [&] { return thalweg::vp::File(group_of(task.comm), file_of(task.folder), mode, options); };
    return use(task, open, act);
  }
  void note_plan(thalweg::vp::File& file) {
    const bool plain = file.last_mode() == thalweg::vp::Mode::nb;
    plan_ = plain ? "no buffering" : "buffering: " + std::string(file.last_cause());
  }

  std::string plan_;
};

}  // namespace

std::unique_ptr<Method> make_vpfile_method() { return std::make_unique<VpfileMethod>(); }

}  // namespace probe
