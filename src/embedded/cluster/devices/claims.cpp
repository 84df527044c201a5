#include "embedded/cluster/devices/claims.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/meta.h"
#include "api/resources.h"

namespace berth::cluster::devices {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr std::string_view kEntryAnnotation = "resource.kubernetes.io/pod-claim-name";

std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }
std::string ns_of(const Json& object) { return std::string(string_at(object, {"metadata", "namespace"})); }

bool owned_by(const api::ResourceClaim& claim, const std::string& uid) {
  return std::ranges::any_of(claim.meta.owners,
                             [&](const auto& owner) { return owner.controller && owner.uid == uid; });
}

api::RestRequest about(const api::ObjectMeta& claim, api::Verb verb) {
  api::RestRequest request;
  request.verb = verb;
  request.resource = api::kResourceClaims;
  request.ns = claim.ns;
  request.name = claim.name;
  return request;
}

Json reserved(const std::vector<std::pair<std::string, std::string>>& users) {
  JsonArray out;
  for (const auto& [name, uid] : users) out.push_back(JsonObject{{"resource", "pods"}, {"name", name}, {"uid", uid}});
  return out;
}

}  // namespace

bool has_claims(const Json& pod) { return !array_at(pod, {"spec", "resourceClaims"}).empty(); }

Claims::Claims(api::RestClient& client, Executor& executor, const kube::Informer& pods, std::function<void()> changed)
    : client_(client),
      executor_(executor),
      pods_(pods),
      changed_(std::move(changed)),
      templates_(client, executor, api::kResourceClaimTemplates, {}, api::decode_resource_claim_template),
      claims_(client, executor, api::kResourceClaims, {}, api::decode_resource_claim),
      classes_(client, executor, api::kDeviceClasses, {}, api::decode_device_class),
      slices_(client, executor, api::kResourceSlices, {}, api::decode_resource_slice),
      allocator_({templates_.all(), classes_.all(), slices_.all()}),
      writer_(client, executor) {
  templates_.on_change([this](const std::string&, const auto&, const auto& now) {
    if (!now) return;
    for (const JsonPtr& pod : pods_.list(now->meta.ns)) make(*pod);
  });
  claims_.on_change([this](const std::string&, const ClaimPtr& old, const ClaimPtr& now) { claim_changed(old, now); });
  classes_.on_change([this](const std::string&, const auto&, const auto&) { changed_(); });
  slices_.on_change([this](const std::string&, const auto&, const auto&) { changed_(); });
}

void Claims::start() {
  templates_.informer().start();
  claims_.informer().start();
  classes_.informer().start();
  slices_.informer().start();
}

void Claims::claim_changed(const ClaimPtr& old, const ClaimPtr& now) {
  if (old && old->allocation) taken_.add(*old->allocation, -1);
  const std::string& uid = (now ? now : old)->meta.uid;
  if (old && now && old->meta.uid != now->meta.uid) forget_assumed(old->meta.uid);
  if (!now || now->allocation) forget_assumed(uid);
  if (now && now->allocation) taken_.add(*now->allocation);
  changed_();
}

void Claims::forget_assumed(const std::string& uid) {
  const auto it = assumed_.find(uid);
  if (it == assumed_.end()) return;
  taken_.add(it->second, -1);
  assumed_.erase(it);
}

void Claims::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const Json& pod = now ? *now : *old;
  if (!has_claims(pod)) return;
  if (now && !api::pod_ended(*now)) return make(*now);
  release(pod, !now);
}

// --- Claims by template.

void Claims::make(const Json& pod) {
  if (api::pod_ended(pod) || pod_terminating(pod)) return;
  for (const Json& claim : array_at(pod, {"spec", "resourceClaims"})) {
    const std::string claim_template(string_at(claim, {"resourceClaimTemplateName"}));
    if (!claim_template.empty()) make_one(pod, std::string(string_at(claim, {"name"})), claim_template);
  }
}

