#include "support/fio.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/child.hpp"

namespace bench {

std::optional<double> ask_fio(const std::filesystem::path& file, const FioLoad& load) {
  const auto output =
      run_program({"fio", "--name=limit", "--filename=" + file.string(), "--rw=write", "--direct=1",
                   fmt::format("--bs={}", load.block), load.depth == 1 ? "--ioengine=psync" : "--ioengine=io_uring",
                   fmt::format("--iodepth={}", load.depth), "--thread", fmt::format("--numjobs={}", load.threads),
                   fmt::format("--size={}", load.each), fmt::format("--offset_increment={}", load.each),
                   "--group_reporting", "--end_fsync=1", "--output-format=json"});
  if (!output) return std::nullopt;
  const std::size_t begin = output->find('{');  // fio may print notes before it
  if (begin == std::string::npos) return std::nullopt;
  const auto report = nlohmann::json::parse(output->substr(begin), nullptr, false);
  const nlohmann::json::json_pointer speed("/jobs/0/write/bw_bytes");
  if (report.is_discarded() || !report.contains(speed)) return std::nullopt;
  const double found = report[speed].get<double>();
  return found > 0 ? std::optional<double>(found) : std::nullopt;
}

}  // namespace bench
