#include "apiserver/kueue_webhooks.h"

#include <map>
#include <string>
#include <utility>

#include "api/batch/job_validation.h"
#include "api/kueue/conversion.h"
#include "api/kueue/defaulting.h"
#include "api/kueue/types.h"
#include "api/kueue/validation/cluster_queue.h"
#include "api/kueue/validation/cohort.h"
#include "api/kueue/validation/resource_flavor.h"
#include "api/kueue/validation/workload.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

const api::GroupVersionResource kJobs{"batch", "v1", "jobs"};
const api::GroupVersionResource kLocalQueues{"kueue.x-k8s.io", "v1beta2", "localqueues"};
const api::GroupVersionResource kPriorityClasses{"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses"};

// `mutate` runs on creation, `check` on creation and on updates; both may be empty.
struct Webhook {
  std::function<void(Json& object, const Lookup&)> mutate;
  std::function<FieldErrors(const Json& object, const Json* old, std::string_view subresource, const Lookup&)>
      check;
};

constexpr int kMaxOwners = 10;  // owner chains are short; a circle must end

JsonPtr controlling_job(const Json& object, const Lookup& lookup) {
  for (const auto& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"}) && string_at(owner, {"kind"}) == "Job" &&
        string_at(owner, {"apiVersion"}) == "batch/v1")
      return lookup.get(kJobs, string_at(object, {"metadata", "namespace"}), string_at(owner, {"name"}));
  }
  return nullptr;
}

bool has_managed_ancestor(const Json& job, const Lookup& lookup) {
  JsonPtr ancestor = controlling_job(job, lookup);
  for (int i = 0; ancestor != nullptr && i < kMaxOwners; ++i) {
    if (!string_at(*ancestor, {"metadata", "labels", api::kueue::kQueueLabel}).empty()) return true;
    ancestor = controlling_job(*ancestor, lookup);
  }
  return false;
}

api::batch::JobContext job_context(const Json& job, const Lookup& lookup) {
  api::batch::JobContext context;
  const auto ns = string_at(job, {"metadata", "namespace"});
  context.namespace_managed = ns != "kube-system" && ns != "kueue-system";
  context.default_queue_exists = lookup.get(kLocalQueues, ns, "default") != nullptr;
  context.default_priority_class_exists = lookup.get(kPriorityClasses, "", "default") != nullptr;
  context.ancestor_managed = has_managed_ancestor(job, lookup);
  return context;
}

FieldErrors check_job(const Json& job, const Json* old, std::string_view subresource, const Lookup& lookup) {
  if (!subresource.empty()) return {};
  const auto context = job_context(job, lookup);
  // A Job that loses its queue label was managed until now: that is for the rules of updates to judge.
  const bool concerned = api::batch::is_managed(job, context) ||
                         (old != nullptr && api::batch::is_managed(*old, context));
  if (!concerned) return {};
  if (old == nullptr) return api::batch::validate_job(job);
  return api::batch::validate_job_update(job, *old, context.default_queue_exists);
}

Webhook webhook_of(const ResourceInfo& resource) {
  using namespace api::kueue;
  const auto& gvr = resource.gvr;
  if (gvr.group == "batch" && gvr.resource == "jobs") {
    return {[](Json& job, const Lookup& lookup) { api::batch::default_job(job, job_context(job, lookup)); },
            check_job};
  }
  if (gvr.group != kGroup) return {};
  if (gvr.resource == "clusterqueues") {
    return {[](Json& object, const Lookup&) { default_cluster_queue(object); },
            [](const Json& object, const Json* old, std::string_view subresource, const Lookup&) {
              if (!subresource.empty()) return FieldErrors();
              return old == nullptr ? validate_cluster_queue(object)
                                    : validate_cluster_queue_update(object, *old);
            }};
  }
  if (gvr.resource == "cohorts") {
    return {{}, [](const Json& object, const Json*, std::string_view, const Lookup&) {
              return validate_cohort(object);
            }};
  }
  if (gvr.resource == "resourceflavors") {
    return {[](Json& object, const Lookup&) { default_resource_flavor(object); },
            [](const Json& object, const Json*, std::string_view, const Lookup&) {
              return validate_resource_flavor(object);
            }};
  }
  if (gvr.resource == "workloads") {
    return {[](Json& object, const Lookup&) { default_workload(object, true); },
            [](const Json& object, const Json* old, std::string_view, const Lookup&) {
              return old == nullptr ? validate_workload(object) : validate_workload_update(object, *old);
            }};
  }
  return {};
}

}  // namespace

ResourcePtr with_kueue_conversion(ResourcePtr resource) {
  if (resource->gvr.group != api::kueue::kGroup || !resource->custom) return resource;
  auto joined = std::make_shared<ResourceInfo>(*resource);
  joined->strategy.convert = api::kueue::convert;
  if (resource->gvr.version != api::kueue::kVersion) {
    // Said to who sends it, before anything is stored.
    joined->strategy.decode = [](Json& object) -> Result<void> {
      Json copy = object;
      return api::kueue::convert(copy, api::kueue::kVersion);
    };
  }
  return joined;
}

namespace {

// The object as the webhooks know it, whichever version it was sent in.
class InWebhookVersion {
 public:
  explicit InWebhookVersion(const Json& object) : object_(&object) {
    if (string_at(object, {"apiVersion"}) == kWebhookVersion) return;
    copy_ = object;
    if (api::kueue::convert(copy_, api::kueue::kVersion)) object_ = &copy_;
  }
  const Json& operator*() const { return *object_; }

 private:
  static constexpr std::string_view kWebhookVersion = "kueue.x-k8s.io/v1beta2";
  const Json* object_;
  Json copy_;
};

// A webhook for v1beta2 that is called for v1beta1 too (matchPolicy Equivalent).
Webhook for_all_versions(Webhook webhook) {
  Webhook out;
  if (webhook.mutate) {
    out.mutate = [mutate = std::move(webhook.mutate)](Json& object, const Lookup& lookup) {
      const std::string_view version = string_at(object, {"apiVersion"});
      const std::string sent(version.substr(version.find('/') + 1));
      // What cannot be converted was refused when it was decoded.
      if (!api::kueue::convert(object, api::kueue::kVersion)) return;
      mutate(object, lookup);
      (void)api::kueue::convert(object, sent);
    };
  }
  if (webhook.check) {
    out.check = [check = std::move(webhook.check)](const Json& object, const Json* old, std::string_view subresource,
                                                   const Lookup& lookup) {
      const InWebhookVersion now(object);
      if (old == nullptr) return check(*now, nullptr, subresource, lookup);
      const InWebhookVersion before(*old);
      return check(*now, &*before, subresource, lookup);
    };
  }
  return out;
}

}  // namespace

ResourcePtr with_kueue_webhooks(ResourcePtr resource) {
  Webhook webhook = webhook_of(*resource);
  resource = with_kueue_conversion(std::move(resource));
  if (!webhook.mutate && !webhook.check) return resource;
  if (resource->strategy.convert && resource->gvr.version != api::kueue::kVersion)
    webhook = for_all_versions(std::move(webhook));
  auto joined = std::make_shared<ResourceInfo>(*resource);
  joined->strategy.validating_admission = std::move(webhook.check);
  if (webhook.mutate) {
    joined->strategy.prepare_create = [first = resource->strategy.prepare_create,
                                       then = std::move(webhook.mutate)](Json& object, const Lookup& lookup) {
      if (first) first(object, lookup);
      then(object, lookup);
    };
  }
  return joined;
}

}  // namespace berth::apiserver
