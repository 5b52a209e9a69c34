// Methods 18 to 21: those of Thalweg, with the library's defaults.
#include <thalweg/version.h>

#include <algorithm>
#include <thalweg/thalweg.hpp>

#include "method.hpp"

namespace probe {

namespace {

// A short read leaves memory that the caller's check of the bytes refuses.
class ThalwegMethod : public Method {
 public:
  ThalwegMethod() : Method(std::string("Thalweg ") + tw_version_string()) {}
};

// A logical file for each rank, with its block as in memory. A chunk holds a block, whose size is known beforehand.
class MultifileMethod : public ThalwegMethod {
 public:
  Parts move(const Task& task) override {
    thalweg::Options options;
    if (task.writes) {
      options.hint("chunk_bytes", std::to_string(std::max<std::int64_t>(1, task.block.bytes())));
    } else {
      std::vector<std::int64_t> writers;
      writers.reserve(task.pieces.size());
      for (const Piece& piece : task.pieces) writers.push_back(piece.writer);
      options.ranks(-1, writers);
    }
    const auto open = [&] {
      return thalweg::Multifile(*task.group, task.folder + "/array.tw", task.writes ? TW_CREATE | TW_TRUNCATE : TW_READ,
                                options);
    };
    return use(open, [&](thalweg::Multifile& file) {
      if (!task.writes) return read(file, task);
      file.write(task.memory.data(), task.memory.size());
      if (task.rank == 0) plan_ = file.strategy();
    });
  }

 private:
  static void read(thalweg::Multifile& file, const Task& task) {
    for (const Piece& piece : task.pieces) {
      file.seek_to(piece.writer, 0);
      for_each_shared_run(*task.array, piece.block, task.block, [&](const Run& run) {
        file.read_at(task.memory_of(run.in_other, run.length), run.in_block * kElement);
      });
    }
  }
};

thalweg::View view_of(const Array& array, const Block& block) {
  if (array.ragged) {
    std::vector<std::int64_t> places, lengths;
    for_each_run(array, block, [&](const Run& row) {
      places.push_back(row.in_other * kElement);
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

// One shared file that is the array; each rank accesses its block through a view.
class SharedFileMethod : public ThalwegMethod {
 public:
  explicit SharedFileMethod(bool nonblocking) : nonblocking_(nonblocking) {}

  Parts move(const Task& task) override {
    const auto open = [&] {
      const int flags = task.writes ? TW_WRITE | TW_CREATE | TW_TRUNCATE : TW_READ;
      thalweg::File file(*task.group, task.folder + "/array", flags);
      file.set_view(0, view_of(*task.array, task.block));
      return file;
    };
    return use(open, [&](thalweg::File& file) {
      if (nonblocking_) return transfer(file, task);
      if (!task.writes) {
        file.read_view_all(task.memory);
        return;
      }
      file.write_view_all(task.memory);
      if (task.rank == 0) plan_ = file.last_plan();
    });
  }

 private:
  // Where a thread advances requests, computing need not stop for them.
  static void transfer(thalweg::File& file, const Task& task) {
    const bool asks = file.progress() != TW_PROGRESS_THREAD;
    thalweg::Request request = task.writes ? file.iwrite_view_all(task.memory) : file.iread_view_all(task.memory);
    bool done = false;
    if (task.compute) task.compute([&] { done = done || (asks && request.test().has_value()); });
    if (!done) request.wait();
  }

  bool nonblocking_;
};

// A virtual processor for each element, with a stream of one real; all of them are written at once. The result is the
// plain array of the elements, in order of their virtual processors; for an array in order f the shape is reversed.
class VpfileMethod : public ThalwegMethod {
 public:
  std::string unfit_for(const Array& array) const override { return array.ragged ? "not programmed for vpfiles" : ""; }

  Parts move(const Task& task) override {
    thalweg::Options options;
    options.box(task.array->turned(task.block.start), task.array->turned(task.block.count));
    options.shape(task.array->turned(task.array->shape));
    const std::span<float> elements(reinterpret_cast<float*>(task.memory.data()), task.memory.size() / kElement);
    const auto open = [&] {
      return thalweg::vp::File(*task.group, task.folder + "/array", task.writes ? "w" : "r", options);
    };
    return use(open, [&](thalweg::vp::File& file) {
      if (!task.writes) {
        file.read_all(elements, 1, thalweg::vp::all, {});
        return;
      }
      file.write_all(elements, 1);
      const bool plain = file.last_mode() == thalweg::vp::Mode::nb;
      if (task.rank == 0) plan_ = plain ? "no buffering" : "buffering: " + std::string(file.last_cause());
    });
  }
};

}  // namespace

std::unique_ptr<Method> make_thalweg_method(std::string_view id) {
  if (id == "tw-multifile") return std::make_unique<MultifileMethod>();
  if (id == "tw-vpfile") return std::make_unique<VpfileMethod>();
  return std::make_unique<SharedFileMethod>(id == "tw-nonblocking");
}

}  // namespace probe
