// Server-side apply, and the ownership tracking of other writes.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/managed_fields.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kBeforeFirstApply = "before-first-apply";
// Client-side `kubectl apply` keeps the applied configuration in this annotation. When kubectl changes to server-side
// apply, it takes over those fields without conflict, and the annotation is updated.
constexpr std::string_view kKubectl = "kubectl";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

FieldPath dotted_path(std::string_view dotted) {
  FieldPath out;
  while (!dotted.empty()) {
    const auto dot = dotted.find('.');
    out.push_back(PathElement::field(dotted.substr(0, dot)));
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return out;
}

void erase_dotted(Json& object, std::string_view dotted) {
  Json* at = &object;
  for (auto dot = dotted.find('.'); dot != std::string_view::npos; dot = dotted.find('.')) {
    at = at->is_object() ? at->get_object().if_contains(dotted.substr(0, dot)) : nullptr;
    if (at == nullptr) return;
    dotted.remove_prefix(dot + 1);
  }
  erase_path(*at, {dotted});
}

void drop(FieldSet& fields, const std::vector<std::string>& reset) {
  for (const auto& name : reset) fields.erase_below(dotted_path(name));
}

// The name of the configuration in error messages: "apply/w; kueue.x-k8s.io/v1beta2, Kind=Workload".
std::string describe_object(const Json& object) {
  std::string version(string_at(object, {"apiVersion"}));
  if (version.find('/') == std::string::npos) version.insert(0, "/");
  std::string out(string_at(object, {"metadata", "namespace"}));
  out += '/';
  out += string_at(object, {"metadata", "name"});
  return out + "; " + version + ", Kind=" + std::string(string_at(object, {"kind"}));
}

tl::unexpected<PatchError> refuse(int code, std::string message) {
  return tl::unexpected<PatchError>(PatchError{code, std::move(message)});
}

tl::expected<void, PatchError> check_configuration(const Json& applied, const Schema& schema,
                                                   const ManagerInfo& manager) {
  const std::string version(string_at(applied, {"apiVersion"}));
  if (version.empty() || string_at(applied, {"kind"}).empty()) {
    const std::string prefix = version.find('/') == std::string::npos ? "/" : "";
    return refuse(400,
                  "invalid object type: " + prefix + version + ", Kind=" + std::string(string_at(applied, {"kind"})));
  }
  if (version != manager.api_version) {
    return refuse(400, "Incorrect version specified in apply patch. Specified patch version: " + version +
                           ", expected: " + manager.api_version);
  }
  if (const Json* fields = find_path(applied, {"metadata", "managedFields"}); fields != nullptr && !fields->is_null()) {
    return refuse(400, "metadata.managedFields must be nil");
  }
  if (auto problem = check_typed(applied, schema); !problem.empty()) {
    return refuse(500, "failed to create typed patch object (" + describe_object(applied) + "): " + problem);
  }
  return {};
}

struct Conflicting {
  Ownership owner;
  FieldSet fields;
};

std::vector<Conflicting> find_conflicts(const ManagedFields& managed, const Ownership& self, const FieldSet& changed) {
  std::vector<Conflicting> out;
  for (const auto& [key, owner] : managed.owners()) {
    if (key == self.owner()) continue;
    auto fields = FieldSet::intersect(owner.fields, changed);
    if (!fields.empty()) out.push_back({owner, std::move(fields)});
  }
  return out;
}

std::vector<ApplyConflict> describe_conflicts(const std::vector<Conflicting>& conflicts) {
  std::vector<ApplyConflict> out;
  for (const auto& conflict : conflicts) {
    conflict.fields.for_each(
        [&](const FieldPath& path) { out.push_back({describe_owner(conflict.owner), path_text(path)}); });
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ApplyConflict& a, const ApplyConflict& b) { return a.manager < b.manager; });
  return out;
}

const Json* last_applied(const Json& object) { return find_path(object, {"metadata", "annotations", kLastApplied}); }

// The fields of the last client-side apply; kubectl does not conflict with itself about them.
FieldSet last_applied_fields(const Json& live, const Schema& schema) {
  const Json* text = last_applied(live);
  if (text == nullptr || !text->is_string()) return {};
  const auto config = parse_json(view(text->get_string()));
  if (!config || !config->is_object()) return {};
  return fields_of(*config, schema);
}

// The result of merging a configuration: fields that this manager applied before and that nobody owns any more are
// removed.
struct Merged {
  Json object;
  ManagedFields managed;
  Comparison changes;
};

Merged merge_configuration(const Json& live, const Json& config, const Schema& schema, ManagedFields managed,
                           const Ownership& self) {
  Merged out;
  out.object = live.is_object() ? merge_typed(live, config, schema) : config;
  auto& mine = managed.at(self);
  const FieldSet last = std::exchange(mine.fields, fields_of(config, schema));
  mine.api_version = self.api_version;
  remove_unowned(out.object, schema, last, managed.all_fields());
  out.changes = compare_typed(live.is_object() ? live : Json(JsonObject()), out.object, schema);
  out.managed = std::move(managed);
  return out;
}

