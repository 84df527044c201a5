// Which jobs, pods and sets Berth manages, by their queue names, namespaces and owners.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "api/kueue/webhooks/admission.h"
#include "api/kueue/webhooks/owners.h"
#include "controller/controller.h"
#include "jobs/job_facts.h"

namespace berth::controller {

class ManagedObjects {
 public:
  struct Context {
    const ControllerOptions& options;
    std::function<JsonPtr(std::string_view name)> ns;  // a namespace; null when it is unknown
    api::kueue::ObjectGetter get;                      // any cached object
    // Whether the workload of a job is admitted; true for kinds whose workloads Berth does not make.
    std::function<bool(const api::GroupVersionResource& resource, const Json& job)> admitted;
  };
  explicit ManagedObjects(Context context);

  bool manages_namespace(std::string_view ns) const { return manages_namespace_(ns); }
  bool manages_pod(const Json& pod) const;
  bool manages_serving(const Json& object) const;  // a Deployment, a StatefulSet or a LeaderWorkerSet
  // Whether Berth is the controller that batch/v1 Jobs such as this wait for.
  bool manages_kind_of(const Json& job) const;
  // See api/kueue/webhooks/owners.h.
  std::optional<api::kueue::UnknownOwner> unknown_owner(const Json& object) const;
  // Sets what JobFacts say about a job and its owners. `its_kind`: whether jobs such as this are managed at all.
  void judge(const Json& job, bool its_kind, jobs::JobFacts& facts) const;

 private:
  api::kueue::JobContext context_of(const Json& object, const api::kueue::ManagedAncestor& ancestor) const;
  api::kueue::ManagedAncestor ancestor_of(const Json& object) const;

  Context context_;
  api::kueue::AdmissionPolicy policy_;
  api::kueue::NamespaceFilter manages_namespace_;
};

}  // namespace berth::controller
