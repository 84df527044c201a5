#include "jobs/ungate.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/core/scheduling.h"
#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "jobs/placed_pods.h"
#include "jobs/slices.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number of ranks before the pod set. In a group of two pod sets, workers are numbered after the leader, which is
// the pod set with fewer pods, or the second of two equal ones.
std::int64_t leaders_before(const Workload& workload, const PodSet& pod_set) {
  if (!pod_set.topology_request || pod_set.topology_request->pod_set_group_name.empty()) return 0;
  const PodSet* leader = nullptr;
  int members = 0;
  for (const auto& other : workload.pod_sets) {
    if (!other.topology_request ||
        other.topology_request->pod_set_group_name != pod_set.topology_request->pod_set_group_name)
      continue;
    ++members;
    if (!leader || other.count <= leader->count) leader = &other;
  }
  return members == 2 && leader != &pod_set ? leader->count : 0;
}

struct Member {
  JsonPtr pod;
  std::size_t kind = 0;               // of its tolerations
  std::optional<std::int64_t> rank;   // nullopt when it has no valid index
  std::optional<std::size_t> domain;  // the domain it was ungated for
  bool gated = false;
  bool terminating = false;

  auto order() const {
    return std::tuple(rank.value_or(INT64_MAX), string_at(*pod, {"metadata", "name"}),
                      string_at(*pod, {"metadata", "uid"}));
  }
};

// Assigns the pods of one pod set to its places.
class Placing {
 public:
  Placing(const Workload& workload, const PodSet& pod_set, const PodSetAssignment& assignment,
          const std::vector<JsonPtr>& pods, const HostFacts& hosts)
      : workload_(workload),
        pod_set_(pod_set),
        assignment_(assignment),
        hosts_(hosts),
        domains_(*assignment.topology_assignment),
        free_(domains_.size()) {
    for (std::size_t d = 0; d < domains_.size(); ++d) free_[d] = domains_.at(d).count;
    for (const auto& pod : pods) {
      if (string_at(*pod, {"metadata", "labels", kPodSetLabel}) == assignment.name && !api::pod_ended(*pod)) add(pod);
    }
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.order() < b.order(); });
  }

  void release(Releases& out) {
    const bool by_rank = ranks_hold();
    for (const Member& member : members_) {
      if (!member.gated || member.terminating) continue;
      const auto domain = by_rank ? std::optional(domains_.of_rank(*member.rank)) : next_free(kinds_[member.kind], out);
      if (!domain || free_[*domain] <= 0 || !may_go_to(*domain, kinds_[member.kind], out)) continue;
      --free_[*domain];
      out.pods.push_back({member.pod, selector(*domain), {kTopologyGate, kElasticGate}});
    }
  }

 private:
  // Pods with the same tolerations. Usually all pods of a pod set.
  struct Kind {
    std::vector<api::Toleration> tolerations;
    std::size_t next = 0;  // no domain before it has a place for these pods
  };

  void add(const JsonPtr& pod) {
    Member member{pod, kind_of(*pod), rank_of(*pod), std::nullopt, has_topology_gate(*pod), pod_terminating(*pod)};
    if (!member.gated) member.domain = domains_.of_pod(*pod);
    if (member.domain) --free_[*member.domain];
    members_.push_back(std::move(member));
  }

  std::size_t kind_of(const Json& pod) {
    const Json* list = find_path(pod, {"spec", "tolerations"});
    auto tolerations = list != nullptr ? api::decode_tolerations(*list) : std::vector<api::Toleration>();
    const auto known = std::ranges::find(kinds_, tolerations, &Kind::tolerations);
    if (known != kinds_.end()) return static_cast<std::size_t>(known - kinds_.begin());
    kinds_.push_back({std::move(tolerations), 0});
    return kinds_.size() - 1;
  }

  std::optional<std::int64_t> rank_of(const Json& pod) const {
    if (!pod_set_.topology_request || pod_set_.topology_request->pod_index_label.empty()) return std::nullopt;
    const TopologyRequest& request = *pod_set_.topology_request;
    const auto label = [&](std::string_view key) { return number(string_at(pod, {"metadata", "labels", key})); };
    auto rank = label(request.pod_index_label);
    if (!rank || *rank < 0 || *rank > INT32_MAX) return std::nullopt;
    if (!request.sub_group_index_label.empty() && request.sub_group_count.value_or(0) > 0) {
      const auto group = label(request.sub_group_index_label);
      if (!group || *group < 0 || *group > INT32_MAX) return std::nullopt;
      *rank += *group * (assignment_.count / *request.sub_group_count);
    }
    const auto offset = number(string_at(pod, {"metadata", "annotations", kPodIndexOffset}));
    if (offset && (*offset < 0 || *offset > INT32_MAX)) return std::nullopt;
    return *rank - (offset ? *offset : leaders_before(workload_, pod_set_));
  }

  // Whether all pods that do not terminate have valid and distinct ranks, and all ungated pods are in the domain of
  // their rank.
  bool ranks_hold() const {
    std::set<std::int64_t> seen;
    for (const Member& member : members_) {
      if (member.terminating) continue;
      if (!member.rank || *member.rank < 0 || *member.rank >= domains_.pods()) return false;
      if (!seen.insert(*member.rank).second) return false;
      if (!member.gated && member.domain != domains_.of_rank(*member.rank)) return false;
    }
    return true;
  }

  std::optional<std::size_t> next_free(Kind& kind, Releases& out) const {
    std::size_t& next = kind.next;
    while (next < domains_.size() && (free_[next] <= 0 || !may_go_to(next, kind, out))) ++next;
    return next < domains_.size() ? std::optional(next) : std::nullopt;
  }

  bool may_go_to(std::size_t domain, const Kind& kind, Releases& out) const {
    const auto hostname = domains_.hostname(domain);
    if (hostname.empty()) return true;
    const auto& bad = workload_.status.unhealthy_nodes;
    // Not waiting for the node: the workload will change.
    if (std::find(bad.begin(), bad.end(), hostname) != bad.end()) return false;
    if (hosts_.usable(hostname, kind.tolerations)) return true;
    out.wait_for_nodes = true;
    return false;
  }

  api::StringMap selector(std::size_t domain) const {
    api::StringMap out;
    const auto& levels = assignment_.topology_assignment->levels;
    for (std::size_t l = 0; l < levels.size(); ++l) out.emplace(levels[l], domains_.at(domain).values[l]);
    return out;
  }

  const Workload& workload_;
  const PodSet& pod_set_;
  const PodSetAssignment& assignment_;
  const HostFacts& hosts_;
  Domains domains_;
  // The places of each domain that no pod holds; negative when too many pods hold places.
  std::vector<std::int64_t> free_;
  std::vector<Member> members_;  // sorted by Member::order()
  std::vector<Kind> kinds_;
};