// Records that `owner` owns the added and modified fields, and that nobody owns the removed ones.
void record_changes(ManagedFields& managed, const Comparison& changes, const Ownership& owner, Time now) {
  const FieldSet taken = FieldSet::unite(changes.added, changes.modified);
  managed.take_from_others(taken, &owner);
  managed.take_from_others(changes.removed, nullptr);
  ManagedFields only;
  only.at(owner).fields = taken;
  only.tidy();
  if (!only.empty()) {
    auto& mine = managed.at(owner);
    mine.fields = FieldSet::unite(mine.fields, taken);
    mine.time = now;
  }
  managed.tidy();
}

void record_update(ManagedFields& managed, const Json& before, const Json& after, const Schema& schema,
                   const Ownership& owner, Time now, const std::vector<std::string>& reset) {
  Comparison changes = compare_typed(before, after, schema);
  for (auto* fields : {&changes.added, &changes.modified, &changes.removed}) drop(*fields, reset);
  record_changes(managed, changes, owner, now);
}

Json without_managed_fields(const Json& object) {
  Json out = object;
  if (!out.is_object()) out = JsonObject();
  erase_path(out, {"metadata", "managedFields"});
  return out;
}

// The owners before a write: those in the request where the client may change them, else those of the live object.
ManagedFields owners_before(const Json& before, const Json& after, bool is_subresource) {
  if (!is_subresource) {
    if (ManagedFields::requests_reset(after)) return {};
    auto sent = ManagedFields::of(after);
    if (sent && !sent->empty()) return *std::move(sent);
  }
  return ManagedFields::of(before).value_or(ManagedFields());
}

}  // namespace

tl::expected<ApplyResult, PatchError> server_side_apply(const Json& live, const Json& applied, const Schema& schema,
                                                        const ManagerInfo& manager, bool force,
                                                        const std::vector<std::string>& reset) {
  if (auto checked = check_configuration(applied, schema, manager); !checked) {
    return tl::unexpected(checked.error());
  }
  Json config = applied;
  for (const auto& name : reset) erase_dotted(config, name);
  erase_path(config, {"metadata", "managedFields"});

  auto managed = ManagedFields::of(live);
  if (!managed) return refuse(500, "failed to decode managed fields: " + managed.error().message);
  const Json live_object = live.is_object() ? without_managed_fields(live) : Json();
  if (managed->empty() && live_object.is_object()) {
    ManagerInfo unknown = manager;
    unknown.manager = kBeforeFirstApply;
    record_update(*managed, JsonObject(), live_object, schema, make_owner(unknown, false), manager.now, {});
  }

  const Ownership self = make_owner(manager, true);
  const ManagedFields before = *managed;
  Merged merged = merge_configuration(live_object, config, schema, *std::move(managed), self);
  const FieldSet changed = FieldSet::unite(merged.changes.added, merged.changes.modified);
  auto conflicts = find_conflicts(merged.managed, self, changed);
  if (!force && manager.manager == kKubectl && !conflicts.empty()) {
    const FieldSet own = last_applied_fields(live_object, schema);
    for (auto& conflict : conflicts) conflict.fields = FieldSet::subtract(conflict.fields, own);
    std::erase_if(conflicts, [](const Conflicting& conflict) { return conflict.fields.empty(); });
  }
  if (!force && !conflicts.empty()) return ApplyResult{live, describe_conflicts(conflicts)};

  merged.managed.take_from_others(changed, &self);
  merged.managed.take_from_others(merged.changes.removed, nullptr);
  merged.managed.tidy();
  if (auto* mine = merged.managed.find(self); mine != nullptr) {
    if (!mine->time || !merged.changes.same() || !(merged.managed == before)) mine->time = manager.now;
  }
  if (manager.manager == kKubectl && last_applied(merged.object) != nullptr) {
    Json record = config;
    erase_path(record, {"metadata", "annotations", kLastApplied});
    ensure_path(merged.object, {"metadata", "annotations", kLastApplied}) = to_string(record) + "\n";
  }
  merged.managed.write_to(merged.object);
  return ApplyResult{std::move(merged.object), {}};
}

void track_update(const Json& before, Json& after, const Schema& schema, const ManagerInfo& manager,
                  const std::vector<std::string>& reset) {
  ManagedFields managed = owners_before(before, after, !manager.subresource.empty());
  const Json old_object = without_managed_fields(before);
  erase_path(after, {"metadata", "managedFields"});
  // After a reset, objects have no owners until the next apply.
  const bool is_create = find_path(before, {"metadata", "uid"}) == nullptr;
  if (!managed.empty() || is_create) {
    record_update(managed, old_object, after, schema, make_owner(manager, false), manager.now, reset);
    managed.cap_updaters();
  }
  managed.write_to(after);
}

}  // namespace berth::apiserver
