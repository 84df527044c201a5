// What Kueue's webhooks do on admission, for each resource that they look at, as functions. Webhooks that an API server calls and the
// embedded server in process are two doors to these.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/field_error.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// Whether the jobs of a namespace are managed at all, whatever their labels (Configuration: managedJobsNamespaceSelector).
using NamespaceFilter = std::function<bool(std::string_view ns)>;
// By the labels of the namespace, of which kubernetes.io/metadata.name is always its name. `get` gives the namespace, or null: then
// only its name is known.
NamespaceFilter namespaces_matching(LabelSelector selector, std::function<JsonPtr(std::string_view ns)> get);
// The selector that Kueue has by default: all namespaces but kube-system and the controller's own.
NamespaceFilter all_but_system(std::string own = "kueue-system");

// What differs between installations.
struct AdmissionPolicy {
  NamespaceFilter manages_namespace = all_but_system();
  bool manage_jobs_without_queue_name = false;
  bool partial_admission = true;  // gate PartialAdmission: without it minCount is dropped
  bool identifier_annotations =
      true;  // gate WorkloadIdentifierAnnotations: an annotation may name a prebuilt workload
  bool priority_boost = false;    // gate PriorityBoost: with it the annotation has to be an integer
};

// A stored object, or null.
using ObjectGetter = std::function<JsonPtr(const GroupVersionResource&, std::string_view ns, std::string_view name)>;

struct AdmissionContext {
  const ObjectGetter& get;
  const AdmissionPolicy& policy;
};

// All functions take objects in any version of their resource and judge them as the version that webhooks are registered for
// (matchPolicy Equivalent); what cannot be converted to it is left as it is. Each may be empty.
struct AdmissionRules {
  // On creation: sets defaults. Doing it twice is doing it once.
  std::function<void(Json& object, const AdmissionContext&)> mutate;
  // On creation (`old` null) and on updates, also of subresources ("" is the object itself).
  std::function<FieldErrors(const Json& object, const Json* old, std::string_view subresource, const AdmissionContext&)> check;
  // Whether the object may be deleted; the error says why not.
  std::function<Result<void>(const Json& object, const AdmissionContext&)> remove = {};
  // Kueue's name of the webhook that validates the resource, e.g. "vjob.kb.io". Empty: the rules are not Kueue's.
  std::string_view webhook = {};

  // How errors of `check` are told: 403 Forbidden for Kueue's webhooks, 422 Invalid for others, with a cause per error. The
  // message of the first is the errors alone: an API server puts the name of the webhook before it.
  RestResponse refusal(std::string_view group, const Json& object, const FieldErrors& errors) const;
};
// Whether an API server tells that an admission webhook refused the request, and not the server itself for a lack of rights.
bool refused_by_webhook(const RestResponse& response);

// The rules of a resource in all its versions; all functions empty for what nobody looks at.
using RulesOf = std::function<AdmissionRules(std::string_view group, std::string_view resource)>;

// Whether a Job that owns the Job, directly or not, is managed: then that one decides. `without_queue_name`:
// Jobs are managed whether or not they name a queue.
bool has_managed_ancestor(const Json& job, const ObjectGetter& get, bool without_queue_name);

// Those of Kueue: a RulesOf.
const AdmissionRules& admission_rules(std::string_view group, std::string_view resource);

}  // namespace berth::api::kueue
