#include "embedded/apiserver/requests/patch_answers.h"

#include <map>
#include <utility>

#include "embedded/apiserver/requests/answers.h"

namespace berth::apiserver {

api::RestResponse patch_failed(const PatchError& error) {
  switch (error.code) {
    case 400:
      return api::bad_request(error.message);
    case 409:
      return failure(409, "Conflict", error.message);
    case 413:
      return failure(413, "RequestEntityTooLarge", error.message);
    case 422:
      return failure(422, "Invalid", error.message, JsonObject{});
    default:
      return failure(error.code, "", error.message);
  }
}

api::RestResponse apply_conflict(const std::vector<ApplyConflict>& conflicts) {
  JsonArray causes;
  std::map<std::string, std::string> by_manager;  // the field list of each manager
  for (const ApplyConflict& conflict : conflicts) {
    causes.push_back(JsonObject{{"reason", "FieldManagerConflict"},
                                {"message", "conflict with " + conflict.manager},
                                {"field", conflict.field}});
    by_manager[conflict.manager] += "\n- " + conflict.field;
  }
  std::string message;
  if (conflicts.size() == 1) {
    message = "Apply failed with 1 conflict: conflict with " + conflicts[0].manager + ": " + conflicts[0].field;
  } else {
    message = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts:";
    std::string separator = " ";
    for (const auto& [manager, fields] : by_manager) {
      message += separator + "conflicts with " + manager + ":" + fields;
      separator = "\n";
    }
  }
  return failure(409, "Conflict", message, JsonObject{{"causes", std::move(causes)}});
}

std::string go_type(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::object:
      return "object";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::bool_:
      return "bool";
    case boost::json::kind::null:
      return "null";
    default:
      return "number";
  }
}

}  // namespace berth::apiserver
