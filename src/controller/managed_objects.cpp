#include "controller/managed_objects.h"

#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_rules.h"
#include "controller/configure.h"

namespace berth::controller {
namespace {

constexpr std::string_view kJobControllerName = "kubernetes.io/job-controller";  // the default of spec.managedBy

}  // namespace

ManagedObjects::ManagedObjects(Context context)
    : context_(std::move(context)),
      policy_(admission_policy(context_.options)),
      manages_namespace_(api::kueue::namespaces_matching(context_.options.managed_namespaces, context_.ns)) {}

api::kueue::ManagedAncestor ManagedObjects::ancestor_of(const Json& object) const {
  return api::kueue::managed_ancestor(object, {context_.get, policy_});
}

api::kueue::JobContext ManagedObjects::context_of(const Json& object,
                                                  const api::kueue::ManagedAncestor& ancestor) const {
  api::kueue::JobContext context;
  context.namespace_managed = manages_namespace(string_at(object, {"metadata", "namespace"}));
  context.manage_without_queue_name = context_.options.manage_jobs_without_queue_name;
  context.ancestor_managed = ancestor.job != nullptr;
  return context;
}

bool ManagedObjects::manages_pod(const Json& pod) const {
  return api::kueue::is_managed_pod(pod, context_of(pod, ancestor_of(pod)));
}

bool ManagedObjects::manages_serving(const Json& object) const {
  return api::kueue::is_managed(object, context_of(object, ancestor_of(object)));
}

bool ManagedObjects::manages_kind_of(const Json& job) const {
  const auto by = string_at(job, {"spec", "managedBy"}, kJobControllerName);
  const bool dispatched = by == api::kueue::kMultiKueueController && context_.options.jobs.multikueue;
  return context_.options.manage_jobs && (by == kJobControllerName || dispatched);
}

std::optional<api::kueue::UnknownOwner> ManagedObjects::unknown_owner(const Json& object) const {
  return api::kueue::unknown_owner(object, {context_.get, policy_});
}

void ManagedObjects::judge(const Json& job, bool its_kind, jobs::JobFacts& facts) const {
  const auto ancestor = ancestor_of(job);
  const auto context = context_of(job, ancestor);
  const bool concerned = its_kind && context.namespace_managed;
  facts.managed = its_kind && api::kueue::is_managed(job, context);
  facts.nested_too_deep = concerned && ancestor.too_deep;
  facts.has_ancestor = concerned && ancestor.job;
  facts.ancestor_waits = facts.has_ancestor && !context_.admitted(ancestor.resource, *ancestor.job);
}

}  // namespace berth::controller
