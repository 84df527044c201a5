// The rules of Kueue's webhooks on admission, as functions for each resource. Both the webhook server and the
// embedded API server use them.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// Whether Berth manages the jobs of a namespace (Configuration: managedJobsNamespaceSelector).
using NamespaceFilter = std::function<bool(std::string_view ns)>;
// Selects by the labels of the namespace; kubernetes.io/metadata.name is always its name. `get` returns the
// namespace, or null when it is unknown: then only the name counts.
NamespaceFilter namespaces_matching(LabelSelector selector, std::function<JsonPtr(std::string_view ns)> get);
// Kueue's default selector: all namespaces except kube-system and the controller's own.
NamespaceFilter all_but_system(std::string own = "kueue-system");

struct AdmissionPolicy;

// A stored object, or null.
using ObjectGetter = std::function<JsonPtr(const GroupVersionResource&, std::string_view ns, std::string_view name)>;

struct AdmissionContext {
  const ObjectGetter& get;
  const AdmissionPolicy& policy;
};

// All functions take objects in any version of their resource and convert them to the version for which the webhooks
// are registered (matchPolicy Equivalent). An object that cannot be converted is not defaulted, and is checked as it
// is. Each function may be empty.
struct AdmissionRules {
  // Sets defaults, on creation. Idempotent.
  std::function<void(Json& object, const AdmissionContext&)> mutate;
  // Validates on creation (`old` is null) and on updates, also of subresources ("" is the object itself).
  std::function<FieldErrors(const Json& object, const Json* old, std::string_view subresource, const AdmissionContext&)>
      check;
  // Whether the object may be deleted; the error says why not.
  std::function<Result<void>(const Json& object, const AdmissionContext&)> remove = {};
  // `mutate` runs on updates of the object itself, too.
  bool mutates_updates = false;
  // Whether `mutate` changes a new object. Empty: it may change any.
  std::function<bool(const Json& object, const AdmissionContext&)> mutates = {};
  // What the user should know about an object that is allowed: one line, or "". `old` as for `check`.
  std::function<std::string(const Json& object, const Json* old, const AdmissionContext&)> warn = {};
  // The name of Kueue's webhook that validates the resource, e.g. "vjob.kb.io". Empty: the rules are not Kueue's.
  std::string_view webhook = {};

  // The response for errors of `check`, with a cause per error: 403 Forbidden for Kueue's webhooks, 422 Invalid for
  // others. The message of a 403 has only the errors: an API server puts the name of the webhook before it.
  RestResponse refusal(std::string_view group, const Json& object, const FieldErrors& errors) const;
};
// Whether an admission webhook refused the request (by the message), and not the API server for a lack of
// permissions.
bool refused_by_webhook(const RestResponse& response);

// A kind of job that a description adds, or a kind that only owns jobs (integrations.externalFrameworks).
struct JobKindRules {
  GroupVersionResource resource;
  std::string kind;
  std::string webhook_path;  // the end of the paths of its webhooks, "kubeflow-org-v1-pytorchjob"; empty: it has none
  bool managed = false;      // its objects wait for quota, or bring it for the objects that they own
  AdmissionRules rules;
};

// Settings of an installation.
struct AdmissionPolicy {
  NamespaceFilter manages_namespace = all_but_system();
  bool manage_jobs_without_queue_name = false;
  bool manage_jobs = true;                 // integrations.frameworks lists "batch/job"
  bool manage_pods = false;                // integrations.frameworks lists "pod"
  bool manage_deployments = false;         // "deployment"
  bool manage_stateful_sets = false;       // "statefulset"
  bool manage_leader_worker_sets = false;  // "leaderworkerset.x-k8s.io/leaderworkerset"
  bool partial_admission = true;           // gate PartialAdmission: without it minCount is dropped
  LabelRules labels{};
  // Gate MultiKueue: new Jobs of a queue with such a check get its spec.managedBy.
  bool dispatch_jobs = true;
  bool priority_boost = false;        // gate PriorityBoost: with it the annotation has to be an integer
  bool check_ray_upgrades = true;     // gate RayServiceValidateUpgradeStrategy: no second cluster during upgrades
  std::vector<JobKindRules> kinds{};  // kinds of jobs besides those above
};

// Returns the rules of a resource for all its versions; all functions are empty for a resource without rules.
using RulesOf = std::function<AdmissionRules(std::string_view group, std::string_view resource)>;

// The job that is queued instead of an object, because it controls it, directly or not. Of several, the topmost.
struct ManagedAncestor {
  JsonPtr job;                    // null: none
  GroupVersionResource resource;  // of `job`
  bool too_deep = false;  // there are more than kMaxOwners owners above each other; the others are not looked at
};
constexpr int kMaxOwners = 10;  // owner chains are short; the bound also ends a cycle
ManagedAncestor managed_ancestor(const Json& object, const AdmissionContext& admission);

// What decides whether an object is managed, from its namespace, its owners and the policy.
JobContext job_context(const Json& object, const AdmissionContext& admission);

// The rules of a resource that Kueue has rules for, whatever the policy is; empty for others.
const AdmissionRules& admission_rules(std::string_view group, std::string_view resource);
// These, or those of the policy's kinds.
const AdmissionRules& admission_rules(std::string_view group, std::string_view resource, const AdmissionPolicy& policy);

}  // namespace berth::api::kueue
