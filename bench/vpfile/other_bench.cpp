// Appends of varying size in many steps; a file for each virtual processor; millions of virtual processors.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "grid.hpp"
#include "support/child.hpp"
#include "support/clock.hpp"
#include "variable_length.hpp"

namespace bench {

namespace {

// Doubles that VP `vp` appends in step `step`: 0 to 15.
std::size_t appended(std::int64_t vp, int step) {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(vp) * 2654435761u + static_cast<std::uint64_t>(step) * 40503u);
  return (mixed >> 7) % 16;
}

double append_vpfile(Bench& bench, const Grid& grid, const std::string& path, const char* hints) {
  return time_tasks(bench.tasks, [&](const Task& task) {
    const Share share = share_of(grid.vps, task.rank, task.size);
    tw_vpfile* file = nullptr;
    thalweg::Options options;
    options.hints(hints);
    must_tw(tw_vpfile_open(task.group.get(), path.c_str(), TW_CREATE | TW_TRUNCATE,
                           options.shape(std::span(&grid.vps, 1)).get(), &file),
            "tw_vpfile_open");
    std::vector<double> values;
    std::vector<std::int64_t> each(static_cast<std::size_t>(share.count));
    for (int step = 0; step < grid.steps; ++step) {
      values.clear();
      for (std::size_t i = 0; i < each.size(); ++i) {
        const std::int64_t vp = share.first + static_cast<std::int64_t>(i);
        each[i] = static_cast<std::int64_t>(appended(vp, step));
        values.insert(values.end(), appended(vp, step), static_cast<double>(vp) + step);
      }
      tw_vpfile_data data{};
      data.base = values.data();
      data.item_bytes = sizeof(double);
      data.n_each = each.data();
      must_tw(tw_vpfile_write_all(file, data, nullptr, nullptr), "tw_vpfile_write_all");
    }
    must_tw(tw_vpfile_close(&file), "tw_vpfile_close");
  });
}

void check_appended(const Grid& grid, const std::string& path) {
  tw_vpfile* file = nullptr;
  must_tw(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), "tw_vpfile_open");
  for (std::int64_t vp = 0; vp < grid.vps; vp += 97) {
    for (int step = 0; step < grid.steps; ++step) {
      double values[16];
      std::size_t got = 0;
      const std::size_t n = appended(vp, step);
      must_tw(tw_vpfile_read(file, vp, values, n * 8, &got), "tw_vpfile_read");
      for (std::size_t i = 0; i < n; ++i)
        if (got != n * 8 || values[i] != static_cast<double>(vp) + step)
          give_up(fmt::format("appends: wrong bytes of virtual processor {}", vp));
    }
  }
  must_tw(tw_vpfile_close(&file), "tw_vpfile_close");
}

double write_separate(const Grid& grid, const std::filesystem::path& folder) {
  std::vector<double> values(static_cast<std::size_t>(grid.doubles), 1.5);
  return seconds_of([&] {
    for (std::int64_t vp = 0; vp < grid.vps; ++vp) {
      const std::string path = folder / std::to_string(vp);
      std::FILE* file = std::fopen(path.c_str(), "w");
      if (file == nullptr) give_up("fopen: " + path);
      if (std::fwrite(values.data(), sizeof(double), values.size(), file) != values.size()) give_up("fwrite");
      std::fclose(file);
    }
  });
}

}  // namespace

void bench_appends(Bench& bench) {
  Grid grid{pick<std::int64_t>(bench.effort, 64, 4096, 65536), 8, pick(bench.effort, 3, 16, 32)};
  double doubles = 0;
  for (std::int64_t vp = 0; vp < grid.vps; ++vp)
    for (int step = 0; step < grid.steps; ++step) doubles += static_cast<double>(appended(vp, step));
  Comparison comparison(fmt::format("ragged appends of {} VPs in {} steps", grid.vps, grid.steps),
                        {doubles * 8, "byte"}, {"write"});
  const auto add = [&](const char* name, const char* hints) {
    comparison.add(name, [&bench, &grid, hints](int repetition) {
      const auto folder = bench.scratch.fresh();
      const double seconds = append_vpfile(bench, grid, folder / "ragged", hints);
      if (repetition <= 0) check_appended(grid, folder / "ragged");
      bench.scratch.drop_bytes(folder);
      return std::vector<double>{seconds};
    });
  };
  add("vpfile", "");
  add("vpfile, 2 pointers", "directory_pointers=2");
  add("vpfile, 14 pointers", "directory_pointers=14");
  add("vpfile, blocks of 16", "block_bytes=16");
  const bool has_peer = variable_length_is_there();
  if (has_peer) {
    comparison.add("HDF5, variable length", [&](int) {
      const auto folder = bench.scratch.fresh();
      const double seconds = append_variable_length(grid.vps, grid.steps, folder / "ragged.h5", appended);
      bench.scratch.drop_bytes(folder);
      return std::vector<double>{seconds};
    });
  }
  comparison.run(bench.plan());
  bench.report.add(comparison, bench.scratch.kind());
  if (has_peer)
    bench.report.add_target({bench.on(comparison.name() + ": vpfile to HDF5, variable length"),
                             comparison.speed("vpfile", "HDF5, variable length", "write"), 4, true, "x"});
}

