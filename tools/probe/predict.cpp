#include "predict.hpp"

#include <array>
#include <istream>
#include <stdexcept>
#include <string>
#include <utility>

#include "print_record.hpp"
#include "sim/predict.h"

namespace probe {

namespace {

constexpr std::array<std::pair<const char*, tw_sim_way>, 5> kWays{{{"collective", TW_SIM_COLLECTIVE},
                                                                   {"independent", TW_SIM_INDEPENDENT},
                                                                   {"multifile", TW_SIM_MULTIFILE},
                                                                   {"file-per-task", TW_SIM_FILE_PER_TASK},
                                                                   {"gather", TW_SIM_GATHER}}};
constexpr std::array<std::pair<const char*, tw_direction>, 2> kDirections{
    {{"write", TW_ACCESS_WRITE}, {"read", TW_ACCESS_READ}}};

// The members of one object of the question. Each is asked for once; another one is an error.
class Members {
 public:
  Members(const Json& object, std::string what) : left_(object), what_(std::move(what)) {
    if (!left_.is_object()) throw std::runtime_error(what_ + " is not an object");
  }
  void take(const char* name, double& value) { take_number(name, value, &Json::is_number); }
  void take(const char* name, std::int64_t& value) { take_number(name, value, &Json::is_number_integer); }
  template <class Value, std::size_t N>
  void take_name(const char* name, const std::array<std::pair<const char*, Value>, N>& known, Value& value) {
    const Json given = left_.value(name, Json());
    left_.erase(name);
    for (const auto& [text, meaning] : known) {
      if (given != text) continue;
      value = meaning;
      return;
    }
    throw std::runtime_error(what_ + ": '" + name + "' is " + printable(given) + "; see --help");
  }
  void end() const {
    if (!left_.empty()) throw std::runtime_error(what_ + " has no member '" + left_.begin().key() + "'");
  }

 private:
  static std::string printable(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }
  template <class Number>
  void take_number(const char* name, Number& value, bool (Json::*is_right)() const noexcept) {
    if (!left_.contains(name)) return;
    if (!(left_[name].*is_right)())
      throw std::runtime_error(what_ + ": '" + name + "' is " + printable(left_[name]) + ", not a number of its kind");
    value = left_[name].get<Number>();
    left_.erase(name);
  }

  Json left_;
  const std::string what_;
};

tw_sim_machine machine_of(const Json& given) {
  tw_sim_machine machine = {};
  machine.struct_size = sizeof machine;
  Members members(given, "machine");
  members.take("tasks_per_node", machine.tasks_per_node);
  members.take("send_ns", machine.send_ns);
  members.take("node_latency_ns", machine.node_latency_ns);
  members.take("node_byte_ns", machine.node_byte_ns);
  members.take("latency_ns", machine.latency_ns);
  members.take("byte_ns", machine.byte_ns);
  members.take("servers", machine.servers);
  members.take("stripe_bytes", machine.stripe_bytes);
  members.take("request_ns", machine.request_ns);
  members.take("server_ns", machine.server_ns);
  members.take("server_byte_ns", machine.server_byte_ns);
  members.take("handover_ns", machine.handover_ns);
  members.take("open_ns", machine.open_ns);
  members.take("create_ns", machine.create_ns);
  members.end();
  return machine;
}

tw_sim_access access_of(const Json& given, std::size_t number) {
  tw_sim_access access = {};
  access.struct_size = sizeof access;
  Members members(given, "access " + std::to_string(number));
  members.take_name("way", kWays, access.way);
  members.take_name("direction", kDirections, access.direction);
  members.take("tasks", access.tasks);
  members.take("tasks_per_process", access.tasks_per_process);
  members.take("pieces", access.pieces);
  members.take("piece_bytes", access.piece_bytes);
  members.take("in_turn", access.in_turn);
  members.end();
  return access;
}

Json prediction_of(const tw_sim_machine& machine, const Json& given, std::size_t number) {
  const tw_sim_access access = access_of(given, number);
  tw_sim_prediction found = {};
  found.struct_size = sizeof found;
  if (tw_sim_predict(&machine, &access, &found) != TW_OK)
    return {{"kind", "failure"}, {"method", nullptr},          {"cell", nullptr},
            {"phase", nullptr},  {"message", tw_last_error()}, {"rank", 0}};
  Json record = {{"kind", "prediction"}};
  record.update(given);
  record["open_seconds"] = found.open_seconds;
  record["transfer_seconds"] = found.transfer_seconds;
  record["close_seconds"] = found.close_seconds;
  return record;
}

}  // namespace

void predict(std::istream& questions) {
  const Json asked = Json::parse(questions, nullptr, false);
  if (!asked.is_object() || !asked.contains("accesses") || !asked["accesses"].is_array())
    throw std::runtime_error(R"(standard input has no JSON object with "accesses", a list; see --help)");
  const tw_sim_machine machine = machine_of(asked.value("machine", Json::object()));
  std::size_t number = 0;
  for (const Json& access : asked["accesses"]) print_record(prediction_of(machine, access, number++));
}

}  // namespace probe
