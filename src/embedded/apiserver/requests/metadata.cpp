#include "embedded/apiserver/requests/metadata.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/json_members.h"
#include "base/text.h"

namespace berth::apiserver {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
constexpr std::string_view kImmutable = "field is immutable";

bool is_empty(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_string()) return value.get_string().empty();
  if (value.is_object()) return value.get_object().empty();
  if (value.is_array()) return value.get_array().empty();
  return false;
}

JsonObject& metadata_of(Json& object) {
  Json& metadata = object.as_object()["metadata"];
  if (!metadata.is_object()) metadata = JsonObject{};
  return metadata.get_object();
}

const Json* meta(const Json& object, std::string_view key) { return find_path(object, {"metadata", key}); }

// The error for a name by the kind's naming rule; empty when the name is valid.
std::string check_name(const ResourceInfo& resource, std::string_view name) {
  if (resource.gvr.group == "rbac.authorization.k8s.io") {  // any valid path segment
    if (name == "." || name == "..") return "may not be '" + std::string(name) + "'";
    if (name.find('/') != std::string_view::npos) return "may not contain '/'";
    if (name.find('%') != std::string_view::npos) return "may not contain '%'";
    return {};
  }
  if (resource.gvr.group.empty() && (resource.gvr.resource == "namespaces" || resource.gvr.resource == "services")) {
    return api::check_dns_label(name);
  }
  return api::check_dns_subdomain(name);
}

void check_names(const ResourceInfo& resource, const Json& object, api::FieldErrors& errors) {
  const std::string generate(string_at(object, {"metadata", "generateName"}));
  if (!generate.empty()) {
    // A trailing dash is allowed, because the generated suffix follows it.
    std::string as_if = generate;
    if (as_if.size() > 1 && as_if.ends_with('-')) as_if.back() = 'a';
    if (const auto why = check_name(resource, as_if); !why.empty()) {
      errors.push_back(api::invalid_value("metadata.generateName", Json(generate), why));
    }
  }
  const std::string name(string_at(object, {"metadata", "name"}));
  if (name.empty()) {
    errors.push_back(api::required("metadata.name", "name or generateName is required"));
  } else if (const auto why = check_name(resource, name); !why.empty()) {
    errors.push_back(api::invalid_value("metadata.name", Json(name), why));
  }
}

void check_labels(const Json& object, api::FieldErrors& errors) {
  for (const auto& [key, value] : object_at(object, {"metadata", "labels"})) {
    const std::string_view k(key.data(), key.size());
    if (const auto why = api::check_qualified_name(k); !why.empty()) {
      errors.push_back(api::invalid_value("metadata.labels", Json(k), why));
    }
    if (!value.is_string()) continue;
    if (const auto why = api::check_label_value(view(value.get_string())); !why.empty()) {
      errors.push_back(api::invalid_value("metadata.labels", value, why));
    }
  }
}

void check_annotations(const Json& object, api::FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : object_at(object, {"metadata", "annotations"})) {
    if (const auto why = api::check_qualified_name(to_lower(view(key))); !why.empty()) {
      errors.push_back(api::invalid_value("metadata.annotations", Json(key), why));
    }
    bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
  }
  if (bytes > kMaxAnnotationBytes) errors.push_back(api::too_long("metadata.annotations", kMaxAnnotationBytes));
}

void check_owners(const Json& object, api::FieldErrors& errors) {
  const std::string path = "metadata.ownerReferences";
  std::string controller;
  bool reported = false;  // the error shows all owners, so it comes once
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    const std::string_view api_version = string_at(owner, {"apiVersion"});
    const std::string_view kind = string_at(owner, {"kind"});
    if (api_version.empty() || api_version.ends_with('/')) {
      errors.push_back(api::invalid_value(path + ".apiVersion", Json(api_version), "version must not be empty"));
    }
    if (kind.empty()) errors.push_back(api::invalid_value(path + ".kind", Json(kind), "must not be empty"));
    for (const std::string_view field : {std::string_view("name"), std::string_view("uid")}) {
      if (string_at(owner, {field}).empty()) {
        errors.push_back(api::invalid_value(path + "." + std::string(field), Json(""), "must not be empty"));
      }
    }
    if (kind == "Event" && (api_version == "v1" || api_version.starts_with("events.k8s.io/"))) {
      errors.push_back(
          api::invalid_value(path, owner, std::string(api_version) + ", Kind=Event is disallowed from being an owner"));
    }
    if (!bool_at(owner, {"controller"})) continue;
    if (!controller.empty() && !std::exchange(reported, true)) {
      errors.push_back(
          api::invalid_value(path, Json(array_at(object, {"metadata", "ownerReferences"})),
                             "Only one reference can have Controller set to true. Found \"true\" in references for " +
                                 controller + " and " + std::string(string_at(owner, {"name"}))));
    }
    controller = string_at(owner, {"name"});
  }
}

