#include "embedded/lab/monkeys/actions.h"

#include <array>
#include <utility>
#include <vector>

namespace berth::lab {
namespace {

constexpr std::size_t kMostOwners = 40;  // of all kinds together
constexpr std::uint64_t kNames = 25;     // few, so that names are used again
constexpr std::array<std::string_view, 7> kServerMetadata = {
    "uid",           "resourceVersion",   "creationTimestamp",         "generation",
    "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"};

// The server sets these labels on a Job, together with its selector.
constexpr std::array<std::string_view, 4> kJobLabels = {"controller-uid", "batch.kubernetes.io/controller-uid",
                                                        "job-name", "batch.kubernetes.io/job-name"};

// Kinds whose schemas say less than the server's validation: the server rejects most random objects of them.
bool is_built_in(const MonkeyKind& kind) { return kind.gvr.group.empty() || kind.gvr.group == "batch"; }

// Limits the pods of a job: the cluster of the tests is small.
void keep_small(Json& value) {
  constexpr std::int64_t kMostPods = 30;
  if (value.is_array()) {
    for (Json& item : value.get_array()) keep_small(item);
  }
  if (!value.is_object()) return;
  for (auto& member : value.get_object()) {
    const std::string_view key = member.key();
    if ((key == "parallelism" || key == "completions" || key == "replicas") && member.value().is_int64() &&
        member.value().get_int64() > kMostPods) {
      member.value() = member.value().get_int64() % kMostPods;
    } else {
      keep_small(member.value());
    }
  }
}

// Top-level members other than metadata and status: "spec" of most kinds, "value" of classes.
std::vector<std::string> wanted_members(const MonkeyKinds& kinds, const MonkeyKind& kind) {
  std::vector<std::string> out;
  for (const auto& property : object_at(kinds.resolve(kind, *kind.schema), {"properties"})) {
    const std::string_view name = property.key();
    if (name != "apiVersion" && name != "kind" && name != "metadata" && name != "status") out.emplace_back(name);
  }
  return out;
}

}  // namespace

Json without_server_metadata(Json object) {
  for (const auto member : kServerMetadata) erase_path(object, {"metadata", member});
  if (string_at(object, {"apiVersion"}) == "batch/v1" && !bool_at(object, {"spec", "manualSelector"})) {
    erase_path(object, {"spec", "selector"});
    for (const auto label : kJobLabels) {
      erase_path(object, {"metadata", "labels", label});
      erase_path(object, {"spec", "template", "metadata", "labels", label});
    }
  }
  return object;
}

void MonkeyActions::look_at(const MonkeyKind& kind, const Json& object) {
  words_.learn(object);
  patterns_[&kind] = object;
  if (!random_.chance(200)) return;
  if (owners_.size() == kMostOwners) owners_.pop_front();
  owners_.push_back(JsonObject{{"apiVersion", string_at(object, {"apiVersion"})},
                               {"kind", string_at(object, {"kind"})},
                               {"name", string_at(object, {"metadata", "name"})},
                               {"uid", string_at(object, {"metadata", "uid"})}});
}

// Some objects are mostly valid, others are not.
Manner MonkeyActions::manner() {
  constexpr std::array<int, 4> kOptional = {80, 200, 400, 800};
  constexpr std::array<int, 4> kOdd = {0, 0, 10, 100};
  constexpr std::array<int, 4> kEdge = {0, 30, 100, 300};
  Manner out;
  out.optional = kOptional[random_.below(kOptional.size())];
  out.odd = kOdd[random_.below(kOdd.size())];
  out.missing = out.odd / 5;
  out.edge = kEdge[random_.below(kEdge.size())];
  out.max_items = 1 + static_cast<int>(random_.below(3));
  return out;
}

std::string MonkeyActions::new_name() {
  const auto known = words_.name(random_);
  if (!known.empty() && random_.chance(400)) return std::string(known);
  return "m" + std::to_string(random_.below(kNames));
}

Json MonkeyActions::owner() {
  Json out = owners_.empty()
                 ? Json(JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "nobody"}, {"uid", "nobody"}})
                 : owners_[random_.below(owners_.size())];
  if (random_.chance(100)) out.as_object()["uid"] = "00000000-0000-0000-0000-000000000000";
  if (random_.chance(500)) out.as_object()["controller"] = true;
  if (random_.chance(300)) out.as_object()["blockOwnerDeletion"] = true;
  return out;
}

