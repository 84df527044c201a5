#include "embedded/cluster/autoscaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "embedded/cluster/nodes.h"

namespace berth::cluster {
namespace {

using namespace api::autoscaling;

constexpr std::string_view kCheckCapacity = "check-capacity.autoscaling.x-k8s.io";
constexpr std::string_view kScaleUp = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
// How long a due request waits until its pod templates are in the cache.
constexpr Duration kTemplateWait = std::chrono::seconds(10);

std::string key_of(const api::ObjectMeta& meta) { return api::object_key(meta); }

bool known_class(const ProvisioningRequest& request) {
  return request.class_name == kCheckCapacity || request.class_name == kScaleUp;
}

}  // namespace

Autoscaler::Autoscaler(api::RestClient& client, Executor& executor, const FreeCapacity& capacity)
    : executor_(executor),
      capacity_(capacity),
      requests_(client, executor, api::kProvisioningRequests),
      templates_(client, executor, api::kPodTemplates),
      writer_(client, executor) {
  requests_.on_change([this](const JsonPtr& old, const JsonPtr& now) { request_changed(old, now); });
}

Autoscaler::~Autoscaler() {
  for (const auto& [key, timer] : timers_) executor_.cancel(timer);
}

void Autoscaler::start(NodeGroup group) {
  group_ = std::move(group);
  templates_.start();
  requests_.start();
}

void Autoscaler::request_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = key_of(api::decode_meta(now ? *now : *old));
  if (now) return look_at(key);
  if (const auto it = timers_.find(key); it != timers_.end()) {
    executor_.cancel(it->second);
    timers_.erase(it);
  }
  bookings_.erase(key);
  arrived_.erase(key);
}

void Autoscaler::at(const std::string& key, Time when) {
  TimerId& timer = timers_[key];
  executor_.cancel(timer);
  timer = executor_.at(when, [this, key] { look_at(key); });
}

// Computes the next action from the request alone: its conditions and their transition times.
void Autoscaler::look_at(const std::string& key) {
  const JsonPtr object = requests_.get(key);
  if (!object) return;
  const Request request = decode_provisioning_request(*object);
  const auto is = [&](std::string_view type) { return api::is_true(request.conditions, type); };
  if (!known_class(request)) return;
  if (is(kFailed) || is(kCapacityRevoked)) {
    bookings_.erase(key);
    return;
  }
  const auto terms = provisioning_terms(request);
  if (!terms) return answer(request, kFailed, true, "InvalidParameters", terms.error().message);
  if (is(kProvisioned)) return keep_booking(key, request, *terms);
  if (!is(kAccepted)) return accept(request, *terms);
  const Time due = api::find_condition(request.conditions, kAccepted)->last_transition + delay_of(request, *terms);
  if (executor_.now() < due) return at(key, due);
  attempt(key, request, *terms, due);
}

Duration Autoscaler::delay_of(const Request& request, const ProvisioningTerms& terms) const {
  return terms.delay.value_or(request.class_name == kScaleUp ? group_.delay : Duration(0));
}

void Autoscaler::accept(const Request& request, const ProvisioningTerms& terms) {
  api::Conditions conditions = request.conditions;
  const Time now = executor_.now();
  conditions.push_back(
      {std::string(kAccepted), true, false, "Accepted", "The request is accepted", now, request.meta.generation});
  if (const Duration delay = delay_of(request, terms); delay > Duration(0)) {
    conditions.push_back({std::string(kProvisioned), false, false, "NotProvisioned",
                          "The room is expected at " + format_time(now + delay), now, request.meta.generation});
  }
  write(request, std::move(conditions));
}