// What another run of this process made is found by its owner.
void Claims::make_one(const Json& pod, const std::string& entry, const std::string& claim_template) {
  const std::string uid = uid_of(pod), key = pod_key(pod);
  for (const Json& known : array_at(pod, {"status", "resourceClaimStatuses"})) {
    if (string_at(known, {"name"}) == entry) return;
  }
  const JsonPtr source = templates_.informer().get(api::object_key(ns_of(pod), claim_template));
  if (!claims_.informer().synced() || !source || !made_.try_emplace({uid, entry}).second) return;
  for (const auto& [name, claim] : claims_.all()) {
    const auto annotation = claim->meta.annotations.find(std::string(kEntryAnnotation));
    if (!owned_by(*claim, uid) || annotation == claim->meta.annotations.end() || annotation->second != entry) continue;
    made_[{uid, entry}] = claim->meta.name;
    return record(key);
  }
  JsonObject annotations = object_at(*source, {"spec", "metadata", "annotations"});
  annotations[kEntryAnnotation] = entry;
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = api::kResourceClaims;
  request.ns = ns_of(pod);
  request.body = JsonObject{
      {"apiVersion", "resource.k8s.io/v1"},
      {"kind", "ResourceClaim"},
      {"metadata", JsonObject{{"generateName", std::string(string_at(pod, {"metadata", "name"})) + "-" + entry + "-"},
                              {"namespace", ns_of(pod)},
                              {"labels", object_at(*source, {"spec", "metadata", "labels"})},
                              {"annotations", std::move(annotations)},
                              {"ownerReferences", JsonArray{JsonObject{{"apiVersion", "v1"},
                                                                       {"kind", "Pod"},
                                                                       {"name", string_at(pod, {"metadata", "name"})},
                                                                       {"uid", uid},
                                                                       {"controller", true},
                                                                       {"blockOwnerDeletion", true}}}}}},
      {"spec", *find_path(*source, {"spec", "spec"})}};
  client_.call(std::move(request), lifetime_.guard([this, key, uid, entry](const api::RestResponse& response) {
    if (!response.ok()) {
      made_.erase({uid, entry});
      executor_.after(kRetry, lifetime_.guard([this, key, uid] {
        if (const JsonPtr again = pods_.get(key); again && uid_of(*again) == uid) make(*again);
      }));
      return;
    }
    made_[{uid, entry}] = string_at(response.body, {"metadata", "name"});
    record(key);
  }));
}

void Claims::record(const std::string& pod_key) {
  const JsonPtr pod = pods_.get(pod_key);
  if (!pod) return;
  JsonArray statuses;
  for (const Json& claim : array_at(*pod, {"spec", "resourceClaims"})) {
    const std::string entry(string_at(claim, {"name"}));
    const auto made = made_.find({uid_of(*pod), entry});
    if (made != made_.end() && !made->second.empty())
      statuses.push_back(JsonObject{{"name", entry}, {"resourceClaimName", made->second}});
  }
  writer_.send(patch_pod_status(*pod, JsonObject{{"resourceClaimStatuses", std::move(statuses)}}),
               [this, pod_key] { record(pod_key); });
}

// --- Claims of pods that have ended.

void Claims::release(const Json& pod, bool gone) {
  const std::string uid = uid_of(pod);
  std::vector<ClaimPtr> concerned;
  for (const auto& [name, claim] : claims_.all()) {
    if (owned_by(*claim, uid) || std::ranges::find(claim->reserved_for, uid) != claim->reserved_for.end())
      concerned.push_back(claim);
  }
  for (const auto& claim : concerned) release_claim(claim, uid);
  if (gone) std::erase_if(made_, [&](const auto& made) { return made.first.first == uid; });
}

// The claim of one pod is deleted; another one is free for the next pod.
void Claims::release_claim(const ClaimPtr& claim, const std::string& uid) {
  const auto again = [this, claim, uid] {
    if (const auto now = claims_.get(api::object_key(claim->meta)); now && now->meta.uid == claim->meta.uid)
      release_claim(now, uid);
  };
  if (owned_by(*claim, uid)) {
    api::RestRequest request = about(claim->meta, api::Verb::kDelete);
    request.body = JsonObject{{"preconditions", JsonObject{{"uid", claim->meta.uid}}}};
    return writer_.send(std::move(request), again);
  }
  const JsonPtr object = claims_.informer().get(api::object_key(claim->meta));
  if (!object) return;
  std::vector<std::pair<std::string, std::string>> others;
  for (const Json& user : array_at(*object, {"status", "reservedFor"})) {
    if (string_at(user, {"uid"}) != uid) others.emplace_back(string_at(user, {"name"}), string_at(user, {"uid"}));
  }
  JsonObject status;
  if (others.empty()) {
    status = {{"allocation", nullptr}, {"reservedFor", nullptr}};
  } else {
    status = {{"reservedFor", reserved(others)}};
  }
  api::RestRequest request = about(claim->meta, api::Verb::kPatch);
  request.patch_type = api::PatchType::kMerge;
  request.subresource = "status";
  request.body = JsonObject{{"metadata", JsonObject{{"uid", claim->meta.uid}}}, {"status", std::move(status)}};
  writer_.send(std::move(request), again);
}

// --- Allocation.

