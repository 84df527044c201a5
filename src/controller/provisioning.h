// Carries out what jobs/provisioning says: asks the cluster autoscaler for nodes on behalf of workloads whose
// queue has a check of the controller kueue.x-k8s.io/provisioning-request, and says of these checks whether
// they are active.
//
// A cluster without ProvisioningRequests is told so in the checks; the caches go on asking for them, ever
// more slowly.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "jobs/provisioning.h"
#include "jobs/provisioning_config.h"
#include "jobs/reconcile.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {

class ProvisioningController {
 public:
  struct Context {
    api::RestClient& client;
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    kube::Informer& checks;  // AdmissionChecks
    std::function<kube::InformerOptions()> informer_options;
    std::function<void(const engine::Event&)> feed;                     // reports go to the engine
    // Null when there is none, or when it is finished and nobody owns it: such a one is read from the API server.
    std::function<jobs::WorkloadPtr(const std::string& key)> workload;
    jobs::FlavorLookup flavors;
  };
  explicit ProvisioningController(Context context);
  ~ProvisioningController() { *alive_ = false; }

  void read();   // fills its own caches
  void start();  // those of the others are full: writing may begin

  // The caches saw something new.
  // Of the workload `key` ("namespace/name"). Both may be null: a workload that Context::workload does not keep is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void check_changed(const std::string& name);
  void facts_changed();  // a flavor: look at every workload with checks again

 private:
  using Steps = std::shared_ptr<std::vector<jobs::ProvisioningStep>>;
  // A look at one workload, while its steps are done.
  struct Look {
    jobs::WorkloadPtr workload;
    Steps steps;
    WorkQueue::Finish finish;
  };

  void connect(kube::Informer& informer, std::string what, kube::ObjectHandler handler);
  void request_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_template_changed(const JsonPtr& old, const JsonPtr& now);
  void look_soon(const std::string& workload);
  bool ready() const;
  std::string missing() const;  // what the cluster lacks; empty: nothing
  bool is_ours(const Json& check) const;
  Result<jobs::ProvisioningConfigPtr> config_of(const api::kueue::AdmissionCheck& check) const;

  void look(const std::string& key, WorkQueue::Finish finish);
  bool has_made_something_for(const std::string& workload) const;
  void read_and_clean_up(const std::string& key, WorkQueue::Finish finish);
  void provision(const jobs::WorkloadPtr& workload, WorkQueue::Finish finish);
  jobs::ProvisioningFacts facts_of(const api::kueue::Workload& workload);
  void perform(Look look, std::size_t next);
  void create(Look look, std::size_t next, const api::GroupVersionResource& resource, std::string check,
              Json object);
  void remove(Look look, std::size_t next, const api::GroupVersionResource& resource,
              const api::ObjectMeta& meta);
  void tell_failure(const Look& look, const std::string& check, const std::string& message);
  void record(const api::kueue::Workload& workload, kube::EventText text);
  void write_active(const std::string& name, WorkQueue::Finish finish);

  Context context_;
  kube::Informer configs_, requests_, pod_templates_;
  std::map<std::string, std::string> unread_;  // by resource: why it cannot be read
  bool started_ = false;
  // By "namespace/name"; and which of them the workload of a key controls.
  std::map<std::string, api::autoscaling::ProvisioningRequestPtr> decoded_requests_;
  std::map<std::string, api::ObjectMeta> decoded_templates_;
  std::map<std::string, std::set<std::string>> requests_of_, templates_of_;
  std::set<std::string> with_checks_;  // keys of workloads
  std::set<std::string> going_;        // uids whose deletion was asked for, until the cache knows
  WorkQueue workloads_, checks_;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  // answers under way find out that the controller is gone
};

}  // namespace berth::controller
