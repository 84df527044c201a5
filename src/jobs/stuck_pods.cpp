#include "jobs/stuck_pods.h"

#include <algorithm>
#include <tuple>

#include "api/core/node_labels.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_placement.h"
#include "jobs/placed_pods.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

// None of its pods should run, and its job is not being stopped at this moment.
bool is_not_admitted(const Workload& workload) {
  const auto& conditions = workload.status.conditions;
  return !workload.meta.deletion && !api::is_true(conditions, kAdmitted) && !api::is_true(conditions, kEvicted) &&
         !api::is_true(conditions, kFinished);
}

}  // namespace

bool waits_for_binding(const Json& pod) {
  return string_at(pod, {"spec", "nodeName"}).empty() && array_at(pod, {"spec", "schedulingGates"}).empty() &&
         string_at(pod, {"status", "phase"}, "Pending") == "Pending" && !pod_terminating(pod);
}

namespace {

bool is_lost(const Workload& workload, std::string_view node, const HostFacts& hosts) {
  const auto& bad = workload.status.unhealthy_nodes;
  return !hosts.exists(node) || std::find(bad.begin(), bad.end(), node) != bad.end();
}

// Without a topology request, the node selector of a pod comes from its owner.
bool requests_a_place(const Json& pod) { return api::kueue::decode_pod_placement(pod).wants_places; }

std::string_view pod_set_label(const Json& pod) { return string_at(pod, {"metadata", "labels", kPodSetLabel}); }

}  // namespace

std::vector<StuckPod> stuck_pods(const Workload& workload, const std::vector<JsonPtr>& pods, const HostFacts& hosts) {
  std::vector<StuckPod> out;
  const auto add = [&](const auto& is_stuck) {
    for (const auto& pod : pods) {
      const auto node = string_at(*pod, {"spec", "nodeSelector", api::kHostnameLabel});
      if (!node.empty() && waits_for_binding(*pod) && is_stuck(*pod, node)) out.push_back({pod, std::string(node)});
    }
  };
  if (is_not_admitted(workload)) add([](const Json& pod, std::string_view) { return requests_a_place(pod); });
  if (lets_pods_go(workload)) {
    std::vector<Domains> on_nodes;
    for (const auto& assignment : workload.status.admission->pod_set_assignments) {
      const auto& places = assignment.topology_assignment;
      if (!places || places->levels.empty() || places->levels.back() != api::kHostnameLabel) continue;
      const Domains& domains = on_nodes.emplace_back(*places);
      add([&](const Json& pod, std::string_view node) {
        return pod_set_label(pod) == assignment.name && (is_lost(workload, node, hosts) || !domains.of_pod(pod));
      });
    }
    // A pod that somebody else made may not say to which pod set it belongs.
    add([&](const Json& pod, std::string_view node) {
      const auto has_it = [&](const Domains& domains) { return domains.of_pod(pod).has_value(); };
      return !on_nodes.empty() && pod_set_label(pod).empty() && requests_a_place(pod) &&
             (is_lost(workload, node, hosts) || std::ranges::none_of(on_nodes, has_it));
    });
  }
  const auto order = [](const StuckPod& stuck) {
    return std::tuple(string_at(*stuck.pod, {"metadata", "name"}), string_at(*stuck.pod, {"metadata", "uid"}));
  };
  std::sort(out.begin(), out.end(), [&](const StuckPod& a, const StuckPod& b) { return order(a) < order(b); });
  return out;
}

std::string failure_message(const StuckPod& stuck) {
  return "Terminated by Kueue: the pod cannot be scheduled on its assigned node \"" + stuck.node + "\"";
}

Json failed_status(const StuckPod& stuck, Time now) {
  JsonArray conditions = array_at(*stuck.pod, {"status", "conditions"});
  conditions.push_back(JsonObject{{"type", "TerminatedByKueue"},
                                  {"status", "True"},
                                  {"reason", "UnschedulableOnAssignedNode"},
                                  {"message", failure_message(stuck)},
                                  {"lastTransitionTime", format_time(now)}});
  return JsonObject{{"phase", "Failed"}, {"conditions", std::move(conditions)}};
}

}  // namespace berth::jobs
