// Multifiles as the parts of this benchmark make and read them.
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

// Seconds from opening to closing, for all tasks.
double write_multifile(const std::filesystem::path& folder, Load& load, const thalweg::Config& config);
double read_multifile(const std::filesystem::path& folder, const Load& load, Check check);
// `readers` tasks share all blocks of all logical files evenly.
double read_multifile_shared(const std::filesystem::path& folder, const Load& load, int readers, Check check);

// What the library chooses when `tasks` tasks write a new multifile here.
std::string strategy_in(const std::filesystem::path& folder, int tasks);

// Makes `files` logical files, in rank order, by `tasks` tasks; 0 tasks: by one task alone, without a group. Each holds
// the block of `contents` of its rank; they stay empty when `contents` is, else it has one pattern for each task.
// Seconds from opening to closing.
double create_logical(const std::filesystem::path& folder, std::int64_t files, int tasks,
                      std::vector<Pattern>& contents);

}  // namespace bench

#endif
