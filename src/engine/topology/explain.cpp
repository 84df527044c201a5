// Why a gang has no place: how much of it fits, and what excluded which nodes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "api/kueue/device_charge.h"
#include "engine/topology/places_impl.h"

namespace berth::engine {

using topology::DomainId;
using topology::Fitness;
using topology::LeafDomain;
using topology::RequestId;
using topology::TopologyLedger;
using topology::View;

namespace {

// The nodes that lack a resource.
struct Lacking {
  std::size_t nodes = 0;
  std::int64_t wanted = 0, most_free = 0;  // by one pod; on one of the nodes
};

std::string in_words(const std::string& resource, const Lacking& lack) {
  using api::kueue::kDevice, api::kueue::kDevicePart;
  const auto named = [&](std::string_view prefix) {  // without what only tells kinds of one class apart
    return resource.substr(prefix.size(), resource.find('\n') - prefix.size());
  };
  if (resource.starts_with(kDevice))
    return fmt::format("device class \"{}\" ({} per pod, at most {} free on a node)", named(kDevice), lack.wanted,
                       lack.most_free);
  if (resource.starts_with(kDevicePart)) return fmt::format("\"{}\" of devices", named(kDevicePart));
  return fmt::format("resource \"{}\"", resource);
}

// Excluded nodes by cause. Each node counts once, for the first cause that applies.
struct Excluded {
  std::size_t selector = 0, affinity = 0, domain = 0;
  std::map<std::string, std::size_t> taints;
  std::map<std::string, Lacking> resources;

