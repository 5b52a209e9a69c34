#include "json_number.hpp"

namespace tool {

double number_of(const Json& json, const char* name, double otherwise, double least, double most) {
  if (!json.is_object() || !json.contains(name) || !json[name].is_number()) return otherwise;
  const double value = json[name].get<double>();
  return value >= least && value <= most ? value : otherwise;
}

}  // namespace tool
