#include <memory>
#include <string>
#include <utility>

#include "api/kueue/names.h"
#include "base/json_patch.h"
#include "base/merge_patch.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/requests/reset_fields.h"
#include "embedded/apiserver/schema/structural.h"
#include "growth/acts.h"

namespace berth::growth {
namespace {

using apiserver::Schema;

const Schema& schema_of(const Subject& s) {
  static const Schema kNone;
  return s.resource.schema != nullptr ? *s.resource.schema : kNone;
}

apiserver::ManagerInfo manager(const Subject& s, std::string name) {
  return {std::move(name), std::string(string_at(s.object, {"apiVersion"})), "", Time{}};
}

// The object as a manager sends it to the server.
Json sent(const Json& object) {
  Json out = object;
  erase_path(out, {"metadata", "managedFields"});
  return out;
}

std::function<void()> update(const Subject& s, std::string_view subresource) {
  auto next = std::make_shared<Json>(s.other);
  auto old = std::make_shared<Json>(s.object);
  ensure_path(*old, {"metadata", "deletionTimestamp"}) = "2026-11-21T09:00:00Z";
  return [next, old, subresource, &s] {
    const auto& strategy = s.resource.strategy;
    const apiserver::Lookup lookup{[old](const auto&, auto, auto) { return old; },
                                   [old](const auto&, auto) { return std::vector<JsonPtr>{old}; }};
    apiserver::keep_metadata_for_update(*next, *old);
    if (strategy.prepare_update) strategy.prepare_update(*next, *old, subresource, lookup);
    if (strategy.admit) (void)strategy.admit(*next, old.get(), lookup);
    (void)apiserver::same_desired_state(*next, *old, s.resource.has_status);
    api::FieldErrors errors = apiserver::validate_metadata_update(*next, *old);
    if (s.resource.custom)
      apiserver::add_new(errors, apiserver::validate_custom_object(*next, old.get(), s.resource, subresource));
    if (strategy.validate_update) apiserver::add_new(errors, strategy.validate_update(*next, *old, subresource));
    (void)apiserver::invalid_object(s.resource, "n0", errors);
  };
}

// The object as an elastic job that runs.
Json elastic(Json job) {
  ensure_path(job, {"metadata", "annotations", api::kueue::kElasticJob}) = "true";
  if (find_path(job, {"spec", "suspend"}) != nullptr) ensure_path(job, {"spec", "suspend"}) = false;
  return job;
}

std::function<void()> check_by_webhooks(const Subject& s) {
  auto old = std::make_shared<const Json>(s.object);
  return [old, sized = elastic(s.object), resized = elastic(s.other), &s] {
    const auto& strategy = s.resource.strategy;
    const apiserver::Lookup lookup{[old](const auto&, auto, auto) { return old; },
                                   [old](const auto&, auto) { return std::vector<JsonPtr>{old}; }};
    if (strategy.validating_admission) (void)strategy.validating_admission(resized, &sized, "", lookup);
    for (const Json* before : {static_cast<const Json*>(nullptr), old.get()}) {
      for (const std::string_view subresource : {"", "status"}) {
        if (strategy.validating_admission) (void)strategy.validating_admission(s.other, before, subresource, lookup);
      }
      if (strategy.admission_warning) (void)strategy.admission_warning(s.other, before, lookup);
    }
    if (strategy.deletion_admission) (void)strategy.deletion_admission(s.object, lookup);
  };
}

std::function<void()> check_changed_schema(const Subject& s) {
  return [&s] { (void)apiserver::validate_schema(s.other, &s.object, schema_of(s), ""); };
}

std::function<void()> check_rules(const Subject& s) {
  return [&s] {
    (void)apiserver::validate_rules(s.object, nullptr, schema_of(s), "");
    (void)apiserver::validate_rules(s.other, &s.object, schema_of(s), "");
  };
}

std::function<void()> track(const Subject& s) {
  auto before = std::make_shared<Json>(s.object), after = std::make_shared<Json>(s.other);
  apiserver::track_update(JsonObject(), *before, schema_of(s), manager(s, "one"), {});
  return [before, after, &s] {
    apiserver::track_update(*before, *after, schema_of(s), manager(s, "two"), {});
    Json removed = JsonObject{{"metadata", *find(*after, "metadata")}};
    apiserver::track_update(*after, removed, schema_of(s), manager(s, "three"), {});
  };
}

// Many managers, each with fields of their own.
std::function<void()> track_many(const Subject& s) {
  JsonArray entries;
  for (std::size_t i = 0; i < s.size; ++i) {
    const std::string number = std::to_string(i);
    entries.push_back(JsonObject{{"manager", "m" + number},
                                 {"operation", i % 2 == 0 ? "Update" : "Apply"},
                                 {"apiVersion", "v1"},
                                 {"time", "2026-11-21T09:00:00Z"},
                                 {"fieldsType", "FieldsV1"},
                                 {"fieldsV1", JsonObject{{"f:x" + number, JsonObject()}}}});
  }
  auto before = std::make_shared<Json>(JsonObject{{"metadata", JsonObject{{"uid", "u0"}, {"managedFields", entries}}}});
  auto after = std::make_shared<Json>(*before);
  ensure_path(*after, {"spec", "changed"}) = true;
  return [before, after, &s] {
    apiserver::track_update(*before, *after, schema_of(s), manager(s, "one"), {});
    (void)apiserver::server_side_apply(
        *before, JsonObject{{"apiVersion", *find(s.object, "apiVersion")}, {"kind", s.resource.kind}}, schema_of(s),
        manager(s, "two"), true, {});
  };
}

std::function<void()> apply(const Subject& s) {
  auto first = std::make_shared<Json>(sent(s.object)), second = std::make_shared<Json>(sent(s.other));
  return [first, second, &s] {
    const auto apply_as = [&](const Json& live, const Json& config, const char* name, bool force) {
      auto result = apiserver::server_side_apply(live, config, schema_of(s), manager(s, name), force, {});
      return result ? result->object : live;
    };
    const Json made = apply_as(Json(), *first, "one", false);
    apply_as(made, *second, "two", false);
    const Json shared = apply_as(made, *second, "kubectl", true);
    const Json little = JsonObject{{"apiVersion", *find(s.object, "apiVersion")}, {"kind", s.resource.kind}};
    apply_as(shared, little, "one", true);
    apply_as(*first, *second, "one", true);  // an object without owners
  };
}

// The patch says null for each member of each map.
Json all_null(const Json& value) {
  if (!value.is_object()) return Json();
  JsonObject out;
  for (const auto& member : value.get_object()) out[member.key()] = all_null(member.value());
  return out;
}

std::function<void()> merge(const Subject& s) {
  auto nulls = std::make_shared<Json>(all_null(s.object));
  return [nulls, &s] {
    const Json patch = make_merge_patch(s.object, s.other);
    (void)apply_merge_patch(s.object, patch);
    (void)apply_merge_patch(s.object, *nulls);
  };
}

// The patch with a directive in each item of its lists, or orders of the lists beside them.
Json with_deletions(const Json& value) {
  if (value.is_array()) {
    JsonArray out;
    for (const Json& item : value.get_array()) {
      out.push_back(item);
      if (item.is_object()) out.back().get_object()["$patch"] = "delete";
    }
    return out;
  }
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& member : value.get_object()) out[member.key()] = with_deletions(member.value());
  return out;
}

Json with_orders(const Json& value, bool only_orders) {
  if (!value.is_object()) return value;
  JsonObject out, retained;
  JsonArray keys;
  for (const auto& member : value.get_object()) {
    const std::string key(member.key());
    keys.emplace_back(key);
    if (member.value().is_array()) {
      out["$setElementOrder/" + key] = member.value();
      out["$deleteFromPrimitiveList/" + key] = member.value();
      if (only_orders) continue;
    }
    out[key] = with_orders(member.value(), only_orders);
  }
  if (!only_orders) out["$retainKeys"] = std::move(keys);
  return out;
}

std::function<void()> merge_strategically(const Subject& s) {
  const auto patches = std::make_shared<std::vector<Json>>(std::vector<Json>{
      s.other, with_deletions(s.other), with_orders(s.other, false), with_orders(s.other, true), all_null(s.other)});
  return [patches, &s] {
    for (const Json& patch : *patches) (void)apiserver::apply_strategic_merge_patch(s.object, patch, schema_of(s));
    const Json little = JsonObject{{"metadata", *find(s.object, "metadata")}};
    (void)apiserver::apply_strategic_merge_patch(little, s.other, schema_of(s));
  };
}

std::function<void()> patch_json(const Subject& s) {
  return [&s] {
    const Json patch = make_json_patch(s.object, s.other);
    (void)apiserver::apply_json_patch(s.object, patch);
    const Json back = make_json_patch(s.other, JsonObject{{"spec", JsonObject()}});
    (void)apiserver::apply_json_patch(s.other, back);
  };
}

}  // namespace

const std::vector<Act>& acts_within_limits() {
  static const std::vector<Act> acts = {
      {"check its rules", check_rules},
      {"update its status", [](const Subject& s) { return update(s, "status"); }},
      {"check it by webhooks", check_by_webhooks},
  };
  return acts;
}

const std::vector<Act>& acts_on_changes() {
  static const std::vector<Act> acts = {
      {"update it", [](const Subject& s) { return update(s, ""); }},
      {"check the schema of a change", check_changed_schema},
      {"track who owns its fields", track},
      {"track many owners", track_many},
      {"apply it", apply},
      {"merge a patch", merge},
      {"merge a patch strategically", merge_strategically},
      {"apply a JSON patch", patch_json},
  };
  return acts;
}

}  // namespace berth::growth
