#include "embedded/simulate/placed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "api/core/node_labels.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/types.h"
#include "embedded/simulate/members.h"

namespace berth::simulate {
namespace {

// One lowest domain of the assignment: its level values, plus the labels of its node.
struct Where {
  api::StringMap labels;
  std::int64_t pods = 0;
};

api::StringMap labels_of(const api::kueue::TopologyAssignment& assignment, const api::kueue::TopologyDomain& domain,
                         const std::vector<Json>& nodes, std::vector<std::string>& out) {
  api::StringMap labels;
  for (std::size_t i = 0; i < assignment.levels.size() && i < domain.values.size(); ++i)
    labels[assignment.levels[i]] = domain.values[i];
  const auto host = labels.find(api::kHostnameLabel);
  if (host == labels.end()) return labels;
  for (const auto& node : nodes) {
    if (string_at(node, {"metadata", "labels", api::kHostnameLabel}) != host->second) continue;
    auto all = api::decode_meta(node).labels;
    all.insert(labels.begin(), labels.end());
    return all;
  }
  out.push_back("it is placed on " + host->second + ", and there is no such node");
  return labels;
}

class Check {
 public:
  Check(const PlacedExpectation& expected, const std::vector<Json>& nodes, const std::vector<Json>& pods)
      : expected_(expected), nodes_(nodes), pods_(pods) {}

  std::vector<std::string> run(const api::kueue::Workload& workload) {
    if (workload.status.admission) {
      for (const auto& pod_set : workload.status.admission->pod_set_assignments) {
        if (!expected_.pod_set.empty() && pod_set.name != expected_.pod_set) continue;
        if (!pod_set.topology_assignment) continue;
        assigned_ = true;
        for (const auto& domain : pod_set.topology_assignment->domains)
          places_.push_back({labels_of(*pod_set.topology_assignment, domain, nodes_, out_), domain.count});
      }
    }
    if (assigned_ != expected_.assigned) {
      out_.emplace_back(assigned_ ? "it has places, expected none" : "it has no places");
      return std::move(out_);
    }
    for (const auto& [label, count] : expected_.domains) {
      const auto values = values_of(label);
      if (static_cast<std::int64_t>(values.size()) != count)
        out_.push_back(fmt::format("its places are in {} of {} ({}), expected {}", values.size(), label,
                                   fmt::join(values, ", "), count));
    }
    for (const auto& [label, wanted] : expected_.on) {
      const auto values = values_of(label);
      if (values != std::set<std::string>(wanted.begin(), wanted.end()))
        out_.push_back(fmt::format("its places are in {} [{}], expected [{}]", label, fmt::join(values, ", "),
                                   fmt::join(wanted, ", ")));
    }
    check_pods();
    return std::move(out_);
  }

 private:
  std::set<std::string> values_of(const std::string& label) const {
    std::set<std::string> values;
    for (const auto& place : places_) {
      const auto it = place.labels.find(label);
      values.insert(it == place.labels.end() ? "(none)" : it->second);
    }
    return values;
  }

  bool belongs(const Json& pod) const {
    const auto label = [&](std::string_view key) { return string_at(pod, {"metadata", "labels", key}); };
    return label("batch.kubernetes.io/job-name") == expected_.job || label(api::kueue::kPodGroupName) == expected_.job;
  }

  void check_pods() {
    std::int64_t holding = 0;
    std::vector<std::int64_t> used(places_.size());
    for (const auto& pod : pods_) {
      const auto placement = api::kueue::decode_pod_placement(pod);
      if (placement.ns != expected_.ns || !belongs(pod) || !placement.bound || placement.terminated ||
          placement.terminating || (!expected_.pod_set.empty() && placement.pod_set != expected_.pod_set))
        continue;
      ++holding;
      check_pod(placement, used);
    }
    if (expected_.pods && holding != *expected_.pods)
      out_.push_back(fmt::format("{} of its pods hold nodes, expected {}", holding, *expected_.pods));
  }

