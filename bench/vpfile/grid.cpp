#include "grid.hpp"

#include <fmt/format.h>

namespace bench {

void must_tw(int status, const char* what) {
  if (status != TW_OK) give_up(fmt::format("{}: {}", what, tw_last_error()));
}

namespace {

double value_of(std::int64_t vp, std::int64_t i, int step) {
  return static_cast<double>(vp) + static_cast<double>(i) * 1e-3 + step * 1e7;
}

void expect_mode(tw_vpfile* file, Kind kind) {
  tw_vpfile_summary summary{};
  summary.struct_size = sizeof summary;
  must_tw(tw_vpfile_summarize(file, &summary), "tw_vpfile_summarize");
  const std::int32_t mode = summary.last_mode;
  const std::int32_t wanted = kind == Kind::packed ? TW_VPFILE_NB : kind == Kind::ragged ? TW_VPFILE_IB : TW_VPFILE_CB;
  if (mode != wanted) give_up(fmt::format("mode {} was chosen, not {}: {}", mode, wanted, summary.last_cause));
}

tw_vpfile* open_grid(const Task& task, const std::string& path, thalweg::Flags flags, const Grid& grid,
                     const Way& way) {
  thalweg::Options options;
  options.hints(way.hints.c_str());
  tw_vpfile* file = nullptr;
  must_tw(
      tw_vpfile_open(task.group.get(), path.c_str(), flags.get(), options.shape(std::span(&grid.vps, 1)).get(), &file),
      "tw_vpfile_open");
  return file;
}

using CellsOfTasks = std::vector<std::unique_ptr<Cells>>;

// One pass over all steps; `each(cells, step)` runs before or after a step, outside the timed part.
double pass_vpfile(const Grid& grid, const Way& way, CellsOfTasks& cells, const std::string& path, bool writes) {
  return time_tasks(static_cast<int>(cells.size()), [&](const Task& task) {
    Cells& mine = *cells[static_cast<std::size_t>(task.rank)];
    tw_vpfile* file = open_grid(task, path, writes ? "w" : "r", grid, way);
    for (int step = 0; step < grid.steps; ++step) {
      for (int call = 0; call < mine.n_calls(); ++call) {
        if (writes)
          must_tw(tw_vpfile_write_all(file, mine.data(call), nullptr, nullptr), "tw_vpfile_write_all");
        else
          must_tw(tw_vpfile_read_all(file, mine.data(call), nullptr, nullptr), "tw_vpfile_read_all");
      }
    }
    if (writes) expect_mode(file, way.kind);
    must_tw(tw_vpfile_close(&file), "tw_vpfile_close");
  });
}

double pass_plain(const Grid& grid, CellsOfTasks& cells, const std::string& path, bool writes) {
  return time_tasks(static_cast<int>(cells.size()), [&](const Task& task) {
    Cells& mine = *cells[static_cast<std::size_t>(task.rank)];
    tw_file* file = nullptr;
    const std::int32_t flags = writes ? TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE : TW_READ;
    must_tw(tw_file_open(task.group.get(), path.c_str(), flags, nullptr, &file), "tw_file_open");
    const std::int64_t row = grid.vps * grid.doubles * 8;
    for (int step = 0; step < grid.steps; ++step) {
      const std::int64_t offset = step * row + mine.first() * grid.doubles * 8;
      const auto bytes = static_cast<std::int64_t>(mine.bytes());
      if (writes)
        must_tw(tw_file_write_at_all(file, mine.values(), bytes, offset), "tw_file_write_at_all");
      else
        must_tw(tw_file_read_at_all(file, mine.values(), bytes, offset, nullptr), "tw_file_read_at_all");
    }
    must_tw(tw_file_close(&file), "tw_file_close");
  });
}

}  // namespace

Cells::Cells(const Grid& grid, Kind kind, int rank, int size)
    : share_(share_of(grid.vps, rank, size)), kind_(kind), doubles_(grid.doubles) {
  each_.resize(static_cast<std::size_t>(share_.count));
  for (std::size_t i = 0; i < each_.size(); ++i) {
    const std::int64_t vp = share_.first + static_cast<std::int64_t>(i);
    const bool evens_out = vp % 2 == 0 && vp + 1 == grid.vps;
    std::int64_t n = doubles_;
    if (kind == Kind::ragged && !evens_out) n += vp % 2 == 0 ? -1 : 1;
    each_[i] = n;
    total_ += static_cast<std::size_t>(each_[i]);
  }
  values_.resize(kind == Kind::strided ? 2 * total_ : total_);
}

// Memory index of double `i` in VP order.
std::size_t Cells::place(std::size_t i) const {
  if (kind_ == Kind::strided) return 2 * i;
  if (kind_ != Kind::uneven) return i;
  const auto each = static_cast<std::size_t>(doubles_);
  const std::size_t vp = i / each;
  return i % each == 0 ? vp : each_.size() + vp * (each - 1) + i % each - 1;
}

tw_vpfile_data Cells::data(int call) {
  tw_vpfile_data data{};
  data.base = values_.data();
  data.item_bytes = sizeof(double);
  data.n_items = doubles_;
  if (kind_ == Kind::uneven) {
    data.n_items = call == 0 ? 1 : doubles_ - 1;
    data.base = values_.data() + (call == 0 ? 0 : each_.size());
  }
  if (kind_ == Kind::ragged) data.n_each = each_.data();
  if (kind_ == Kind::strided) {
    static thread_local std::int64_t stride;
    stride = 2 * doubles_ * 8;
    data.item_stride = 2 * sizeof(double);
    data.vp_strides = &stride;
  }
  return data;
}

void Cells::fill(int step) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < each_.size(); ++i)
    for (std::int64_t k = 0; k < each_[i]; ++k)
      values_[place(at++)] = value_of(share_.first + static_cast<std::int64_t>(i), k, step);
}

void Cells::forget() { std::fill(values_.begin(), values_.end(), -1.0); }

void Cells::check(int step) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < each_.size(); ++i)
    for (std::int64_t k = 0; k < each_[i]; ++k) {
      const std::int64_t vp = share_.first + static_cast<std::int64_t>(i);
      if (values_[place(at++)] != value_of(vp, k, step))
        give_up(fmt::format("wrong bytes: virtual processor {}, double {}", vp, k));
    }
}

std::vector<double> write_and_read(Bench& bench, const Grid& grid, const Way& way, int repetition) {
  static_cast<void>(repetition);
  const auto folder = bench.scratch.fresh();
  const std::string path = folder / "grid";
  CellsOfTasks cells(static_cast<std::size_t>(bench.tasks));
  time_tasks(bench.tasks, [&](const Task& task) {
    auto& mine = cells[static_cast<std::size_t>(task.rank)];
    mine = std::make_unique<Cells>(grid, way.kind, task.rank, task.size);
    mine->fill(0);
  });
  bench.scratch.settle();
  bench.scratch.claim_memory(grid.bytes() * 1.2);
  const bool plain = way.kind == Kind::plain;
  const double wrote = plain ? pass_plain(grid, cells, path, true) : pass_vpfile(grid, way, cells, path, true);
  time_tasks(bench.tasks, [&](const Task& task) { cells[static_cast<std::size_t>(task.rank)]->forget(); });
  const double read = plain ? pass_plain(grid, cells, path, false) : pass_vpfile(grid, way, cells, path, false);
  time_tasks(bench.tasks, [&](const Task& task) { cells[static_cast<std::size_t>(task.rank)]->check(0); });
  bench.scratch.drop_bytes(folder);
  return {wrote, read};
}

}  // namespace bench
