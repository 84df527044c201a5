#include "api/status.h"

namespace berth::api {
namespace {

std::string group_resource(const GroupVersionResource& what) {
  return what.group.empty() ? what.resource : what.resource + "." + what.group;
}

// Status details of one object; empty fields are left out.
JsonObject details_of(std::string_view group, std::string_view kind, std::string_view name) {
  JsonObject details;
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  if (!kind.empty()) details["kind"] = kind;
  return details;
}

RestResponse failure(int code, std::string_view reason, std::string_view message, Json details = nullptr) {
  return {code, make_status(code, reason, message, std::move(details)), {}};
}

RestResponse about(int code, std::string_view reason, std::string_view message, const GroupVersionResource& what,
                   std::string_view name) {
  return failure(code, reason, message, details_of(what.group, what.resource, name));
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

}  // namespace

Json make_status(int code, std::string_view reason, std::string_view message, Json details) {
  JsonObject status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = JsonObject();
  status["status"] = code < 400 ? "Success" : "Failure";
  if (!message.empty()) status["message"] = message;
  if (!reason.empty()) status["reason"] = reason;
  if (!details.is_null()) status["details"] = std::move(details);
  if (code >= 400) status["code"] = code;
  return status;
}

RestResponse bad_request(std::string_view message) { return failure(400, "BadRequest", message); }

RestResponse not_found(const GroupVersionResource& what, std::string_view name) {
  return about(404, "NotFound", group_resource(what) + " " + quoted(name) + " not found", what, name);
}

RestResponse already_exists(const GroupVersionResource& what, std::string_view name) {
  return about(409, "AlreadyExists", group_resource(what) + " " + quoted(name) + " already exists", what, name);
}

RestResponse conflict(const GroupVersionResource& what, std::string_view name, std::string_view why) {
  const std::string message = "Operation cannot be fulfilled on " + group_resource(what) + " " + quoted(name) + ": ";
  return about(409, "Conflict", message + std::string(why), what, name);
}

RestResponse forbidden(const GroupVersionResource& what, std::string_view name, std::string_view why) {
  const std::string object = name.empty() ? group_resource(what) : group_resource(what) + " " + quoted(name);
  return about(403, "Forbidden", object + " is forbidden: " + std::string(why), what, name);
}

RestResponse invalid(std::string_view group, std::string_view kind, std::string_view name, const FieldErrors& errors) {
  JsonObject details = details_of(group, kind, name);
  JsonArray causes;
  for (const FieldError& error : errors)
    causes.push_back(JsonObject{{"reason", reason_of(error.type)}, {"message", error.message}, {"field", error.field}});
  details["causes"] = std::move(causes);
  const std::string qualified = group.empty() ? std::string(kind) : std::string(kind).append(".").append(group);
  return failure(422, "Invalid", qualified + " " + quoted(name) + " is invalid: " + to_string(errors),
                 std::move(details));
}

RestResponse internal_error(std::string_view message) {
  JsonObject details{{"causes", JsonArray{JsonObject{{"message", message}}}}};
  return failure(500, "InternalError", "Internal error occurred: " + std::string(message), std::move(details));
}

std::string_view status_reason(const RestResponse& response) {
  return string_at(response.body, {"kind"}) == "Status" ? string_at(response.body, {"reason"}) : std::string_view();
}

std::string_view status_message(const RestResponse& response) {
  return string_at(response.body, {"kind"}) == "Status" ? string_at(response.body, {"message"}) : std::string_view();
}

bool refused_by_terminating_namespace(const RestResponse& response) {
  if (response.code != 403) return false;
  for (const auto& cause : array_at(response.body, {"details", "causes"})) {
    if (string_at(cause, {"reason"}) == "NamespaceTerminating") return true;
  }
  return false;
}

std::string failure_text(const RestResponse& response) {
  const std::string_view message = status_message(response);
  if (!message.empty()) return std::string(message);
  return response.code == 0 ? "no answer" : "answered with " + std::to_string(response.code);
}

}  // namespace berth::api