  // Counts the pod in the first matching domain that is not full yet; the domains of one pod set do not overlap.
  void check_pod(const api::kueue::PodPlacement& pod, std::vector<std::int64_t>& used) {
    const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                   [&](const Json& n) { return string_at(n, {"metadata", "name"}) == pod.node; });
    if (places_.empty() || node == nodes_.end()) return;
    const auto labels = api::decode_meta(*node).labels;
    bool inside = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto& place = places_[i].labels;
      const bool here = std::all_of(place.begin(), place.end(), [&](const auto& label) {
        const auto it = labels.find(label.first);
        return it != labels.end() && it->second == label.second;
      });
      inside = inside || here;
      if (here && used[i] < places_[i].pods) {
        ++used[i];
        return;
      }
    }
    out_.push_back(fmt::format("its pod {} is on {}, {}", pod.name, pod.node,
                               inside ? "one too many for that place" : "outside its places"));
  }

  const PlacedExpectation& expected_;
  const std::vector<Json>& nodes_;
  const std::vector<Json>& pods_;
  std::vector<Where> places_;
  bool assigned_ = false;
  std::vector<std::string> out_;
};

}  // namespace

Result<PlacedExpectation> parse_placed(const Json& value, const std::string& path) {
  if (auto known = known_members(value, path, {"job", "namespace", "podSet", "domains", "on", "pods", "assigned"});
      !known)
    return tl::unexpected(known.error());
  PlacedExpectation placed;
  placed.job = string_at(value, {"job"});
  if (placed.job.empty()) return fail(path + ".job: is missing");
  placed.ns = string_at(value, {"namespace"}, "default");
  placed.pod_set = string_at(value, {"podSet"});
  placed.assigned = bool_at(value, {"assigned"}, true);
  placed.pods = optional_int_at(value, {"pods"});
  for (const auto& [label, count] : object_at(value, {"domains"})) {
    if (!count.is_int64()) return fail(path + ".domains." + std::string(label) + ": expected a number");
    placed.domains[std::string(label)] = count.as_int64();
  }
  for (const auto& [label, names] : object_at(value, {"on"})) {
    auto& wanted = placed.on[std::string(label)];
    if (!names.is_array()) return fail(path + ".on." + std::string(label) + ": expected a list of names");
    for (const auto& name : names.as_array()) {
      if (!name.is_string()) return fail(path + ".on." + std::string(label) + ": expected a list of names");
      wanted.emplace_back(view(name.as_string()));
    }
  }
  return placed;
}

const Json* workload_of(const std::vector<Json>& workloads, std::string_view ns, std::string_view job) {
  const Json* best = nullptr;
  int best_rank = -1;
  for (const auto& workload : workloads) {
    if (string_at(workload, {"metadata", "namespace"}) != ns) continue;
    if (string_at(workload, {"metadata", "name"}) == job) return &workload;  // of a group of pods
    for (const auto& owner : array_at(workload, {"metadata", "ownerReferences"})) {
      if (string_at(owner, {"kind"}) != "Job" || string_at(owner, {"name"}) != job) continue;
      // Of the slices of an elastic job the one that holds quota, or else one that is not finished.
      const auto conditions = api::decode_conditions(Json(array_at(workload, {"status", "conditions"})));
      const int rank = api::is_true(conditions, "Finished") ? 0 : api::is_true(conditions, "QuotaReserved") ? 2 : 1;
      if (rank > best_rank) best = &workload, best_rank = rank;
    }
  }
  return best;
}

std::vector<std::string> placement_differences(const PlacedExpectation& expected, const std::vector<Json>& workloads,
                                               const std::vector<Json>& nodes, const std::vector<Json>& pods) {
  const Json* object = workload_of(workloads, expected.ns, expected.job);
  if (object == nullptr) return {"it has no workload"};
  const auto workload = api::kueue::decode_workload(*object);
  if (!workload) return {"its workload cannot be read: " + workload.error().message};
  return Check(expected, nodes, pods).run(*workload);
}

}  // namespace berth::simulate
