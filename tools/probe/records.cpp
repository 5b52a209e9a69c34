#include "records.hpp"

#include <array>

namespace probe {

namespace {

constexpr std::array kOutcomes = {"array", "chunks", "separate", "library"};  // as Outcome

}  // namespace

Json json_of(const Cell& cell, int ranks, Cache cache) {
  Json out = {{"ranks", ranks},
              {"grid", cell.grid},
              {"shape", cell.array.shape},
              {"order", cell.array.order == Order::c ? "c" : "f"},
              {"cache", name_of(cache)}};
  if (cell.array.ragged) out["ragged"] = true;
  return out;
}

Json json_of(const MethodInfo& info, const Method& method) {
  const std::string missing = method.missing();
  const std::string library = method.library();
  return {{"id", info.id},
          {"number", info.number},
          {"title", info.title},
          {"outcome", kOutcomes.at(static_cast<std::size_t>(info.outcome))},
          {"collective", info.collective},
          {"nonblocking", dynamic_cast<const OverlappingMethod*>(&method) != nullptr},
          {"needs", info.needs},
          {"built", missing.empty()},
          {"library", library.empty() ? Json() : Json(library)},
          {"reason", missing.empty() ? Json() : Json(missing)}};
}

Json failure_record(const Where& where, const std::string& message) {
  return {{"kind", "failure"},    {"method", where.method}, {"cell", where.cell},
          {"phase", where.phase}, {"message", message},     {"rank", where.rank}};
}

}  // namespace probe
