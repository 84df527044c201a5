#include "embedded/apiserver/http/options.h"

#include <algorithm>
#include <charconv>

#include "api/field_error.h"
#include "api/status.h"
#include "embedded/apiserver/list_options.h"

namespace berth::apiserver::http {
namespace {

using api::FieldErrors;
using api::Verb;

constexpr std::size_t kMaxFieldManager = 128;

api::RestResponse invalid_options(std::string_view kind, const FieldErrors& errors) {
  return api::invalid("meta.k8s.io", kind, "", errors);
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x20 && u != 0x7f;
  });
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_version(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Json to_array(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& t : texts) array.emplace_back(t);
  return array;
}

void check_manager(std::string_view manager, FieldErrors& errors) {
  if (manager.size() > kMaxFieldManager) {
    errors.push_back(api::too_long("fieldManager", kMaxFieldManager));
  } else if (!printable(manager)) {
    errors.push_back(api::invalid_value("fieldManager", Json(manager), "should only contain printable characters"));
  }
}

void check_dry_run(const std::vector<std::string>& values, api::RestRequest& request, FieldErrors& errors) {
  if (values.empty() || (values.size() == 1 && values[0].empty())) return;
  if (std::all_of(values.begin(), values.end(), [](const std::string& v) { return v == "All"; })) {
    request.dry_run = true;
  } else {
    errors.push_back(api::not_supported("dryRun", to_array(values), {"All"}));
  }
}

void check_field_validation(std::string_view value, api::RestRequest& request, FieldErrors& errors) {
  if (value == "Ignore") {
    request.field_validation = api::FieldValidation::kIgnore;
  } else if (value == "Strict") {
    request.field_validation = api::FieldValidation::kStrict;
  } else if (!value.empty() && value != "Warn") {
    errors.push_back(api::not_supported("fieldValidation", Json(value), {"", "Ignore", "Strict", "Warn"}));
  }
}

std::optional<api::RestResponse> write_options(const Query& query, std::string_view user_agent,
                                               api::RestRequest& request) {
  const bool patch = request.verb == Verb::kPatch;
  const bool apply = patch && request.patch_type == api::PatchType::kApply;
  FieldErrors errors;
  request.field_manager = query.get("fieldManager");
  if (patch && !apply && query.has("force")) {
    errors.push_back(api::forbidden_field("force", "may not be specified for non-apply patch"));
  }
  if (apply) {
    request.force = query.flag("force");
    if (request.field_manager.empty()) {
      errors.push_back(api::required("fieldManager", "is required for apply patch"));
    }
  }
  check_manager(request.field_manager, errors);
  check_dry_run(query.all("dryRun"), request, errors);
  check_field_validation(query.get("fieldValidation"), request, errors);
  if (!errors.empty()) {
    const std::string_view kind = request.verb == Verb::kCreate ? "CreateOptions"
                                  : patch                       ? "PatchOptions"
                                                                : "UpdateOptions";
    return invalid_options(kind, errors);
  }
  if (request.field_manager.empty()) request.field_manager = manager_of_user_agent(user_agent);
  return std::nullopt;
}

// The DeleteOptions in the query; null when it has none.
Json delete_options_of(const Query& query) {
  JsonObject options;
  if (const auto seconds = parse_int(query.get("gracePeriodSeconds"))) options["gracePeriodSeconds"] = *seconds;
  if (query.has("orphanDependents")) options["orphanDependents"] = query.flag("orphanDependents");
  if (query.has("propagationPolicy")) options["propagationPolicy"] = query.get("propagationPolicy");
  if (query.has("dryRun")) options["dryRun"] = to_array(query.all("dryRun"));
  if (options.empty()) return nullptr;
  return options;
}

std::optional<api::RestResponse> delete_options(const Query& query, api::RestRequest& request) {
  if (const auto given = query.get("gracePeriodSeconds"); !given.empty() && !parse_int(given)) {
    return api::bad_request("gracePeriodSeconds: strconv.ParseInt: parsing \"" + std::string(given) +
                            "\": invalid syntax");
  }
  if (request.body.is_null()) request.body = delete_options_of(query);
  FieldErrors errors;
  const Json* policy = find(request.body, "propagationPolicy");
  if (policy != nullptr && find(request.body, "orphanDependents") != nullptr) {
    errors.push_back(api::invalid_value("propagationPolicy", *policy,
                                        "orphanDependents and deletionPropagation cannot be both set"));
  } else if (policy != nullptr && policy->is_string()) {
    const std::string_view value = view(policy->get_string());
    if (value != "Foreground" && value != "Background" && value != "Orphan") {
      errors.push_back(api::not_supported("propagationPolicy", *policy, {"Foreground", "Background", "Orphan", "nil"}));
    }
  }
  std::vector<std::string> dry_run;
  for (const Json& v : array_at(request.body, {"dryRun"})) {
    dry_run.emplace_back(v.is_string() ? view(v.get_string()) : std::string_view("?"));
  }
  check_dry_run(dry_run, request, errors);
  if (!errors.empty()) return invalid_options("DeleteOptions", errors);
  return std::nullopt;
}

// 400 for list and get; 500 for watch, as in kube-apiserver.
api::RestResponse bad_version(const api::RestRequest& request) {
  const std::string what = "resourceVersion: Invalid value: \"" + request.resource_version +
                           "\": strconv.ParseUint: parsing \"" + request.resource_version + "\": invalid syntax";
  if (request.verb == Verb::kWatch) return {500, api::make_status(500, "", what), {}};
  return api::bad_request("invalid resource version: " + what);
}

std::optional<api::RestResponse> list_options(const Query& query, api::RestRequest& request) {
  request.label_selector = query.get("labelSelector");
  request.field_selector = query.get("fieldSelector");
  request.continue_token = query.get("continue");
  request.resource_version = query.get("resourceVersion");
  request.resource_version_match = query.get("resourceVersionMatch");
  request.allow_bookmarks = query.flag("allowWatchBookmarks");
  if (query.has("sendInitialEvents")) request.send_initial_events = query.flag("sendInitialEvents");
  for (const std::string_view key : {std::string_view("limit"), std::string_view("timeoutSeconds")}) {
    const std::string_view text = query.get(key);
    if (text.empty()) continue;
    const auto value = parse_int(text);
    if (!value) {
      return api::bad_request(std::string(key) + ": strconv.ParseInt: parsing \"" + std::string(text) +
                              "\": invalid syntax");
    }
    if (key == "limit") {
      request.limit = std::max<std::int64_t>(*value, 0);
    } else {
      request.timeout_seconds = *value;
    }
  }
  if (const FieldErrors errors = list_option_errors(request); !errors.empty())
    return invalid_options("ListOptions", errors);
  if (!request.resource_version.empty() && !is_version(request.resource_version)) return bad_version(request);
  return std::nullopt;
}

}  // namespace

