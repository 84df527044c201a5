// The facade: configuration and claims go to the ledger, queries to the counts and the chooser.
#include "engine/topology/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/core/node_labels.h"
#include "engine/topology/places_impl.h"

namespace berth::engine {

using topology::DomainId;
using topology::View;

Places::Places(Names& names, TopologyOptions options) : impl_(std::make_unique<Impl>(names, options)) {}
Places::Places(const Places& other, Names& names, bool with_nodes) {
  if (with_nodes) {
    impl_ = std::make_unique<Impl>(*other.impl_, names);
    return;
  }
  impl_ = std::make_unique<Impl>(names, other.impl_->options);
  impl_->topologies = other.impl_->topologies;
  impl_->flavors = other.impl_->flavors;
  for (std::size_t i = 0; i < impl_->flavors.size(); ++i) {
    if (impl_->flavors[i]) impl_->make_view(FlavorId(i));
  }
}
Places::~Places() = default;

// --- Cluster state

bool Places::set_node(const api::Node& node) { return impl_->ledger.set_node(node); }
bool Places::remove_node(std::string_view name) { return impl_->ledger.remove_node(name); }

void Places::Impl::make_view(FlavorId flavor) {
  counts.forget(flavor);
  const auto& spec = flavors[flavor.index()];
  const auto it = spec ? topologies.find(spec->topology_name) : topologies.end();
  std::unique_ptr<View> view;
  if (it != topologies.end() && !it->second.levels.empty()) {
    view = std::make_unique<View>(ledger.strings, flavor, *spec, it->second, options.every_node);
    view->relieved = true;
  }
  ledger.tree_leaves.set_view(flavor, std::move(view));
}

bool Places::Impl::renew_views(const std::string& topology) {
  bool changed = false;
  for (std::size_t i = 0; i < flavors.size(); ++i) {
    if (!flavors[i] || flavors[i]->topology_name != topology) continue;
    make_view(FlavorId(i));
    changed = true;
  }
  return changed;
}

bool Places::set_topology(const api::kueue::Topology& topology) {
  const auto it = impl_->topologies.find(topology.meta.name);
  if (it != impl_->topologies.end() && it->second.levels == topology.levels) return false;
  impl_->topologies[topology.meta.name] = topology;
  return impl_->renew_views(topology.meta.name);
}

bool Places::remove_topology(std::string_view name) {
  const auto it = impl_->topologies.find(name);
  if (it == impl_->topologies.end()) return false;
  const std::string gone = it->first;
  impl_->topologies.erase(it);
  return impl_->renew_views(gone);
}

bool Places::set_flavor(FlavorId id, const api::kueue::ResourceFlavor& flavor) {
  auto& flavors = impl_->flavors;
  if (flavors.size() <= id.index()) flavors.resize(id.index() + 1);
  auto& slot = flavors[id.index()];
  if (slot && slot->topology_name == flavor.topology_name && slot->node_labels == flavor.node_labels &&
      slot->tolerations == flavor.tolerations) {
    return false;
  }
  const bool placed = slot && !slot->topology_name.empty();
  slot = flavor;
  impl_->make_view(id);
  return placed || !flavor.topology_name.empty();
}

bool Places::remove_flavor(FlavorId id) {
  if (id.index() >= impl_->flavors.size() || !impl_->flavors[id.index()]) return false;
  const bool placed = !impl_->flavors[id.index()]->topology_name.empty();
  impl_->flavors[id.index()].reset();
  impl_->make_view(id);
  return placed;
}

bool Places::set_pod(const api::kueue::PodPlacement& pod) {
  if (!impl_->options.host_ports || pod.host_ports.empty()) return impl_->ledger.set_pod(pod);
  api::kueue::PodPlacement with_ports = pod;
  with_ports.requests.insert(pod.host_ports.begin(), pod.host_ports.end());
  std::vector<ResourceAmount> amounts;
  for (const auto& [name, quantity] : with_ports.requests)
    amounts.push_back({impl_->names.resource(name), to_amount(name, quantity)});
  impl_->ledger.know(amounts);
  return impl_->ledger.set_pod(with_ports);
}
bool Places::remove_pod(std::string_view uid) { return impl_->ledger.remove_pod(uid); }
bool Places::set_devices(std::string_view node, const api::ResourceList& devices) {
  return impl_->ledger.set_devices(node, devices);
}
bool Places::set_taken_devices(const api::kueue::PodPlacement& claim) { return impl_->ledger.set_taken(claim); }

// --- Claims

void Places::take(WorkloadId workload, std::string_view holder, std::vector<Placed> placed, Labels labels) {
  topology::TopologyLedger& ledger = impl_->ledger;
  for (const Placed& each : placed) impl_->know(each.per_pod);
  ledger.claims.take(workload, holder, placed, std::move(labels));
  impl_->note_shares();
  for (const Placed& each : placed) {
    const topology::RequestId request = ledger.requests.acquire(each.per_pod);
    for (const Place& place : each.places) {
      if (impl_->overfull.size() == Impl::kMaxOverfull || ledger.usage.claims_fit(place.leaf_domain, request)) continue;
      impl_->overfull.push_back(
          fmt::format("workload {} took more of leaf domain {} than there is", holder, place.leaf_domain.value));
    }
    ledger.requests.release(request);
  }
}

void Places::take_stated(WorkloadId workload, std::string_view holder, const std::vector<StatedPlaces>& stated,
                         Labels labels) {
  std::vector<Placed> placed;
  for (const StatedPlaces& each : stated) {
    if (!each.assignment || each.assignment->levels.empty()) continue;
    impl_->know(each.per_pod);
    Placed made{impl_->names.flavor(each.flavor), each.per_pod, {}, each.unit};
    const auto& levels = each.assignment->levels;
    for (const api::kueue::TopologyDomain& domain : each.assignment->domains) {
      if (domain.count <= 0 || domain.values.size() != levels.size()) continue;
      const LeafDomainId leaf_domain = levels.back() == api::kHostnameLabel
                                           ? impl_->ledger.leaves.host(domain.values.back())
                                           : impl_->ledger.leaves.group(each.flavor, levels, domain.values);
      made.places.push_back({leaf_domain, domain.count});
    }
    placed.push_back(std::move(made));
  }
  impl_->ledger.claims.take(workload, holder, placed, std::move(labels));
  impl_->note_shares();
}

void Places::give_back(WorkloadId workload) {
  impl_->ledger.claims.give_back(workload);
  impl_->note_shares();
}
void Places::give_back_with_pods(WorkloadId workload) {
  impl_->ledger.pods.remove_all_of(impl_->ledger.holders.of(workload));
  impl_->ledger.claims.give_back(workload);
  impl_->note_shares();
}
bool Places::holds(WorkloadId workload) const { return impl_->ledger.holders.of(workload).valid(); }

void Places::hold(const std::vector<Placed>& placed) {
  for (const Placed& each : placed) {
    const topology::RequestId request = impl_->ledger.requests.acquire(each.per_pod);
    impl_->ledger.claims.reserve(topology::kHolds, request, each.places);
    impl_->ledger.requests.release(request);
  }
}
void Places::drop_holds() { impl_->ledger.claims.unreserve(topology::kHolds); }

std::vector<FlavorId> Places::take_reliefs() {
  std::vector<FlavorId> relieved;
  for (auto& view : impl_->ledger.views.all()) {
    if (!view || !view->relieved) continue;
    relieved.push_back(view->flavor());
    view->relieved = false;
  }
  std::sort(relieved.begin(), relieved.end(),
            [&](FlavorId a, FlavorId b) { return impl_->names.name(a) < impl_->names.name(b); });
  return relieved;
}

Places::Trial::Trial(Places& places) : places_(places), mark_(places.impl_->ledger.suppositions.size()) {}
Places::Trial::~Trial() { places_.impl_->ledger.suppositions.undo(mark_); }
void Places::Trial::without(WorkloadId workload) {
  const topology::HolderId holder = places_.impl_->ledger.holders.of(workload);
  if (holder.valid()) places_.impl_->ledger.suppositions.suppose(holder, true);
}
void Places::Trial::again(WorkloadId workload) {
  const topology::HolderId holder = places_.impl_->ledger.holders.of(workload);
  if (holder.valid()) places_.impl_->ledger.suppositions.suppose(holder, false);
}
std::optional<Time> Places::Trial::without_leaving_pods(Time now, bool only_looks) {
  topology::TopologyLedger& ledger = places_.impl_->ledger;
  std::optional<Time> first;
  for (const topology::HolderId holder : ledger.holders.leaving()) {
    const Time until = ledger.holders.wait_ends(holder, now, only_looks);
    if (until <= now) continue;
    if (!first || until < *first) first = until;
    ledger.suppositions.suppose(holder, true);
  }
  return first;
}
void Places::Trial::without_holds() { places_.impl_->ledger.suppositions.suppose(topology::kHolds, true); }

// --- Questions

bool Places::places_pods(FlavorId flavor) const {
  return flavor.index() < impl_->flavors.size() && impl_->flavors[flavor.index()] &&
         !impl_->flavors[flavor.index()]->topology_name.empty();
}

std::string Places::mismatch(FlavorId flavor, const api::kueue::TopologyRequest* request, std::int32_t count) const {
  const std::string& name = impl_->names.name(flavor);
  if (!places_pods(flavor)) {
    if (!request || !request->explicit_request()) return "";
    return fmt::format("Flavor \"{}\" does not support TopologyAwareScheduling", name);
  }
  const View* view = impl_->ledger.views.find(flavor);
  if (!view) return fmt::format("Flavor \"{}\" information missing in TAS cache", name);
  const auto wanted = topology::understand(*view, name, request, count, impl_->options);
  return wanted ? "" : wanted.error();
}

api::kueue::TopologyAssignmentPtr Places::assignment(const Placed& placed) const {
  if (placed.places.empty()) return nullptr;
  auto made = std::make_shared<api::kueue::TopologyAssignment>();
  for (const Place& place : placed.places) {
    const topology::LeafDomain& leaf_domain = impl_->ledger.leaves[place.leaf_domain];
    if (leaf_domain.group.valid()) {
      const topology::Group& group = impl_->ledger.leaves.group_of(leaf_domain);
      made->levels = group.levels;
      made->domains.push_back({group.values, place.pods});
    } else {
      made->levels = {std::string(api::kHostnameLabel)};
      made->domains.push_back({{impl_->ledger.strings[leaf_domain.host]}, place.pods});
    }
  }
  return made;
}

}  // namespace berth::engine