void bench_files(Bench& bench) {
  const Grid grid{pick<std::int64_t>(bench.effort, 64, 4096, 65536), 64, 1};
  Comparison comparison(fmt::format("{} VPs x 64 doubles: a file for each", grid.vps), {grid.bytes(), "byte"},
                        {"write"});
  comparison.add("vpfile, IB", [&](int repetition) {
    const Way way{"vpfile, IB", Kind::ragged, ""};
    return std::vector<double>{write_and_read(bench, grid, way, repetition)[0]};
  });
  comparison.add("a file for each", [&](int) {
    const auto folder = bench.scratch.fresh_for_many_files();
    const double seconds = write_separate(grid, folder);
    bench.scratch.drop_tree(folder);
    return std::vector<double>{seconds};
  });
  comparison.run(bench.plan());
  bench.report.add(comparison, bench.scratch.kind());
  if (bench.effort == Effort::full)
    bench.report.add_target(
        {bench.on(comparison.name()), comparison.speed("vpfile, IB", "a file for each", "write"), 100, true, "x"});
}

void bench_many(Bench& bench) {
  const std::int64_t n = pick<std::int64_t>(bench.effort, 1 << 12, 1 << 20, 1 << 24);
  const auto folder = bench.scratch.fresh();
  const std::string path = folder / "many";
  std::vector<double> open_seconds;
  double per_vp = 0;
  for (int repetition = 0; repetition < pick(bench.effort, 1, 3, 5); ++repetition) {
    tw_vpfile* file = nullptr;
    must_tw(tw_vpfile_open(nullptr, path.c_str(), TW_CREATE | TW_TRUNCATE,
                           thalweg::Options().shape(std::span(&n, 1)).get(), &file),
            "tw_vpfile_open");
    // Every second VP writes 8 bytes, so that each has a position and a stream of its own.
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < mask.size(); i += 2) mask[i] = 1;
    std::vector<double> values(static_cast<std::size_t>(n), 2.5);
    const std::int64_t stride = 8;
    tw_vpfile_data data{};
    data.base = values.data();
    data.item_bytes = 8;
    data.n_items = 1;
    data.vp_strides = &stride;
    reset_peak_memory();
    const std::int64_t before = current_memory();
    must_tw(tw_vpfile_write_all(file, data, mask.data(), nullptr), "tw_vpfile_write_all");
    per_vp = static_cast<double>(current_memory() - before) / static_cast<double>(n);
    must_tw(tw_vpfile_close(&file), "tw_vpfile_close");
    open_seconds.push_back(
        seconds_of([&] { must_tw(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), "tw_vpfile_open"); }));
    double value = 0;
    std::size_t got = 0;
    must_tw(tw_vpfile_read(file, (n / 2) & ~std::int64_t{1}, &value, 8, &got), "tw_vpfile_read");
    if (got != 8 || value != 2.5) give_up("many: wrong bytes");
    must_tw(tw_vpfile_close(&file), "tw_vpfile_close");
  }
  bench.scratch.drop_bytes(folder);
  const Spread opened = spread_of(open_seconds);
  bench.report.add_fact(fmt::format("open_{}_{}", bench.scratch.kind(), n), opened.median,
                        fmt::format("{} VPs are opened in {}", n, time_text(opened.median)));
  bench.report.add_target({bench.on(fmt::format("{} VPs: opening", n)), opened, 1, false, "s"});
  // The caches of superblocks and directory have a fixed size, divided by the number of VPs.
  constexpr double kCaches = 24.0 * (1 << 20);
  const double own = per_vp - kCaches / static_cast<double>(n);
  if (bench.effort != Effort::tiny)
    bench.report.add_target({bench.on(fmt::format("{} VPs: memory of each beside the caches", n)),
                             Spread{own, own, per_vp}, 33, false, "bytes"});
}

}  // namespace bench