  std::string text() const {
    std::vector<std::string> parts;
    if (selector > 0) parts.push_back(fmt::format("nodeSelector: {}", selector));
    if (affinity > 0) parts.push_back(fmt::format("affinity: {}", affinity));
    for (const auto& [taint, nodes] : taints) parts.push_back(fmt::format("taint \"{}\": {}", taint, nodes));
    if (domain > 0) parts.push_back(fmt::format("topologyDomain: {}", domain));
    for (const auto& [resource, lack] : resources)
      parts.push_back(fmt::format("{}: {}", in_words(resource, lack), lack.nodes));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
};

// The first resource by name that is short even for one pod.
struct Lack {
  std::string resource;  // "": none is
  std::int64_t wanted = 0, free = 0;
};

Lack lacking(const TopologyLedger& ledger, const LeafDomain& leaf_domain, RequestId request, bool on_empty) {
  const topology::RequestPool& requests = ledger.requests;
  Lack lack;
  if (const auto unknown = requests.unknown(request); unknown.valid())
    lack = {requests.names().name(unknown), requests.amount(request, unknown), 0};
  for (const topology::Cell& cell : requests.cells(request)) {
    const topology::Wide used = on_empty ? ledger.usage.used_without_workloads(leaf_domain, cell.column)
                                         : ledger.leaves.used(leaf_domain, cell.column);
    const topology::Wide free = ledger.leaves.allocatable(leaf_domain, cell.column) - used;
    if (free >= cell.amount) continue;
    const std::string& name = requests.names().name(requests.columns().resource(cell.column));
    if (lack.resource.empty() || name < lack.resource)
      lack = {name, cell.amount, static_cast<std::int64_t>(std::max<topology::Wide>(free, 0))};
  }
  return lack;
}

}  // namespace

std::string Places::Impl::exclusions(const Task& task, DomainId scope) {
  const View& view = *task.view;
  topology::NodeFilter filter(task.count.pod.constraints, view.tolerations());
  const RequestId request = ledger.requests.acquire(task.count.pod.requests);
  Excluded excluded;
  std::size_t total = 0;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const View::Domain& domain = view[DomainId(i)];
    if (domain.level != view.bottom_level() || domain.gone || !ledger.leaves.usable(ledger.leaves[domain.leaf_domain]))
      continue;
    const LeafDomain& leaf_domain = ledger.leaves[domain.leaf_domain];
    const std::size_t nodes = leaf_domain.group.valid() ? ledger.leaves.group_of(leaf_domain).members.size() : 1;
    total += nodes;
    if (leaf_domain.node.valid()) {
      const topology::Node& node = ledger.nodes[leaf_domain.node];
      const Fitness fitness = filter.look(node, ledger.nodes, ledger.strings);
      if (fitness == Fitness::kSelector) excluded.selector += nodes;
      if (fitness == Fitness::kAffinity) excluded.affinity += nodes;
      if (fitness == Fitness::kTaint) excluded.taints[filter.untolerated(node, ledger.nodes)] += nodes;
      if (fitness != Fitness::kFits) continue;
    }
    if (leaf_domain.banned || (scope.valid() && view.ancestor(DomainId(i), view[scope].level) != scope)) {
      excluded.domain += nodes;
      continue;
    }
    Lack lack = lacking(ledger, leaf_domain, request, task.count.on_empty);
    if (lack.resource.empty() && view.nodes_below())
      lack = lacking(ledger, ledger.leaves[view[domain.parent].leaf_domain], request, task.count.on_empty);
    if (lack.resource.empty()) continue;
    Lacking& so_far = excluded.resources[lack.resource];
    so_far.nodes += nodes;
    so_far.wanted = lack.wanted;
    so_far.most_free = std::max(so_far.most_free, lack.free);
  }
  ledger.requests.release(request);
  const std::string text = excluded.text();
  return text.empty() ? "" : fmt::format(". Total nodes: {}; excluded: {}", total, text);
}

std::string Places::Impl::describe(const Task& task, const PlaceFailure& failure, DomainId scope) {
  if (!failure.text.empty()) return failure.text;
  const std::string unit = failure.slices ? "slice(s)" : "pod(s)";
  std::string text = failure.fits == 0 ? fmt::format("topology \"{}\" doesn't allow to fit any of {} {}",
                                                     task.view->topology(), failure.wanted, unit)
                                       : fmt::format("topology \"{}\" allows to fit only {} out of {} {}",
                                                     task.view->topology(), failure.fits, failure.wanted, unit);
  if (task.wanted.layered) {
    std::vector<std::string> layers{
        fmt::format("{} pods per {}", task.wanted.slice_size, task.view->levels()[task.wanted.slice_level])};
    for (std::size_t level = task.wanted.slice_level + 1; level <= task.view->leaf_level(); ++level) {
      const bool lowest = level == task.view->leaf_level() || task.wanted.inner[level + 1] != task.wanted.inner[level];
      if (lowest && task.wanted.inner[level] > 1) {
        layers.push_back(fmt::format("{} per {}", task.wanted.inner[level], task.view->levels()[level]));
      }
    }
    text += fmt::format(" in layers of {}", fmt::join(layers, ", "));
  }
  return text + exclusions(task, scope);
}

std::string Places::explain(std::span<const PlaceRequest> requests, const PlaceFailure& failure) {
  if (!failure.text.empty()) return failure.text;
  Impl& impl = *impl_;
  const auto jobs = impl.jobs_of(requests);
  if (!jobs) return jobs.error().text;
  Placement before;
  before.pod_sets.resize(requests.size());
  std::string text;
  for (const Impl::Job& job : *jobs) {
    if (job.workers == failure.ask) {
      const auto task = impl.task_of(requests, job, requests[job.workers].count, false);
      text = task ? impl.describe(*task, failure, DomainId()) : task.error();
      break;
    }
    if (!impl.place_job(requests, job, false, before)) break;
    impl.assume(requests[job.workers], before.pod_sets[job.workers].places);
    if (job.leader != Impl::kNone) impl.assume(requests[job.leader], before.pod_sets[job.leader].places);
  }
  impl.ledger.claims.unreserve(topology::kAssumed);
  if (!text.empty()) return text;
  return fmt::format("{} of {} fit", failure.fits,
                     failure.wanted);  // the state has changed: the pod sets before it do not fit any more
}

}  // namespace berth::engine
