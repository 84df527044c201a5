#include "controller/device_places.h"

#include <algorithm>
#include <utility>

#include "api/kueue/pod_placement.h"
#include "api/resources.h"

namespace berth::controller {

using api::kueue::DeviceCharge;

namespace {

bool has_claims(const Json& pod) {
  return !array_at(pod, {"spec", "resourceClaims"}).empty() ||
         !object_at(pod, {"status", "extendedResourceClaimStatus"}).empty();
}

void add_to(api::ResourceList& sum, const api::ResourceList& each, std::int64_t count) {
  for (const auto& [name, amount] : each) {
    Quantity& so_far = sum[name];
    so_far = so_far + amount * count;
  }
}

}  // namespace

DevicePlaces::DevicePlaces(Shell& shell, jobs::devices::Inventory inventory, const jobs::devices::Rules& rules,
                           std::function<void()> needs_changed)
    : shell_(shell),
      inventory_(inventory),
      extended_(rules.extended_resources),
      needs_changed_(std::move(needs_changed)),
      claims_(shell.client, shell.executor, api::kResourceClaims, shell.informer_options(false),
              api::decode_resource_claim, &shell.unreadable),
      supply_(inventory, rules.taints) {
  claims_.on_change([this](const std::string&, const auto& old, const auto& now) { claim_changed(old, now); });
}

void DevicePlaces::start() {
  started_ = true;
  supply_.slices_changed();
  report();
}

// The pods of a workload exist before their claims are allocated; after a restart they may be seen later. A pod that is
// gone leaves its claim allocated for a moment: it is still its workload's.
DevicePlaces::Consumer DevicePlaces::consumer_of(const api::ResourceClaim& claim) const {
  Consumer out{claim.meta.ns, "", "", false};
  bool known = false;
  for (const std::string& uid : claim.reserved_for) {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end()) continue;
    if (out.node.empty()) out.node = pod->second.node;
    if (claim.reserved_for.size() == 1) {
      out.workload = pod->second.workload;
      out.placed = pod->second.placed;
    }
    known = true;
  }
  const auto before = consumers_.find(claim.meta.uid);
  return known || before == consumers_.end() ? out : before->second;
}

void DevicePlaces::file(const std::string& key, const api::ResourceClaim& claim, bool present) {
  for (const std::string& uid : claim.reserved_for) {
    if (present) {
      of_pod_[uid].insert(key);
      continue;
    }
    const auto it = of_pod_.find(uid);
    if (it == of_pod_.end()) continue;
    it->second.erase(key);
    if (it->second.empty()) of_pod_.erase(it);
  }
}

void DevicePlaces::claim_changed(const ClaimPtr& old, const ClaimPtr& now) {
  if (old) file(api::object_key(old->meta), *old, false);
  if (old && (!now || now->meta.uid != old->meta.uid)) {
    consumers_.erase(old->meta.uid);
    supply_.remove_claim(old->meta.uid);
  }
  if (now) {
    file(api::object_key(now->meta), *now, true);
    Consumer consumer = consumer_of(*now);
    if (now->allocation) {
      consumers_.insert_or_assign(now->meta.uid, consumer);
    } else {
      consumers_.erase(now->meta.uid);
    }
    supply_.set_claim(now, std::move(consumer));
  }
  report();
}

void DevicePlaces::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string uid(string_at(now ? *now : *old, {"metadata", "uid"}));
  const auto known = pods_.find(uid);
  if (!now || !has_claims(*now)) {
    if (known != pods_.end()) pods_.erase(known);
    return;
  }
  const auto placement = api::kueue::decode_pod_placement(*now);
  Consumer consumer{placement.ns, placement.workload, placement.bound ? placement.node : "",
                    placement.wants_places && placement.workload.empty()};
  if (known != pods_.end() && known->second == consumer) return;
  pods_.insert_or_assign(uid, std::move(consumer));
  const auto claims = of_pod_.find(uid);
  if (claims == of_pod_.end()) return;
  for (const std::string& key : std::set<std::string>(claims->second)) {
    if (const auto claim = claims_.get(key)) claim_changed(claim, claim);
  }
}

void DevicePlaces::node_changed(const std::string& name, const std::shared_ptr<const api::Node>& now) {
  if (now) {
    supply_.set_node(name, now->labels);
  } else {
    supply_.remove_node(name);
  }
  report();
}

void DevicePlaces::report() {
  if (!started_ || !supply_.changed()) return;
  auto changes = supply_.take_changes();
  for (auto& each : changes.claims) {
    if (each.consumer.placed) each.amounts.clear();
    shell_.feed(engine::DevicesTaken{each.claim, each.consumer.ns, each.consumer.workload, each.consumer.node,
                                     std::move(each.amounts)});
  }
  for (auto& [node, devices] : changes.nodes) shell_.feed(engine::NodeDevicesSeen{node, std::move(devices)});
  if (changes.needs) needs_changed_();
}

DevicePlaces::Needs DevicePlaces::needs_of(const api::kueue::Workload& workload) const {
  return jobs::devices::needs_of(workload, inventory_, extended_, supply_.taints());
}

void DevicePlaces::needs_changed(const Needs& before, const Needs& now) {
  for (const auto& need : now) supply_.use(need.kind);
  for (const auto& need : before) supply_.unuse(need.kind.name);
}

engine::Ptr<DeviceCharge> DevicePlaces::fill(const DeviceCharge& charge, const Needs& needs) const {
  auto out = std::make_shared<DeviceCharge>(charge);
  for (auto& pod_set : out->pod_sets) {
    pod_set.on_node.clear();
    pod_set.extended_on_node.clear();
  }
  for (const auto& need : needs) {
    const auto& each = supply_.each_of(need.kind.name);
    if (need.pod_set >= out->pod_sets.size() || each.empty()) continue;
    auto& pod_set = out->pod_sets[need.pod_set];
    if (need.extended.empty()) {
      add_to(pod_set.on_node, each, need.count);
    } else if (pod_set.extended.contains(need.extended)) {
      pod_set.extended_on_node.emplace(need.extended, each);
    }
  }
  return out;
}

}  // namespace berth::controller
