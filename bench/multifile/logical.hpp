// Creating and reading multifiles in this benchmark.
#ifndef BENCH_MULTIFILE_LOGICAL_HPP
#define BENCH_MULTIFILE_LOGICAL_HPP

#include <cstdint>
#include <filesystem>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "support/load.hpp"

namespace bench {

inline std::string multifile_in(const std::filesystem::path& folder) { return (folder / "all.tw").string(); }

// Seconds from open to close, for all tasks.
double write_multifile(const std::filesystem::path& folder, Load& load, const thalweg::Options& config);
double read_multifile(const std::filesystem::path& folder, const Load& load, Check check);
// `readers` tasks share all blocks of all logical files evenly.
double read_multifile_shared(const std::filesystem::path& folder, const Load& load, int readers, Check check);

// The strategy that the library chooses when `tasks` tasks write a new multifile here.
std::string strategy_in(const std::filesystem::path& folder, int tasks);

// Creates `files` logical files, in rank order, by `tasks` tasks; 0 tasks: by one task without a group. Each holds the
// block of `contents` of its rank, which has one pattern per task; without `contents` they stay empty. Returns seconds
// from open to close.
double create_logical(const std::filesystem::path& folder, std::int64_t files, int tasks,
                      std::vector<Pattern>& contents);

}  // namespace bench

#endif