void Autoscaler::attempt(const std::string& key, const Request& request, const ProvisioningTerms& terms, Time due) {
  if (terms.fails) return answer(request, kFailed, true, "FailedOnDemand", "The parameter fail-attempts says so");
  if (!making_.empty()) return;  // look_at() is called again when those nodes are usable
  const auto demand = demand_of(request);
  if (!demand) {
    if (executor_.now() < due + kTemplateWait) return at(key, executor_.now() + std::chrono::seconds(1));
    return answer(request, kFailed, true, "PodTemplateNotFound", "A pod template of the request does not exist");
  }
  const bool may_grow = request.class_name == kScaleUp;
  Plan plan = this->plan(key, *demand, may_grow);
  if (plan.missing > 0) {
    std::string message = fmt::format("Room is missing for {} of {} pods", plan.missing, plan.wanted);
    if (may_grow) message += fmt::format(", and {} more nodes can be made", plan.could_grow);
    return answer(request, kFailed, true, "CapacityIsNotFound", std::move(message));
  }
  if (!plan.nodes.empty()) return make(key, std::move(plan.nodes));
  bookings_[key] = *demand;  // before the watch shows the answer: other requests may be looked at meanwhile
  answer(request, kProvisioned, true, may_grow ? "CapacityIsProvisioned" : "CapacityIsFound",
         may_grow ? "The nodes are there" : "Room is found in the cluster");
}

std::optional<std::vector<Autoscaler::Demand>> Autoscaler::demand_of(const Request& request) const {
  std::vector<Demand> demand;
  for (const auto& pod_set : request.pod_sets) {
    const JsonPtr object = templates_.get(api::object_key(request.meta.ns, pod_set.pod_template));
    const Json* spec = object ? find_path(*object, {"template", "spec"}) : nullptr;
    if (spec == nullptr) return std::nullopt;
    demand.push_back({api::pod_requests(*spec), api::decode_node_constraints(*spec), pod_set.count});
  }
  return demand;
}

// The free capacity after the booked pods of all other requests are placed.
FreeCapacity Autoscaler::capacity_without_bookings(const std::string& except) const {
  FreeCapacity capacity = capacity_;
  for (const auto& [key, booking] : bookings_) {
    if (key == except) continue;
    const auto known = arrived_.find(key);
    auto arrived = known == arrived_.end() ? 0 : static_cast<std::int64_t>(known->second.size());
    std::int64_t number = 0;
    for (const auto& pods : booking) {
      const std::int64_t here = std::min(arrived, pods.count);
      arrived -= here;
      for (std::int64_t i = here; i < pods.count; ++i) {
        const std::string* node = capacity.choose(pods.requests, pods.constraints);
        if (node == nullptr) break;  // other pods took the capacity: a booking is no guarantee
        capacity.place(fmt::format("{}#{}", key, number++), *node, pods.requests);
      }
    }
  }
  return capacity;
}

Autoscaler::Plan Autoscaler::plan(const std::string& key, const std::vector<Demand>& demand, bool may_grow) const {
  Plan plan;
  FreeCapacity capacity = capacity_without_bookings(key);
  std::vector<Json> possible;
  for (int r = 1; may_grow && r <= group_.racks; ++r) {
    for (int n = 1; n <= group_.nodes_per_rack; ++n) {
      Json node = make_node(group_.block, r, n, group_.resources);
      if (!capacity.has_node(string_at(node, {"metadata", "name"}))) possible.push_back(std::move(node));
    }
  }
  auto next = possible.begin();
  for (const auto& pods : demand) {
    plan.wanted += pods.count;
    bool hopeless = false;
    for (std::int64_t i = 0; i < pods.count; ++i) {
      const std::string* node = capacity.choose(pods.requests, pods.constraints);
      if (node == nullptr && !hopeless && next != possible.end()) {
        Json ready = *next;
        ensure_path(ready, {"status", "conditions"}) =
            array_at(*corrected_status(*next, group_.resources, ""), {"conditions"});
        capacity.set_node(ready);
        node = capacity.choose(pods.requests, pods.constraints);
        if (node != nullptr) plan.nodes.push_back(*next++);
      }
      if (node == nullptr) {
        hopeless = true;  // such a pod does not fit even on an empty new node, or no new node is left
        ++plan.missing;
        continue;
      }
      capacity.place(fmt::format("{}#{}", key, plan.wanted - pods.count + i), *node, pods.requests);
    }
  }
  plan.could_grow = static_cast<std::int64_t>(possible.size());
  return plan;
}

