#include "embedded/cluster/apps/objects.h"

#include "api/owners.h"

#include <algorithm>

namespace berth::cluster {
namespace {

const Json* controller_of_kind(const Json& object, std::string_view kind) {
  const Json* owner = api::controller_of(object);
  const bool is_it =
      owner != nullptr && string_at(*owner, {"kind"}) == kind && string_at(*owner, {"apiVersion"}).starts_with("apps/");
  return is_it ? owner : nullptr;
}

// FNV-1a.
std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const unsigned char c : text) hash = (hash ^ c) * 16777619u;
  return hash;
}

}  // namespace

const Json* controlling_deployment(const Json& object) { return controller_of_kind(object, "Deployment"); }
const Json* controlling_replica_set(const Json& object) { return controller_of_kind(object, "ReplicaSet"); }
const Json* controlling_stateful_set(const Json& object) { return controller_of_kind(object, "StatefulSet"); }

Json controller_reference(const Json& owner, std::string_view kind) {
  return JsonObject{{"apiVersion", "apps/v1"},
                    {"kind", kind},
                    {"name", string_at(owner, {"metadata", "name"})},
                    {"uid", string_at(owner, {"metadata", "uid"})},
                    {"controller", true},
                    {"blockOwnerDeletion", true}};
}

Json with_owner(const Json& owner, std::string_view kind) {
  return JsonObject{{"metadata", JsonObject{{"ownerReferences", JsonArray{controller_reference(owner, kind)}}}}};
}

Json without_owner(std::string_view uid) {
  return JsonObject{
      {"metadata", JsonObject{{"ownerReferences", JsonArray{JsonObject{{"$patch", "delete"}, {"uid", uid}}}}}}};
}

Json pod_from_template(const Json& owner, std::string_view kind, const Json& pod_template) {
  JsonObject meta{{"generateName", std::string(string_at(owner, {"metadata", "name"})) + "-"},
                  {"namespace", string_at(owner, {"metadata", "namespace"})},
                  {"ownerReferences", JsonArray{controller_reference(owner, kind)}}};
  for (const std::string_view member : {"labels", "annotations", "finalizers"}) {
    if (const Json* given = find_path(pod_template, {"metadata", member})) meta[member] = *given;
  }
  const Json* spec = find(pod_template, "spec");
  return JsonObject{{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", std::move(meta)},
                    {"spec", spec == nullptr ? Json(JsonObject()) : *spec}};
}

std::string template_hash(const Json& pod_template, std::int64_t collisions) {
  // Names and labels get letters and digits that form no words.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text = to_string(pod_template);
  if (collisions > 0) text += "/" + std::to_string(collisions);
  std::string out = std::to_string(fnv1a(text));
  for (char& c : out) c = kLetters[static_cast<std::size_t>(c) % kLetters.size()];
  return out;
}

bool pod_available(const JobPod& pod, std::int64_t min_ready_seconds, Time now, std::optional<Time>& wake) {
  if (!pod.ready_since) return false;
  const Time when = *pod.ready_since + std::chrono::seconds(min_ready_seconds);
  if (min_ready_seconds == 0 || when <= now) return true;
  wake = wake ? std::min(*wake, when) : when;
  return false;
}

api::LabelSelector selector_of(const Json& owner) {
  const Json* selector = find_path(owner, {"spec", "selector"});
  if (selector == nullptr) return api::LabelSelector::nothing();
  const auto parsed = api::LabelSelector::from_json(*selector);
  return parsed && !parsed->empty() ? *parsed : api::LabelSelector::nothing();
}

bool selects(const api::LabelSelector& selector, const Json& object) {
  return selector.matches(object_at(object, {"metadata", "labels"}));
}

}  // namespace berth::cluster
