#include "cli/migrate/import_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/core/devices.h"
#include "api/core/pod_phase.h"
#include "api/core/pod_resources.h"
#include "api/kueue/job_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "engine/counted_requests.h"
#include "jobs/pods/single_pod.h"

namespace berth::cli::migrate {
namespace {

using api::kueue::ClusterQueue;
using api::kueue::FlavorQuotas;
using api::kueue::label_of;
using api::kueue::LocalQueue;
using api::kueue::ResourceGroup;
using api::kueue::StopPolicy;

constexpr std::string_view kPodsResource = "pods";

bool runs_no_more(const Json& pod) {
  return api::pod_ended(pod) || find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool has_flavor(const ResourceGroup& group, const std::string& name) {
  return std::ranges::find(group.flavors, name, &FlavorQuotas::name) != group.flavors.end();
}

jobs::JobFacts job_facts_of(const ImportFacts& facts, const ImportTerms& terms) {
  jobs::JobFacts out;
  const auto value_in = [](const std::map<std::string, std::int32_t>& values) {
    return [&values](std::string_view name) -> std::optional<std::int32_t> {
      const auto found = values.find(std::string(name));
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
  };
  out.workload_priority_class = value_in(facts.workload_priority_classes);
  out.priority_class = value_in(facts.priority_classes);
  out.global_default_priority_class = [&facts] { return facts.default_priority_class; };
  out.label_keys_to_copy = terms.configuration.label_keys_to_copy;
  return out;
}

// Judges one pod. Each step returns why the pod is refused, or goes on.
class Check {
 public:
  Check(const ImportFacts& facts, const ImportTerms& terms, QueuedOwners& owners, const Json& pod)
      : facts_(facts), terms_(terms), owners_(owners), pod_(pod) {
    out_.ns = string_at(pod, {"metadata", "namespace"});
    out_.name = string_at(pod, {"metadata", "name"});
  }

  Result<PodFinding> run() {
    const MappingRule* rule = rule_for(terms_.mapping, pod_);
    if (rule != nullptr && rule->skip) return end(PodVerdict::kSkipped, "a rule of the mapping skips it");
    if (std::string why = why_not_yet(); !why.empty()) return end(PodVerdict::kSkipped, std::move(why));
    if (rule == nullptr)
      return end(PodVerdict::kRefused, "no rule of the mapping matches its labels and priority class");
    auto queued = queued_elsewhere(*rule);
    if (!queued) return tl::unexpected(queued.error());
    std::string why = *queued;
    if (why.empty()) why = find_queues(*rule);
    if (why.empty()) why = compose();
    if (why.empty()) why = assign(*rule);
    if (why.empty()) why = compare();
    if (!why.empty()) return end(PodVerdict::kRefused, std::move(why));
    return end(out_.admitted && out_.labelled ? PodVerdict::kImported : PodVerdict::kReady, "");
  }

 private:
  PodFinding end(PodVerdict verdict, std::string reason) {
    out_.verdict = verdict;
    out_.reason = std::move(reason);
    return std::move(out_);
  }

  std::string why_not_yet() const {
    if (api::kueue::has_scheduling_gate(pod_, api::kueue::kAdmissionGate))
      return "it waits in a queue: it has the scheduling gate " + std::string(api::kueue::kAdmissionGate);
    if (string_at(pod_, {"spec", "nodeName"}).empty()) return "it has no node yet: import again when it runs";
    return "";
  }

  // Whether another workload counts the pod, or another queue is meant.
  Result<std::string> queued_elsewhere(const MappingRule& rule) {
    if (const auto queue = label_of(pod_, api::kueue::kQueueLabel); !queue.empty() && queue != rule.local_queue)
      return "its label " + std::string(api::kueue::kQueueLabel) + " names LocalQueue " + std::string(queue) +
             ", the mapping " + rule.local_queue;
    if (const auto group = api::kueue::pod_group_name(pod_); !group.empty())
      return "it belongs to the pod group " + std::string(group) + ": only single pods are imported";
    if (find_path(pod_, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr)
      return std::string("it is a mirror pod of its kubelet, which no queue can hold: skip it with a rule");
    auto owner = owners_.queued_owner(pod_);
    if (owner && !owner->empty())
      return "its owner " + *owner + " has a queue itself: the workload of the owner counts the pod";
    return owner;
  }

  std::string find_queues(const MappingRule& rule) {
    out_.local_queue = rule.local_queue;
    const auto local = facts_.local_queues.find(out_.ns + "/" + rule.local_queue);
    if (local == facts_.local_queues.end())
      return "there is no LocalQueue " + rule.local_queue + " in namespace " + out_.ns;
    if (local->second.stop_policy == StopPolicy::kHoldAndDrain)
      return "LocalQueue " + rule.local_queue + " is stopped with HoldAndDrain: the pod would be evicted";
    const std::string& name = local->second.cluster_queue;
    const auto seen = facts_.cluster_queues.find(name);
    if (seen == facts_.cluster_queues.end())
      return "LocalQueue " + rule.local_queue + " names ClusterQueue " + name + ", which does not exist";
    out_.cluster_queue = name;
    queue_ = &seen->second.queue;
    if (queue_->stop_policy == StopPolicy::kHoldAndDrain)
      return "ClusterQueue " + name + " is stopped with HoldAndDrain: the pod would be evicted";
    const Json& ns = facts_.namespaces.at(out_.ns);
    if (!queue_->namespace_selector || !queue_->namespace_selector->matches(object_at(ns, {"metadata", "labels"})))
      return "spec.namespaceSelector of ClusterQueue " + name + " does not select namespace " + out_.ns;
    return why_no_quota(*queue_);
  }

  std::string why_no_quota(const ClusterQueue& queue) const {
    const std::string name = "ClusterQueue " + queue.meta.name;
    if (queue.resource_groups.empty()) return name + " has no spec.resourceGroups: it has no quota";
    for (const auto& group : queue.resource_groups) {
      for (const auto& flavor : group.flavors) {
        if (!facts_.flavors.contains(flavor.name))
          return name + " names ResourceFlavor " + flavor.name + ", which does not exist";
      }
    }
    return "";
  }

  // The workload, as the controller would make it.
  std::string compose() {
    Json labelled = pod_;
    for (const auto& [key, value] : terms_.add_labels) ensure_path(labelled, {"metadata", "labels", key}) = value;
    ensure_path(labelled, {"metadata", "labels", api::kueue::kQueueLabel}) = out_.local_queue;
    const auto class_name = string_at(pod_, {"spec", "priorityClassName"});
    if (!class_name.empty() && !facts_.priority_classes.contains(std::string(class_name)))
      return "its spec.priorityClassName names PriorityClass " + std::string(class_name) + ", which does not exist";
    const Json* spec = find(pod_, "spec");
    if (spec != nullptr && api::uses_devices(*spec))
      return std::string("it has spec.resourceClaims: devices of running pods cannot be counted");
    auto made = jobs::workload_of_running(labelled, job_facts_of(facts_, terms_));
    if (!made) return made.error().message;
    out_.workload = std::move(*made);
    for (const auto& [key, value] : terms_.add_labels) out_.workload.meta.labels.insert_or_assign(key, value);
    out_.workload.meta.annotations.insert_or_assign(std::string(api::kueue::kAdmissionGatedBy),
                                                    std::string(kImportGate));
    return "";
  }

  // The flavor of each requested resource.
  std::string assign(const MappingRule& rule) {
    const Json* spec = find(pod_, "spec");
    auto requests =
        engine::counted_requests(api::pod_requests(spec == nullptr ? Json() : *spec), terms_.configuration.resources);
    api::kueue::PodSetAssignment assignment;
    assignment.name = out_.workload.pod_sets.front().name;
    assignment.count = 1;
    if (group_of(kPodsResource) != nullptr) requests.insert_or_assign(std::string(kPodsResource), Quantity::of(1));
    if (!rule.flavor.empty() && std::ranges::none_of(queue_->resource_groups,
                                                     [&](const auto& group) { return has_flavor(group, rule.flavor); }))
      return "the mapping names ResourceFlavor " + rule.flavor + ", which ClusterQueue " + queue_->meta.name +
             " does not have";
    for (const auto& [resource, amount] : requests) {
      const ResourceGroup* group = group_of(resource);
      if (group == nullptr && (amount <= Quantity() || terms_.configuration.resources.ignore_undeclared)) continue;
      if (group == nullptr)
        return "it requests " + resource + ", which ClusterQueue " + queue_->meta.name + " does not cover";
      const std::string flavor = flavor_of(*group, rule);
      if (flavor.empty()) return why_no_flavor(*group);
      assignment.flavors.emplace(resource, flavor);
      assignment.resource_usage.emplace(resource, amount);
    }
    out_.workload.status.admission = api::kueue::Admission{queue_->meta.name, {std::move(assignment)}};
    // What they check has happened: the pod runs.
    for (const auto& check : queue_->admission_checks) {
      api::kueue::AdmissionCheckState state;
      state.name = check.name;
      state.state = api::kueue::CheckState::kReady;
      state.message = "The pod ran when it was imported";
      out_.workload.status.admission_checks.push_back(std::move(state));
    }
    return "";
  }

  const ResourceGroup* group_of(std::string_view resource) const {
    for (const auto& group : queue_->resource_groups) {
      if (std::ranges::find(group.covered_resources, resource) != group.covered_resources.end()) return &group;
    }
    return nullptr;
  }

  // The flavor of the rule; else the first one whose node labels the node of the pod has. "": none.
  std::string flavor_of(const ResourceGroup& group, const MappingRule& rule) const {
    if (!rule.flavor.empty() && has_flavor(group, rule.flavor)) return rule.flavor;
    const auto node = facts_.nodes.find(node_name());
    for (const auto& quotas : group.flavors) {
      const auto& wanted = facts_.flavors.at(quotas.name).node_labels;
      const bool fits = std::ranges::all_of(wanted, [&](const auto& label) {
        if (node == facts_.nodes.end()) return false;
        const auto has = node->second.find(label.first);
        return has != node->second.end() && has->second == label.second;
      });
      if (fits) return quotas.name;
    }
    return "";
  }

  std::string node_name() const { return std::string(string_at(pod_, {"spec", "nodeName"})); }

  std::string why_no_flavor(const ResourceGroup& group) const {
    std::string names;
    for (const auto& flavor : group.flavors) names += (names.empty() ? "" : ", ") + flavor.name;
    return "it runs on node " + node_name() + ", which has the nodeLabels of none of the flavors " + names +
           " of ClusterQueue " + queue_->meta.name + ": name one with flavor: in the mapping";
  }

  // What an earlier import, or another client, did.
  std::string compare() {
    const auto labels = labels_of_imported(terms_, out_.local_queue);
    out_.labelled =
        std::ranges::all_of(labels, [&](const auto& label) { return label_of(pod_, label.first) == label.second; });
    const auto found = facts_.workloads.find(api::object_key(out_.workload.meta));
    if (found == facts_.workloads.end()) return "";
    const std::string there = "Workload " + out_.workload.meta.name;
    const auto decoded = api::kueue::decode_workload(found->second);
    if (!decoded) return there + " exists and cannot be read: " + decoded.error().message;
    const std::string uid(string_at(pod_, {"metadata", "uid"}));
    const auto& owners = decoded->meta.owners;
    if (std::ranges::none_of(owners, [&](const auto& owner) { return owner.controller && owner.uid == uid; }))
      return there + " exists and belongs to another object: delete it";
    const auto& conditions = decoded->status.conditions;
    if (api::is_true(conditions, api::kueue::kFinished)) return there + " exists and is finished: delete it";
    if (api::is_true(conditions, api::kueue::kEvicted)) return there + " is being evicted";
    out_.exists = true;
    out_.admitted = api::is_true(conditions, api::kueue::kAdmitted);
    if (!out_.admitted && decoded->status.admission)
      return there + " holds quota already and waits for its admission checks";
    if (!out_.admitted) return "";
    if (decoded->queue_name != out_.local_queue)
      return there + " is admitted from LocalQueue " + decoded->queue_name + ", the mapping names " + out_.local_queue;
    out_.workload.status.admission = decoded->status.admission;
    return "";
  }

  const ImportFacts& facts_;
  const ImportTerms& terms_;
  QueuedOwners& owners_;
  const Json& pod_;
  const ClusterQueue* queue_ = nullptr;
  PodFinding out_;
};

}  // namespace

std::string_view word(PodVerdict verdict) {
  switch (verdict) {
    case PodVerdict::kReady:
      return "ready";
    case PodVerdict::kImported:
      return "imported";
    case PodVerdict::kSkipped:
      return "skipped";
    case PodVerdict::kRefused:
      break;
  }
  return "refused";
}

api::StringMap labels_of_imported(const ImportTerms& terms, const std::string& local_queue) {
  api::StringMap labels = terms.add_labels;
  labels.insert_or_assign(std::string(api::kueue::kQueueLabel), local_queue);
  labels.insert_or_assign(std::string(api::kueue::kManagedLabel), "true");
  return labels;
}

Result<std::vector<PodFinding>> check_pods(const ImportFacts& facts, const ImportTerms& terms, QueuedOwners& owners) {
  std::vector<PodFinding> out;
  for (const Json& pod : facts.pods) {
    if (runs_no_more(pod)) continue;
    auto finding = Check(facts, terms, owners, pod).run();
    if (!finding) return tl::unexpected(finding.error());
    out.push_back(std::move(*finding));
  }
  return out;
}

std::vector<std::string> over_quota(const ImportFacts& facts, const std::vector<PodFinding>& findings) {
  std::map<std::string, std::map<std::pair<std::string, std::string>, Quantity>> added;  // by queue, flavor, resource
  for (const PodFinding& finding : findings) {
    if (finding.verdict != PodVerdict::kReady || finding.admitted) continue;
    const auto& assignment = finding.workload.status.admission->pod_set_assignments.front();
    for (const auto& [resource, flavor] : assignment.flavors) {
      Quantity& sum = added[finding.cluster_queue][{flavor, resource}];
      sum = sum + assignment.resource_usage.at(resource);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [queue, amounts] : added) {
    const SeenQueue& seen = facts.cluster_queues.at(queue);
    for (const auto& group : seen.queue.resource_groups) {
      for (const auto& flavor : group.flavors) {
        for (const auto& quota : flavor.resources) {
          const auto more = amounts.find({flavor.name, quota.name});
          if (more == amounts.end()) continue;
          Quantity total = more->second;
          for (const Json& reserved : seen.reserved.is_array() ? seen.reserved.get_array() : JsonArray()) {
            if (string_at(reserved, {"name"}) != flavor.name) continue;
            for (const Json& one : array_at(reserved, {"resources"})) {
              const auto held = Quantity::parse(string_at(one, {"total"}));
              if (string_at(one, {"name"}) == quota.name && held) total = total + *held;
            }
          }
          if (total > quota.nominal)
            lines.push_back("ClusterQueue " + queue + ", flavor " + flavor.name + ": " + quota.name + " " +
                            total.to_string() + " of nominal " + quota.nominal.to_string() +
                            " would be in use; the queue admits nothing more that borrows beyond its limits, and its "
                            "cohort may reclaim what is borrowed");
        }
      }
    }
  }
  return lines;
}

}  // namespace berth::cli::migrate