void Autoscaler::make(const std::string& key, std::vector<Json> nodes) {
  making_for_ = key;
  for (const auto& node : nodes) making_.emplace(string_at(node, {"metadata", "name"}));
  for (const auto& node : nodes) create(node);
}

void Autoscaler::create(const Json& node) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = api::kNodes;
  request.body = node;
  writer_.send(std::move(request), [this, node] { create(node); });
}

void Autoscaler::node_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto name = string_at(now ? *now : *old, {"metadata", "name"});
  if (now && (!node_ready(*now) || corrected_taints(*now, ""))) return;  // not usable yet
  const auto it = making_.find(name);
  if (it == making_.end()) return;
  making_.erase(it);
  if (!making_.empty()) return;
  look_at(std::exchange(making_for_, {}));  // before other requests use the capacity
  for (const auto& request : requests_.list()) look_at(key_of(api::decode_meta(*request)));
}

void Autoscaler::pod_changed(const JsonPtr&, const JsonPtr& now) {
  if (!now || string_at(*now, {"spec", "nodeName"}).empty()) return;
  const auto request = string_at(*now, {"metadata", "annotations", kConsumeAnnotation});
  if (request.empty()) return;
  const std::string key = api::object_key(string_at(*now, {"metadata", "namespace"}), request);
  if (requests_.get(key) || !requests_.synced()) arrived_[key].emplace(string_at(*now, {"metadata", "uid"}));
}

// Handles a provisioned request: keeps its booking, lets it expire, or revokes the capacity.
void Autoscaler::keep_booking(const std::string& key, const Request& request, const ProvisioningTerms& terms) {
  const Time since = api::find_condition(request.conditions, kProvisioned)->last_transition;
  const Time now = executor_.now();
  const auto revoked = terms.revoke_after ? std::optional(since + *terms.revoke_after) : std::nullopt;
  if (revoked && *revoked <= now)
    return answer(request, kCapacityRevoked, true, "RevokedOnDemand", "The parameter revoke-after says so");
  if (api::is_true(request.conditions, kBookingExpired)) {
    bookings_.erase(key);
    if (revoked) at(key, *revoked);
    return;
  }
  const Time expires = since + terms.expire_after;
  if (expires <= now) {
    return answer(request, kBookingExpired, true, "CapacityReservationTimeExpired",
                  "The time is over for which the room was kept");
  }
  if (!bookings_.contains(key)) {
    if (auto demand = demand_of(request)) bookings_[key] = std::move(*demand);
  }
  at(key, revoked ? std::min(*revoked, expires) : expires);
}

void Autoscaler::answer(const Request& request, std::string_view type, bool status, std::string_view reason,
                        std::string message) {
  api::Conditions conditions = request.conditions;
  std::erase_if(conditions, [&](const api::Condition& c) { return c.type == type; });
  conditions.push_back({std::string(type), status, false, std::string(reason), std::move(message), executor_.now(),
                        request.meta.generation});
  write(request, std::move(conditions));
}

// Writes the whole list of conditions: custom resources support no strategic merge patch.
void Autoscaler::write(const Request& request, api::Conditions conditions) {
  api::RestRequest write;
  write.verb = api::Verb::kPatch;
  write.patch_type = api::PatchType::kMerge;
  write.resource = api::kProvisioningRequests;
  write.ns = request.meta.ns;
  write.name = request.meta.name;
  write.subresource = "status";
  write.body = JsonObject{{"metadata", JsonObject{{"resourceVersion", request.meta.resource_version}}},
                          {"status", JsonObject{{"conditions", api::encode_conditions(conditions)}}}};
  writer_.send(std::move(write), [this, key = key_of(request.meta)] { look_at(key); });
}

}  // namespace berth::cluster