Json MonkeyActions::make(const MonkeyKind& kind, const Json& present, Time now) {
  Json out;
  const auto known = patterns_.find(&kind);
  const Json& pattern = present.is_object() || known == patterns_.end() ? present : known->second;
  if (pattern.is_object() && random_.chance(is_built_in(kind) ? 900 : 600)) {
    out = without_server_metadata(pattern);
    erase_path(out, {"metadata", "ownerReferences"});
    if (random_.chance(500)) erase_path(out, {"status"});
    for (auto n = random_.below(3); n > 0; --n) change(kind, out, now);
  } else {
    out = maker_.make(kind, manner(), now);
    if (kind.gvr.resource == "jobs") keep_small(out);
    if (random_.chance(500)) erase_path(out, {"status"});
  }
  if (kind.gvr.resource == "namespaces") erase_path(out, {"spec"});
  Json& metadata = ensure_path(out, {"metadata"});
  if (!metadata.is_object()) metadata = JsonObject();
  metadata.as_object().erase("generateName");
  metadata.as_object()["name"] = new_name();
  if (random_.chance(100)) {
    metadata.as_object().erase("name");
    metadata.as_object()["generateName"] = "g-";
  }
  for (auto n = random_.below(3); n > 0; --n) change_metadata(out);
  return out;
}

void MonkeyActions::change(const MonkeyKind& kind, Json& object, Time now) {
  const auto members = wanted_members(maker_.kinds(), kind);
  // The finalizers of a namespace's spec are changed by a subresource of their own, which only its controllers use.
  if (members.empty() || kind.gvr.resource == "namespaces") return;
  const Manner how = manner();
  for (auto n = 1 + random_.below(2); n > 0; --n)
    maker_.change(kind, object, members[random_.below(members.size())], how, now);
  if (kind.gvr.resource == "jobs") keep_small(object);
}

void MonkeyActions::change_status(const MonkeyKind& kind, Json& object, Time now) {
  const Manner how = manner();
  if (random_.chance(60)) {
    const Json whole = maker_.make(kind, Manner{.optional = 1000}, now);
    const Json* status = find(whole, "status");
    object.as_object()["status"] = status == nullptr || random_.chance(300) ? Json(JsonObject()) : *status;
    return;
  }
  if (random_.chance(250)) return change_condition(object, now);
  for (auto n = 1 + random_.below(2); n > 0; --n) maker_.change(kind, object, "status", how, now);
}

void MonkeyActions::change_condition(Json& object, Time now) {
  Json& conditions = ensure_path(object, {"status", "conditions"});
  if (!conditions.is_array()) conditions = JsonArray();
  auto& list = conditions.as_array();
  const Manner how = manner();
  if (!list.empty() && random_.chance(250)) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(random_.below(list.size())));
    return;
  }
  const std::string type = !list.empty() && random_.chance(400)
                               ? std::string(string_at(list[random_.below(list.size())], {"type"}))
                               : maker_.text("type", Manner{.edge = 20});
  const std::string reason = maker_.text("reason", Manner{.edge = 100});
  Json condition = JsonObject{{"type", type},
                              {"status", random_.chance(550)   ? "True"
                                         : random_.chance(850) ? "False"
                                                               : "Unknown"},
                              {"reason", reason.empty() ? "Because" : reason},
                              {"message", maker_.text("message", how)},
                              {"lastTransitionTime", maker_.time(how, now)}};
  if (random_.chance(200)) condition.as_object()["observedGeneration"] = static_cast<std::int64_t>(random_.below(5));
  for (auto& known : list) {
    if (string_at(known, {"type"}) == type) {
      known = std::move(condition);
      return;
    }
  }
  list.push_back(std::move(condition));
}

void MonkeyActions::change_metadata(Json& object) {
  const auto toggle = [this](Json& map, std::string_view member) {
    if (!map.is_object()) map = JsonObject();
    auto& entries = map.as_object();
    if (!entries.empty() && random_.chance(400)) {
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(random_.below(entries.size())));
      return;
    }
    const auto known = words_.key(member, random_);
    const std::string key(known.empty() || random_.chance(100) ? std::string_view("example.com/monkey") : known);
    entries[key] = maker_.text(key, Manner{.edge = 200});
  };
  switch (random_.below(7)) {
    case 0:
    case 1:
    case 2:
      return toggle(ensure_path(object, {"metadata", "labels"}), "labels");
    case 3:
    case 4:
      return toggle(ensure_path(object, {"metadata", "annotations"}), "annotations");
    case 5: {
      Json& finalizers = ensure_path(object, {"metadata", "finalizers"});
      if (!finalizers.is_array()) finalizers = JsonArray();
      auto& list = finalizers.as_array();
      if (!list.empty() && random_.chance(600)) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(random_.below(list.size())));
        return;
      }
      const auto known = words_.value("finalizers", random_);
      list.push_back(Json(known.empty() || random_.chance(500) ? kMonkeyFinalizer : known));
      return;
    }
    default: {
      Json& owners = ensure_path(object, {"metadata", "ownerReferences"});
      if (!owners.is_array() || random_.chance(400)) owners = JsonArray();
      if (random_.chance(700)) owners.as_array().push_back(owner());
    }
  }
}

}  // namespace berth::lab