// nullopt: one does not exist (yet), or the cache does not have it.
std::optional<std::vector<Claims::ClaimPtr>> Claims::claims_of(const Json& pod) const {
  std::vector<ClaimPtr> out;
  for (const Json& claim : array_at(pod, {"spec", "resourceClaims"})) {
    std::string name(string_at(claim, {"resourceClaimName"}));
    for (const Json& made : array_at(pod, {"status", "resourceClaimStatuses"})) {
      if (string_at(made, {"name"}) == string_at(claim, {"name"})) name = string_at(made, {"resourceClaimName"});
    }
    auto known = name.empty() ? nullptr : claims_.get(api::object_key(ns_of(pod), name));
    if (!known || known->meta.deletion) return std::nullopt;
    out.push_back(std::move(known));
  }
  return out;
}

const Json* Claims::allocation_of(const api::ResourceClaim& claim) const {
  if (claim.allocation) return claim.allocation.get();
  const auto assumed = assumed_.find(claim.meta.uid);
  return assumed == assumed_.end() ? nullptr : &assumed->second;
}

// Fills `out` by UID with the claims that get devices now.
bool Claims::allocate_new(const std::vector<ClaimPtr>& claims, const NodeView& node, std::map<std::string, Json>& out) {
  std::vector<const api::ResourceClaim*> fresh;
  for (const auto& claim : claims) {
    const Json* allocation = allocation_of(*claim);
    if (allocation == nullptr) {
      fresh.push_back(claim.get());
      continue;
    }
    const Json* selector = find(*allocation, "nodeSelector");
    if (selector == nullptr) continue;
    const auto where = api::decode_node_constraints(JsonObject{
        {"affinity",
         JsonObject{{"nodeAffinity", JsonObject{{"requiredDuringSchedulingIgnoredDuringExecution", *selector}}}}}});
    if (std::ranges::none_of(where.required_terms,
                             [&](const auto& term) { return api::matches(term, node.labels, node.name); }))
      return false;
  }
  auto allocations = allocator_.allocate(fresh, node, taken_);
  if (!allocations) return false;
  for (std::size_t i = 0; i < fresh.size(); ++i) out[fresh[i]->meta.uid] = std::move((*allocations)[i]);
  return true;
}

bool Claims::fits(const Json& pod, const NodeView& node) {
  if (!has_claims(pod)) return true;
  const auto claims = claims_of(pod);
  std::map<std::string, Json> ignored;
  return claims && allocate_new(*claims, node, ignored);
}

void Claims::allocate(const Json& pod, const NodeView& node, std::function<void(bool)> done) {
  if (!has_claims(pod)) return done(true);
  const auto claims = claims_of(pod);
  std::map<std::string, Json> fresh;
  if (!claims || !allocate_new(*claims, node, fresh)) return done(false);
  std::vector<std::pair<ClaimPtr, Json>> statuses;
  for (const auto& claim : *claims) {
    const JsonPtr object = claims_.informer().get(api::object_key(claim->meta));
    if (!object) return done(false);
    std::vector<std::pair<std::string, std::string>> users;
    for (const Json& user : array_at(*object, {"status", "reservedFor"}))
      users.emplace_back(string_at(user, {"name"}), string_at(user, {"uid"}));
    if (std::ranges::find(claim->reserved_for, uid_of(pod)) == claim->reserved_for.end())
      users.emplace_back(string_at(pod, {"metadata", "name"}), uid_of(pod));
    JsonObject status{{"reservedFor", reserved(users)}};
    if (const auto it = fresh.find(claim->meta.uid); it != fresh.end()) {
      taken_.add(it->second);
      assumed_[claim->meta.uid] = it->second;
      status["allocation"] = it->second;
    }
    statuses.emplace_back(claim, std::move(status));
  }
  write(std::move(statuses), 0, std::move(done));
}

void Claims::write(std::vector<std::pair<ClaimPtr, Json>> statuses, std::size_t next, std::function<void(bool)> done) {
  if (next == statuses.size()) return done(true);
  const auto& [claim, status] = statuses[next];
  api::RestRequest request = about(claim->meta, api::Verb::kPatch);
  request.patch_type = api::PatchType::kMerge;
  request.subresource = "status";
  request.body =
      JsonObject{{"metadata", JsonObject{{"uid", claim->meta.uid}, {"resourceVersion", claim->meta.resource_version}}},
                 {"status", status}};
  client_.call(std::move(request), lifetime_.guard([this, statuses = std::move(statuses), next,
                                                    done = std::move(done)](const api::RestResponse& response) mutable {
    if (response.ok()) return write(std::move(statuses), next + 1, std::move(done));
    for (std::size_t i = next; i < statuses.size(); ++i) forget_assumed(statuses[i].first->meta.uid);
    done(false);
  }));
}

}  // namespace berth::cluster::devices
