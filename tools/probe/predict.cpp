#include "predict.hpp"

#include <istream>
#include <map>
#include <stdexcept>
#include <string>

#include "print_record.hpp"
#include "sim/predict.hpp"

namespace probe {

namespace {

using namespace thalweg;

using enum SimulatedWay;
const std::map<std::string, SimulatedWay> kWays{{"collective", collective},
                                                {"independent", independent},
                                                {"multifile", multifile},
                                                {"file-per-task", file_per_task},
                                                {"gather", gather}};
const std::map<std::string, Direction> kDirections{{"write", Direction::write}, {"read", Direction::read}};

// The members of one object of the question. Each is asked for once; another one is an error.
class Members {
 public:
  Members(const Json& object, const std::string& what) : left_(object), what_(what) {
    if (!left_.is_object()) throw std::runtime_error(what_ + " is not an object");
  }
  template <class T>
  void take(const char* name, T& value) {
    const Json usual = value, given = left_.value(name, usual);
    left_.erase(name);
    const bool is_right = given.type() == usual.type() || (usual.is_number_float() && given.is_number()) ||
                          (usual.is_number_integer() && given.is_number_unsigned());
    if (!is_right) refuse(name, given, ", of another kind than its default, " + printable(usual));
    value = given.get<T>();
  }
  template <class Value>
  void take_name(const char* name, const std::map<std::string, Value>& known, Value& value) {
    const Json given = left_.value(name, Json());
    left_.erase(name);
    const auto found = given.is_string() ? known.find(given.get<std::string>()) : known.end();
    if (found == known.end()) refuse(name, given, "; docs/design/simulation.md has the names");
    value = found->second;
  }
  void end() const {
    if (!left_.empty()) throw std::runtime_error(what_ + " has no member '" + left_.begin().key() + "'");
  }

 private:
  void refuse(const char* name, const Json& given, const std::string& why) const {
    throw std::runtime_error(what_ + ": '" + name + "' is " + printable(given) + why);
  }
  static std::string printable(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

  Json left_;
  const std::string what_;
};

MachineCosts machine_of(const Json& given) {
  MachineCosts machine;
  auto& [tasks_per_node, network, storage] = machine;
  Members members(given, "machine");
  members.take("tasks_per_node", tasks_per_node);
  members.take("send_ns", network.send_ns);
  members.take("node_latency_ns", network.node_ns);
  members.take("node_byte_ns", network.node_byte_ns);
  members.take("latency_ns", network.net_ns);
  members.take("byte_ns", network.net_byte_ns);
  members.take("servers", storage.servers);
  members.take("stripe_bytes", storage.stripe_bytes);
  storage.lock_bytes = storage.stripe_bytes;
  members.take("lock_bytes", storage.lock_bytes);
  members.take("request_ns", storage.request_ns);
  members.take("server_ns", storage.server_ns);
  members.take("server_byte_ns", storage.byte_ns);
  members.take("client_byte_ns", storage.client_byte_ns);
  members.take("handover_ns", storage.handover_ns);
  members.take("open_ns", storage.open_ns);
  members.take("create_ns", storage.create_ns);
  members.end();
  return machine;
}

SimulatedAccess access_of(const Json& given, std::size_t number) {
  SimulatedAccess access;
  Members members(given, "access " + std::to_string(number));
  members.take_name("way", kWays, access.way);
  members.take_name("direction", kDirections, access.direction);
  members.take("tasks", access.tasks);
  members.take("tasks_per_process", access.tasks_per_process);
  members.take("pieces", access.pieces.count);
  members.take("piece_bytes", access.pieces.bytes);
  members.take("in_turn", access.pieces.in_turn);
  members.take("hints", access.hints);
  members.end();
  return access;
}

Json prediction_of(const MachineCosts& machine, const Json& given, std::size_t number) {
  const auto found = thalweg::predict(machine, access_of(given, number));
  const std::string why(found.status().message());
  if (!found.has_value())
    return {{"kind", "failure"}, {"method", nullptr}, {"cell", nullptr},
            {"phase", nullptr},  {"message", why},    {"rank", 0}};
  Json record = {{"kind", "prediction"}};
  record.update(given);
  const auto& [open, transfer, close] = found.value();
  record.update({{"open_seconds", open}, {"transfer_seconds", transfer}, {"close_seconds", close}});
  return record;
}

}  // namespace

void predict(std::istream& questions) {
  const Json asked = Json::parse(questions, nullptr, false);
  if (!asked.is_object() || !asked.contains("accesses") || !asked["accesses"].is_array())
    throw std::runtime_error(R"(standard input has no JSON object with "accesses", a list; see --help)");
  const MachineCosts machine = machine_of(asked.value("machine", Json::object()));
  for (std::size_t number = 0; const Json& access : asked["accesses"])
    print_record(prediction_of(machine, access, number++));
}

}  // namespace probe
