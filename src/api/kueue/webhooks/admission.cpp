#include "api/kueue/webhooks/admission.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/batch/job_validation.h"
#include "api/config/configuration.h"
#include "api/kueue/conversion.h"
#include "api/kueue/defaulting.h"
#include "api/kueue/deployment_rules.h"
#include "api/kueue/job_rules.h"
#include "api/kueue/leader_worker_set_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/stateful_set_rules.h"
#include "api/kueue/types.h"
#include "api/kueue/unhonoured.h"
#include "api/kueue/unlisted_kinds.h"
#include "api/kueue/validation/cluster_queue.h"
#include "api/kueue/validation/cohort.h"
#include "api/kueue/validation/resource_flavor.h"
#include "api/kueue/validation/workload.h"
#include "api/kueue/webhooks/owners.h"
#include "api/resources.h"
#include "api/status.h"

namespace berth::api::kueue {

JobContext job_context(const Json& job, const AdmissionContext& admission) {
  JobContext context;
  const auto ns = string_at(job, {"metadata", "namespace"});
  context.namespace_managed = admission.policy.manages_namespace(ns);
  context.manage_without_queue_name = admission.policy.manage_jobs_without_queue_name;
  context.labels = admission.policy.labels;
  context.default_queue_exists = admission.get(kLocalQueues, ns, kDefaultName) != nullptr;
  context.default_priority_class_exists = admission.get(kWorkloadPriorityClasses, "", kDefaultName) != nullptr;
  context.ancestor_managed = managed_ancestor(job, admission).job != nullptr;
  return context;
}

namespace {

// --- Jobs.

FieldErrors check_job(const Json& job, const Json* old, std::string_view subresource,
                      const AdmissionContext& admission) {
  if (!subresource.empty() || !admission.policy.manage_jobs) return {};
  const auto context = job_context(job, admission);
  // A Job that loses its queue label was managed until now: the update rules must check that.
  const bool concerned = is_managed(job, context) || (old != nullptr && is_managed(*old, context));
  if (!concerned) return {};
  if (old == nullptr) return batch::validate_job(job, context.labels);
  return batch::validate_job_update(job, *old, context.default_queue_exists, context.labels);
}

}  // namespace

bool is_dispatched(const Json& job, const AdmissionContext& admission) {
  const JsonPtr local =
      admission.get(kLocalQueues, string_at(job, {"metadata", "namespace"}), label_of(job, kQueueLabel));
  const JsonPtr queue =
      local ? admission.get(kClusterQueues, "", string_at(*local, {"spec", "clusterQueue"})) : nullptr;
  if (!queue) return false;
  const JsonArray& checks = array_at(*queue, {"spec", "admissionChecksStrategy", "admissionChecks"});
  return std::ranges::any_of(checks, [&](const Json& rule) {
    const JsonPtr check = admission.get(kAdmissionChecks, "", string_at(rule, {"name"}));
    return check && string_at(*check, {"spec", "controllerName"}) == kMultiKueueController;
  });
}

namespace {

// The Job controller leaves such a Job alone: it runs on another cluster.
void default_managed_by(Json& job, const AdmissionContext& admission) {
  constexpr std::string_view kJobController = "kubernetes.io/job-controller";
  const bool is_free = string_at(job, {"spec", "managedBy"}, kJobController) == kJobController;
  if (admission.policy.dispatch_jobs && is_free && is_managed(job, job_context(job, admission)) &&
      is_dispatched(job, admission))
    ensure_path(job, {"spec", "managedBy"}) = kMultiKueueController;
}

AdmissionRules job_rules() {
  AdmissionRules rules;
  rules.mutate = [](Json& job, const AdmissionContext& admission) {
    if (!admission.policy.manage_jobs) return;
    batch::default_job(job, job_context(job, admission));
    default_managed_by(job, admission);
  };
  rules.check = check_job;
  rules.warn = [](const Json& job, const Json* old, const AdmissionContext& admission) {
    if (admission.policy.manage_jobs || !job_context(job, admission).namespace_managed) return std::string();
    return unlisted_kind_warning(job, old, "Job", kJobFramework);
  };
  return rules;
}

// --- Pods.

JobContext pod_context(const Json& pod, const AdmissionContext& admission) {
  JobContext context = job_context(pod, admission);
  context.owner_queues = admission.policy.manage_stateful_sets && suspending_owner(pod) == kStatefulSetFramework;
  // A Job answers for the queue of its pods.
  context.default_queue_exists = context.default_queue_exists && !is_controlled_by(pod, kJobs, "Job");
  return context;
}

FieldErrors check_pod_of_policy(const Json& pod, const Json* old, std::string_view subresource,
                                const AdmissionContext& admission) {
  if (!admission.policy.manage_pods || !subresource.empty()) return {};
  const JobContext context = pod_context(pod, admission);
  return old == nullptr ? validate_pod(pod, context) : validate_pod_update(pod, *old, context);
}

AdmissionRules pod_rules() {
  AdmissionRules rules;
  rules.mutate = [](Json& pod, const AdmissionContext& admission) {
    if (admission.policy.manage_pods) default_pod(pod, pod_context(pod, admission));
  };
  rules.mutates = [](const Json& pod, const AdmissionContext& admission) {
    return admission.policy.manage_pods && defaults_pod(pod, pod_context(pod, admission));
  };
  rules.check = check_pod_of_policy;
  rules.warn = [](const Json& pod, const Json* old, const AdmissionContext& admission) {
    if (admission.policy.manage_pods) return std::string();
    std::string warning = unlisted_kind_warning(pod, old, "Pod", kPodFramework);
    if (!warning.empty() && !is_managed_pod(pod, pod_context(pod, admission))) warning.clear();
    return warning;
  };
  return rules;
}

// --- Deployments, StatefulSets and LeaderWorkerSets.

struct ServingKind {
  std::string_view kind, framework;
  bool AdmissionPolicy::* managed;
  void (*set_defaults)(Json& object, const JobContext& context);
  FieldErrors (*validate)(const Json& object, const JobContext& context);
  FieldErrors (*validate_update)(const Json& object, const Json& old, const JobContext& context);
};
constexpr ServingKind kDeploymentRules{"Deployment",       kDeploymentFramework, &AdmissionPolicy::manage_deployments,
                                       default_deployment, validate_deployment,  validate_deployment_update};
constexpr ServingKind kStatefulSetRules{
    "StatefulSet",        kStatefulSetFramework, &AdmissionPolicy::manage_stateful_sets,
    default_stateful_set, validate_stateful_set, validate_stateful_set_update};

constexpr ServingKind kLeaderWorkerSetRules{
    "LeaderWorkerSet",         kLeaderWorkerSetFramework,  &AdmissionPolicy::manage_leader_worker_sets,
    default_leader_worker_set, validate_leader_worker_set, validate_leader_worker_set_update};

AdmissionRules serving_rules(const ServingKind& kind) {
  AdmissionRules rules;
  rules.mutates_updates = true;
  rules.mutate = [&kind](Json& object, const AdmissionContext& admission) {
    if (admission.policy.*kind.managed) kind.set_defaults(object, job_context(object, admission));
  };
  rules.check = [&kind](const Json& object, const Json* old, std::string_view subresource,
                        const AdmissionContext& admission) {
    if (!(admission.policy.*kind.managed) || !subresource.empty()) return FieldErrors();
    const JobContext context = job_context(object, admission);
    return old == nullptr ? kind.validate(object, context) : kind.validate_update(object, *old, context);
  };
  rules.warn = [&kind](const Json& object, const Json* old, const AdmissionContext& admission) {
    const std::string_view ns = string_at(object, {"metadata", "namespace"});
    if (admission.policy.*kind.managed || !admission.policy.manages_namespace(ns)) return std::string();
    return unlisted_kind_warning(object, old, kind.kind, kind.framework);
  };
  return rules;
}

// --- Kueue's own kinds, as v1beta2.

AdmissionRules cluster_queue_rules() {
  return {[](Json& object, const AdmissionContext&) { default_cluster_queue(object); },
          [](const Json& object, const Json*, std::string_view subresource, const AdmissionContext&) {
            return subresource.empty() ? validate_cluster_queue(object) : FieldErrors();
          },
          {},
          false,
          {},
          [](const Json& object, const Json* old, const AdmissionContext&) {
            return unhonoured_warning("ClusterQueue", object, old);
          }};
}

AdmissionRules cohort_rules() {
  return {{}, [](const Json& object, const Json*, std::string_view, const AdmissionContext&) {
            return validate_cohort(object);
          }};
}

AdmissionRules resource_flavor_rules() {
  return {[](Json& object, const AdmissionContext&) { default_resource_flavor(object); },
          [](const Json& object, const Json*, std::string_view, const AdmissionContext&) {
            return validate_resource_flavor(object);
          }};
}

AdmissionRules workload_rules() {
  return {[](Json& object, const AdmissionContext& admission) {
            default_workload(object, admission.policy.partial_admission);
          },
          [](const Json& object, const Json* old, std::string_view, const AdmissionContext& admission) {
            const WorkloadRules rules{admission.policy.priority_boost};
            return old == nullptr ? validate_workload(object, rules) : validate_workload_update(object, *old, rules);
          },
          {},
          false,
          {},
          [](const Json& object, const Json* old, const AdmissionContext&) {
            return unhonoured_warning("Workload", object, old);
          }};
}

// --- Versions.

// The version of an object of Kueue's group if it is not the webhooks' version; empty for all other objects.
std::string other_version(const Json& object) {
  const std::string_view api_version = string_at(object, {"apiVersion"});
  const std::string prefix = std::string(kGroup) + "/";
  if (!api_version.starts_with(prefix)) return {};
  const std::string_view version = api_version.substr(prefix.size());
  return version == kVersion ? std::string() : std::string(version);
}

// The object in the webhooks' version, from any version; unchanged when the conversion fails.
class InWebhookVersion {
 public:
  explicit InWebhookVersion(const Json& object) : object_(&object) {
    if (other_version(object).empty()) return;
    copy_ = object;
    if (convert(copy_, kVersion)) object_ = &copy_;
  }
  const Json& operator*() const { return *object_; }

