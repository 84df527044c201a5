#include "api/object_condition.h"

namespace berth::api {

const Json* object_condition(const Json& object, std::string_view type) {
  for (const Json& one : array_at(object, {"status", "conditions"})) {
    if (string_at(one, {"type"}) == type) return &one;
  }
  return nullptr;
}

bool object_condition_is_true(const Json& object, std::string_view type) {
  const Json* condition = object_condition(object, type);
  return condition != nullptr && string_at(*condition, {"status"}) == "True";
}

}  // namespace berth::api