// The pods of an elastic job's pod set that run or may run: the granted number of them.
std::vector<JsonPtr> granted_pods(const std::vector<JsonPtr>& pods, const PodSet& pod_set,
                                  const PodSetAssignment& assignment) {
  std::vector<JsonPtr> granted, gated;
  for (const auto& pod : pods) {
    if (string_at(*pod, {"metadata", "labels", kPodSetLabel}) != pod_set.name || api::pod_ended(*pod)) continue;
    if (!has_elastic_gate(*pod)) {
      granted.push_back(pod);
    } else if (!pod_terminating(*pod)) {
      gated.push_back(pod);
    }
  }
  const auto order = [](const JsonPtr& pod) {
    return std::pair(string_at(*pod, {"metadata", "name"}), string_at(*pod, {"metadata", "uid"}));
  };
  std::ranges::sort(gated, {}, order);
  const auto limit = static_cast<std::size_t>(std::max(0, std::min(pod_set.count, assignment.count)));
  for (const auto& pod : gated) {
    if (granted.size() >= limit) break;
    granted.push_back(pod);
  }
  return granted;
}

}  // namespace

bool lets_pods_go(const Workload& workload) {
  const auto& conditions = workload.status.conditions;
  if (!workload.status.admission || !api::is_true(conditions, kAdmitted) || api::is_true(conditions, kEvicted) ||
      api::is_true(conditions, kFinished))
    return false;
  if (is_slice(workload)) return true;
  const auto& assignments = workload.status.admission->pod_set_assignments;
  return std::any_of(assignments.begin(), assignments.end(),
                     [](const PodSetAssignment& one) { return one.topology_assignment != nullptr; });
}

Releases releases(const Workload& workload, const std::vector<JsonPtr>& pods, const HostFacts& hosts) {
  Releases out;
  if (!lets_pods_go(workload)) return out;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    const auto pod_set = std::find_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                                      [&](const PodSet& one) { return one.name == assignment.name; });
    if (pod_set == workload.pod_sets.end()) continue;
    const bool elastic = is_slice(workload);
    const std::vector<JsonPtr> granted = elastic ? granted_pods(pods, *pod_set, assignment) : std::vector<JsonPtr>();
    if (assignment.topology_assignment)
      Placing(workload, *pod_set, assignment, elastic ? granted : pods, hosts).release(out);
    for (const auto& pod : granted) {
      if (has_elastic_gate(*pod) && !(assignment.topology_assignment && has_topology_gate(*pod)))
        out.pods.push_back({pod, {}, {kElasticGate}});
    }
  }
  return out;
}

}  // namespace berth::jobs