 private:
  const Json* object_;
  Json copy_;
};

// The same rules for objects of every version: those that see an object see it in the webhooks' version.
AdmissionRules for_all_versions(AdmissionRules rules) {
  AdmissionRules out = rules;
  if (rules.mutate) {
    out.mutate = [mutate = std::move(rules.mutate)](Json& object, const AdmissionContext& admission) {
      const std::string sent = other_version(object);
      if (!sent.empty() && !convert(object, kVersion)) return;
      mutate(object, admission);
      if (!sent.empty()) (void)convert(object, sent);
    };
  }
  out.check = [check = std::move(rules.check)](const Json& object, const Json* old, std::string_view subresource,
                                               const AdmissionContext& admission) {
    const InWebhookVersion now(object);
    if (old == nullptr) return check(*now, nullptr, subresource, admission);
    const InWebhookVersion before(*old);
    return check(*now, &*before, subresource, admission);
  };
  if (rules.remove) {
    out.remove = [remove = std::move(rules.remove)](const Json& object, const AdmissionContext& admission) {
      const InWebhookVersion now(object);
      return remove(*now, admission);
    };
  }
  if (rules.mutates) {
    out.mutates = [mutates = std::move(rules.mutates)](const Json& object, const AdmissionContext& admission) {
      const InWebhookVersion now(object);
      return mutates(*now, admission);
    };
  }
  if (rules.warn) {
    out.warn = [warn = std::move(rules.warn)](const Json& object, const Json* old, const AdmissionContext& admission) {
      const InWebhookVersion now(object);
      if (old == nullptr) return warn(*now, nullptr, admission);
      const InWebhookVersion before(*old);
      return warn(*now, &*before, admission);
    };
  }
  return out;
}

AdmissionRules named(std::string_view webhook, AdmissionRules rules) {
  rules.webhook = webhook;
  return rules;
}

}  // namespace

NamespaceFilter namespaces_matching(LabelSelector selector, std::function<JsonPtr(std::string_view ns)> get) {
  return [selector = std::move(selector), get = std::move(get)](std::string_view ns) {
    const JsonPtr object = get(ns);
    JsonObject labels = object ? object_at(*object, {"metadata", "labels"}) : JsonObject();
    labels["kubernetes.io/metadata.name"] = ns;
    return selector.matches(labels);
  };
}

NamespaceFilter all_but_system(std::string own) {
  return namespaces_matching(config::Configuration::default_managed_namespaces(own),
                             [](std::string_view) { return nullptr; });
}

RestResponse AdmissionRules::refusal(std::string_view group, const Json& object, const FieldErrors& errors) const {
  const std::string_view kind = string_at(object, {"kind"});
  std::string_view name = string_at(object, {"metadata", "name"});
  if (name.empty()) name = string_at(object, {"metadata", "generateName"});
  RestResponse out = invalid(group, kind, name, errors);
  if (webhook.empty()) return out;
  out.code = 403;
  JsonObject& status = out.body.as_object();
  status["code"] = 403;
  status["reason"] = "Forbidden";
  status["message"] = to_string(errors);
  return out;
}

bool refused_by_webhook(const RestResponse& response) {
  const std::string_view message = status_message(response);
  return !response.ok() && message.starts_with("admission webhook ") &&
         message.find(" denied the request") != message.npos;
}

const AdmissionRules& admission_rules(std::string_view group, std::string_view resource) {
  static const std::map<std::pair<std::string_view, std::string_view>, AdmissionRules> table = {
      {{"", "pods"}, named("vpod.kb.io", pod_rules())},
      {{"apps", "deployments"}, named("vdeployment.kb.io", serving_rules(kDeploymentRules))},
      {{"apps", "statefulsets"}, named("vstatefulset.kb.io", serving_rules(kStatefulSetRules))},
      {{"leaderworkerset.x-k8s.io", "leaderworkersets"},
       named("vleaderworkerset.kb.io", serving_rules(kLeaderWorkerSetRules))},
      {{"batch", "jobs"}, named("vjob.kb.io", job_rules())},
      {{kGroup, "clusterqueues"}, named("vclusterqueue.kb.io", for_all_versions(cluster_queue_rules()))},
      {{kGroup, "cohorts"}, named("vcohort.kb.io", for_all_versions(cohort_rules()))},
      {{kGroup, "resourceflavors"}, named("vresourceflavor.kb.io", for_all_versions(resource_flavor_rules()))},
      {{kGroup, "workloads"}, named("vworkload.kb.io", for_all_versions(workload_rules()))},
  };
  static const AdmissionRules none;
  const auto it = table.find({group, resource});
  return it == table.end() ? none : it->second;
}

const AdmissionRules& admission_rules(std::string_view group, std::string_view resource,
                                      const AdmissionPolicy& policy) {
  const auto kind = std::ranges::find_if(policy.kinds, [&](const JobKindRules& one) {
    return one.resource.group == group && one.resource.resource == resource;
  });
  return kind == policy.kinds.end() ? admission_rules(group, resource) : kind->rules;
}

}  // namespace berth::api::kueue