void check_finalizers(const Json& object, api::FieldErrors& errors) {
  const JsonArray& finalizers = array_at(object, {"metadata", "finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = finalizers[i].is_string() ? view(finalizers[i].get_string()) : std::string_view{};
    const std::string path = api::index_path("metadata.finalizers", i);
    if (const auto why = api::check_qualified_name(name); !why.empty()) {
      errors.push_back(api::invalid_value(path, Json(name), why));
    } else if (name.find('/') == std::string_view::npos && name != "kubernetes" && name != kOrphanFinalizer &&
               name != kForegroundFinalizer) {
      errors.push_back(
          api::invalid_value(path, Json(name), "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (has_finalizer(object, kOrphanFinalizer) && has_finalizer(object, kForegroundFinalizer)) {
    errors.push_back(api::invalid_value("metadata.finalizers", Json(finalizers),
                                        "finalizer foregroundDeletion and orphan cannot be both set"));
  }
}

// Formats a list as Go prints a slice of strings.
std::string go_strings(const std::vector<std::string>& values) {
  std::string text = "[]string{";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "\"" : ", \"") + values[i] + "\"";
  return text + "}";
}

}  // namespace

void normalize_metadata(Json& object) {
  JsonObject& metadata = metadata_of(object);
  // managedFields with one empty entry stay: they request a reset of field ownership. An empty list means nothing.
  erase_members_if(metadata, [](const auto& member) { return is_empty(member.value()); });
  metadata.erase("selfLink");
}

void reset_metadata_for_create(Json& object) {
  JsonObject& metadata = metadata_of(object);
  for (const std::string_view key :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    metadata.erase(key);
  }
}

void keep_metadata_for_update(Json& object, const Json& old) {
  JsonObject& metadata = metadata_of(object);
  for (const std::string_view key :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "name", "namespace"}) {
    if (metadata.contains(key)) continue;
    if (const Json* value = meta(old, key)) metadata[key] = *value;
  }
  metadata.erase("generation");
  if (const Json* generation = meta(old, "generation")) metadata["generation"] = *generation;
}

api::FieldErrors validate_metadata(const ResourceInfo& resource, const Json& object) {
  api::FieldErrors errors;
  check_names(resource, object, errors);
  check_labels(object, errors);
  check_annotations(object, errors);
  check_owners(object, errors);
  check_finalizers(object, errors);
  return errors;
}

api::FieldErrors validate_metadata_update(const Json& object, const Json& old) {
  api::FieldErrors errors;
  check_labels(object, errors);
  check_annotations(object, errors);
  check_owners(object, errors);
  check_finalizers(object, errors);
  if (is_deleting(old)) {
    std::unordered_set<std::string_view> present;
    for (const Json& finalizer : array_at(old, {"metadata", "finalizers"})) {
      if (finalizer.is_string()) present.insert(view(finalizer.get_string()));
    }
    std::vector<std::string> added;
    for (const Json& finalizer : array_at(object, {"metadata", "finalizers"})) {
      if (finalizer.is_string() && !present.contains(view(finalizer.get_string())))
        added.emplace_back(view(finalizer.get_string()));
    }
    std::ranges::sort(added);
    if (!added.empty()) {
      errors.push_back(api::forbidden_field(
          "metadata.finalizers",
          "no new finalizers can be added if the object is being deleted, found new finalizers " + go_strings(added)));
    }
  }
  for (const std::string_view key :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* before = meta(old, key);
    const Json* after = meta(object, key);
    const bool same = before == nullptr || after == nullptr ? before == after : json_equal(*before, *after);
    if (!same) {
      errors.push_back(
          api::invalid_value("metadata." + std::string(key), after == nullptr ? Json(nullptr) : *after, kImmutable));
    }
  }
  return errors;
}

void add_new(api::FieldErrors& errors, api::FieldErrors more) {
  if (more.empty()) return;
  std::set<std::pair<std::string, std::string>> known;
  for (const api::FieldError& error : errors) known.emplace(error.field, error.message);
  for (api::FieldError& error : more) {
    if (known.emplace(error.field, error.message).second) errors.push_back(std::move(error));
  }
}

bool is_deleting(const Json& object) { return meta(object, "deletionTimestamp") != nullptr; }

bool has_finalizer(const Json& object, std::string_view finalizer) {
  return std::ranges::any_of(array_at(object, {"metadata", "finalizers"}), [&](const Json& value) {
    return value.is_string() && view(value.get_string()) == finalizer;
  });
}

bool add_finalizer(Json& object, std::string_view finalizer) {
  if (has_finalizer(object, finalizer)) return false;
  Json& finalizers = ensure_path(object, {"metadata", "finalizers"});
  if (!finalizers.is_array()) finalizers = JsonArray{};
  finalizers.get_array().emplace_back(finalizer);
  return true;
}

bool remove_finalizer(Json& object, std::string_view finalizer) {
  if (!has_finalizer(object, finalizer)) return false;
  JsonArray& finalizers = ensure_path(object, {"metadata", "finalizers"}).as_array();
  JsonArray rest;
  for (Json& value : finalizers) {
    if (!value.is_string() || view(value.get_string()) != finalizer) rest.push_back(std::move(value));
  }
  if (rest.empty()) {
    erase_path(object, {"metadata", "finalizers"});
  } else {
    finalizers = std::move(rest);
  }
  return true;
}

bool same_desired_state(const Json& a, const Json& b, bool status_is_subresource) {
  const auto counts = [&](std::string_view key) {
    return key != "metadata" && key != "apiVersion" && key != "kind" && !(status_is_subresource && key == "status");
  };
  const auto covered_by = [&](const JsonObject& one, const JsonObject& other) {
    return std::ranges::all_of(one, [&](const auto& member) {
      const std::string_view key(member.key().data(), member.key().size());
      if (!counts(key)) return true;
      const Json* value = other.if_contains(key);
      return value != nullptr && json_equal(member.value(), *value);
    });
  };
  const auto keys_of = [&](const JsonObject& object) {
    return std::ranges::count_if(
        object, [&](const auto& member) { return counts({member.key().data(), member.key().size()}); });
  };
  return keys_of(a.as_object()) == keys_of(b.as_object()) && covered_by(a.as_object(), b.as_object());
}

}  // namespace berth::apiserver