bool streams_list(const Query& query) {
  if (!query.flag("allowWatchBookmarks")) return false;
  const std::string_view match = query.get("resourceVersionMatch"), version = query.get("resourceVersion");
  if (query.has("sendInitialEvents")) return query.flag("sendInitialEvents") && match == "NotOlderThan";
  return match.empty() && (version.empty() || version == "0");
}

std::string manager_of_user_agent(std::string_view user_agent) {
  std::string manager;
  for (const char c : user_agent.substr(0, user_agent.find('/'))) {
    if (manager.size() == kMaxFieldManager) break;
    if (printable(std::string_view(&c, 1))) manager.push_back(c);
  }
  return manager.empty() ? "unknown" : manager;
}

std::optional<api::RestResponse> apply_options(const Query& query, std::string_view user_agent,
                                               api::RestRequest& request) {
  switch (request.verb) {
    case Verb::kCreate:
    case Verb::kUpdate:
    case Verb::kPatch:
      return write_options(query, user_agent, request);
    case Verb::kDelete:
      return delete_options(query, request);
    case Verb::kDeleteCollection:
      if (auto refusal = delete_options(query, request)) return refusal;
      return list_options(query, request);
    case Verb::kList:
    case Verb::kWatch:
      return list_options(query, request);
    case Verb::kGet:
      request.resource_version = query.get("resourceVersion");
      if (!request.resource_version.empty() && !is_version(request.resource_version)) return bad_version(request);
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace berth::apiserver::http
