// Carries out the steps of jobs/provisioning: asks the cluster autoscaler for nodes on behalf of workloads whose
// queue has an AdmissionCheck of the controller kueue.x-k8s.io/provisioning-request, and writes whether these checks
// are active.
//
// When a cluster does not serve ProvisioningRequests, the checks say so. The caches keep trying, with a growing
// delay.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/rest.h"
#include "base/lifetime.h"
#include "controller/decoded_workloads.h"
#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/provisioning.h"
#include "jobs/provisioning_config.h"
#include "jobs/reconcile.h"
#include "kube/informer.h"
#include "kube/typed_informer.h"

namespace berth::controller {

// A PodTemplate, with its contents when it has Berth's label.
struct KnownPodTemplate {
  api::ObjectMeta meta;
  JsonPtr contents;  // a PodTemplateSpec; null: it is somebody else's
};

class ProvisioningController {
 public:
  using Checks = kube::TypedInformer<api::kueue::AdmissionCheck>;

  // All must outlive it. A workload that `workloads` does not keep does not exist, or it is finished and has no owner:
  // it is read from the API server.
  ProvisioningController(Shell& shell, const DecodedWorkloads& workloads, jobs::FlavorLookup flavors,
                         const Checks& checks);

  void read();  // starts its own caches
  // The controller's other caches are complete: writing may begin.
  void start();

  // The cache of workloads has something new. `key`: "namespace/name". Both versions may be null: a workload that is
  // not kept is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void check_changed(const std::string& name);
  void facts_changed();  // a flavor changed: look at every workload with checks again

 private:
  // By the key of a workload: the keys of the objects that it controls.
  using Owned = std::map<std::string, std::set<std::string>>;

  void watch_lists(kube::Informer& informer, std::string what);
  // An object of a kind that workloads control, null: it does not exist.
  void owned_changed(const std::string& key, const api::ObjectMeta* old, const api::ObjectMeta* now, Owned& owned);
  void look_soon(const std::string& workload);
  bool ready() const;
  std::string missing() const;  // what the cluster lacks; empty: nothing
  static bool is_ours(const api::kueue::AdmissionCheck& check);
  Result<jobs::ProvisioningConfigPtr> config_of(const api::kueue::AdmissionCheck& check) const;

  void look(const std::string& key, WorkQueue::Finish finish);
  bool has_made_something_for(const std::string& workload) const;
  void read_and_clean_up(const std::string& key, WorkQueue::Finish finish);
  void provision(const jobs::WorkloadPtr& workload, WorkQueue::Finish finish);
  jobs::ProvisioningFacts facts_of(const api::kueue::Workload& workload);
  PlannedRequest request_for(const jobs::WorkloadPtr& workload, jobs::ProvisioningStep step);
  PlannedRequest request_to_create(const jobs::WorkloadPtr& workload, const api::GroupVersionResource& resource,
                                   std::string check, Json object);
  PlannedRequest request_to_delete(const api::GroupVersionResource& resource, const api::ObjectMeta& meta);
  void report_failure(const api::kueue::Workload& workload, const std::string& check, const std::string& message);
  void record(const api::kueue::Workload& workload, kube::EventText text);
  void write_active(const std::string& name, WorkQueue::Finish finish);

  Shell& shell_;
  const DecodedWorkloads& known_workloads_;
  const jobs::FlavorLookup flavors_;
  const Checks& known_checks_;
  kube::Informer configs_;
  kube::TypedInformer<api::autoscaling::ProvisioningRequest> requests_;
  kube::TypedInformer<KnownPodTemplate> pod_templates_;
  std::map<std::string, std::string> unread_;  // by resource: why it cannot be read
  bool started_ = false;
  Owned requests_of_, templates_of_;
  std::set<std::string> with_checks_;  // keys of workloads
  std::set<std::string> going_;        // uids whose deletion was requested, until the cache shows that they are gone
  WorkQueue workloads_, checks_;
  PlanRunner runner_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
