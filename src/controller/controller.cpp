#include "controller/controller.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/webhooks/admission.h"
#include "api/resources.h"
#include "base/log.h"
#include "controller/caches.h"
#include "controller/cluster.h"
#include "controller/decoded_flavors.h"
#include "controller/decoded_workloads.h"
#include "controller/default_queues.h"
#include "controller/described_kinds.h"
#include "controller/device_quota.h"
#include "controller/failure_recovery.h"
#include "controller/group_owners.h"
#include "controller/job_classes.h"
#include "controller/job_controller.h"
#include "controller/job_environment.h"
#include "controller/managed_objects.h"
#include "controller/metrics_feed.h"
#include "controller/multikueue.h"
#include "controller/object_upkeep.h"
#include "controller/ownerless_workloads.h"
#include "controller/placement_sources.h"
#include "controller/pod_controller.h"
#include "controller/pod_events.h"
#include "controller/provisioning.h"
#include "controller/shell.h"
#include "controller/sources.h"
#include "controller/start_notices.h"
#include "controller/ungater.h"
#include "controller/volcano_controller.h"

namespace berth::controller {

struct Controller::Impl : EffectReceiver {
  Impl(api::RestClient& client, Executor& executor, ControllerOptions options)
      : shell(client, executor, std::move(options), *this) {
    connect_queues();
    connect_jobs();
    for (kube::Informer* cache : start_order()) caches.add(*cache);
  }

  const ControllerOptions& options() const { return shell.options; }

  std::vector<kube::Informer*> start_order() {
    std::vector<kube::Informer*> out = cluster.before_workloads();
    if (options().manage_stateful_sets && pod_controller) out.push_back(&cluster.stateful_sets);
    out.push_back(&cluster.workloads);
    return out;
  }

  // --- Changes in the caches.

  // Kueue objects whose names are kept for Volcano's queues are ignored.
  bool is_ignored(std::string_view kind, const std::string& name, bool is_new) const {
    if (!volcano || !is_reserved_name(name)) return false;
    if (is_new)
      log::error(
          "an object has a name that is kept for Volcano's queues and is ignored: give it one that does not begin with "
          "volcano.",
          {{"kind", kind}, {"name", name}});
    return true;
  }

  void connect_queues() {
    cluster.flavors.on_change([this](const std::string& name, const auto&, const auto& now) {
      auto event = seen_or_gone<engine::ResourceFlavorSeen, engine::ResourceFlavorGone>(name, now);
      shell.feed(volcano ? volcano->flavor_event(std::move(event)) : event);
      flavors.changed(name, now);
      upkeep.object_changed("ResourceFlavor", name, !now);
      job_facts_changed();
      provisioning.facts_changed();
    });
    cluster.topologies.on_change([this](const std::string& name, const auto&, const auto& now) {
      shell.feed(seen_or_gone<engine::TopologySeen, engine::TopologyGone>(name, now));
      upkeep.object_changed("Topology", name, !now);
    });
    cluster.checks.on_change([this](const std::string& name, const auto&, const auto& now) {
      shell.feed(seen_or_gone<engine::AdmissionCheckSeen, engine::AdmissionCheckGone>(name, now));
      upkeep.object_changed("AdmissionCheck", name, !now);
      provisioning.check_changed(name);
    });
    cluster.cohorts.on_change([this](const std::string& name, const auto& old, const auto& now) {
      if (!is_ignored("Cohort", name, !old))
        shell.feed(seen_or_gone<engine::CohortSeen, engine::CohortGone>(name, now));
      now ? metrics.cohort_changed(name) : metrics.cohort_gone(name);
      if (options().engine.fair_sharing.enabled) upkeep.cohort_changed(name);
    });
    cluster.cluster_queues.on_change([this](const std::string& name, const auto& old, const auto& now) {
      if (!is_ignored("ClusterQueue", name, !old))
        shell.feed(seen_or_gone<engine::ClusterQueueSeen, engine::ClusterQueueGone>(name, now));
      upkeep.object_changed("ClusterQueue", name, !now);
      upkeep.cluster_queue_changed(name);
      now ? metrics.cluster_queue_changed(name) : metrics.cluster_queue_gone(name);
    });
    cluster.local_queues.on_change([this](const std::string& key, const auto&, const auto& now) {
      shell.feed(local_queue_event(key, now));
      upkeep.local_queue_changed(key);
      now ? metrics.local_queue_changed(key) : metrics.local_queue_gone(key);
    });
  }

  void connect_jobs() {
    cluster.namespaces.on_change([this](const JsonPtr& old, const JsonPtr& now) {
      const bool same =
          old && now && object_at(*old, {"metadata", "labels"}) == object_at(*now, {"metadata", "labels"});
      if (same) return;  // a change would make the engine look at all of its workloads
      job_facts_changed();
      shell.feed(namespace_event(old, now));
    });
    cluster.limit_ranges.on_change(
        [this](const JsonPtr& old, const JsonPtr& now) { shell.feed(limit_range_event(old, now)); });
    cluster.runtime_classes.on_change(
        [this](const JsonPtr& old, const JsonPtr& now) { shell.feed(runtime_class_event(old, now)); });
    cluster.nodes.on_change([this](const std::string& name, const auto& old, const auto& now) {
      hosts.changed(old, now);
      ungater.nodes_changed();
      if (failure_recovery) failure_recovery->node_changed(name);
      devices.node_changed(name, now);
      shell.feed(seen_or_gone<engine::NodeSeen, engine::NodeGone>(name, now));
    });
    cluster.pods.on_change([this](const JsonPtr& old, const JsonPtr& now) { pod_changed(old, now); });
    classes.on_change([this] {
      job_facts_changed();
      if (volcano) volcano->priorities_changed();
    });
    cluster.jobs.on_change([this](const JsonPtr& old, const JsonPtr& now) { job_controller.job_changed(old, now); });
  }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    devices.pod_changed(old, now);
    ungater.pod_changed(old, now);
    owners.pod_changed(old, now);
    if (pod_controller) pod_controller->pod_changed(old, now);
    if (!pod_controller && !old && shell.leading() && managed.manages_pod(*now))
      record_unmanaged_pod(*now, shell.events);
    if (failure_recovery) failure_recovery->pod_changed(old, now);
    if (volcano) volcano->pod_changed(old, now);
    if (const auto event = pod_source.changed(old, now)) shell.feed(*event);
  }

  void workload_changed(const std::string& key, const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& after) {
    job_controller.workload_changed(before, after);
    described_kinds.workload_changed(before, after);
    if (pod_controller) pod_controller->workload_changed(before, after);
    provisioning.workload_changed(key, before, after);
    multikueue.workload_changed(key, before, after);
    ownerless_workloads.workload_changed(key, after);
    if (!after) {
      job_controller.workload_gone(key);
      described_kinds.workload_gone(key);
    }
    ungater.workload_changed(key, after);
  }

  void job_facts_changed() {
    job_controller.facts_changed();
    described_kinds.facts_changed();
    if (pod_controller) pod_controller->facts_changed();
    if (failure_recovery) failure_recovery->facts_changed();
    owners.look_at_all();
  }

  // --- Start and end.

  void start() {
    caches.start([this] { look_whether_synced(); });
    provisioning.read();
    described_kinds.read();
    devices.read();
    owners.read();
    if (volcano) volcano->read();
  }

  // Whether the kinds that a cluster may lack have been read, or are known to be absent.
  bool settled() const { return described_kinds.settled() && devices.settled() && (!volcano || volcano->settled()); }

  // The caches complete in any order. The engine gets everything before it decides.
  void look_whether_synced() {
    is_synced = is_synced || (caches.synced() && settled());
    if (is_synced && synced_handler) std::exchange(synced_handler, {})();
    begin();
  }

  // The last writes of the previous leader may not have come through the watch yet. Deciding without them could
  // assign the same quota or the same place twice, and no precondition of a write would detect that.
  void lead(std::function<Time()> until) {
    shell.writes.allow_until(std::move(until));
    may_lead = true;
    if (!caches.started()) return;
    caches.read_anew(cluster.workloads, [this] { begin(); });
    if (volcano) volcano->read_anew();
    const bool needs_pods = flavors.any_with_topology() || options().manage_pods ||
                            (volcano && volcano->counts_pods()) ||
                            options().engine.wait_for_pods_ready.limits_scheduling();
    if (needs_pods || !caches.synced()) caches.read_anew(cluster.pods, [this] { begin(); });
  }

  void begin() {
    const bool knows_all = caches.synced() && !caches.reading_anew() && settled();
    if (!knows_all || !may_lead || draining || shell.leading()) return;
    shell.lead();
    job_controller.start();
    described_kinds.start();
    if (pod_controller) pod_controller->start();
    if (failure_recovery) failure_recovery->start();
    owners.look_at_all();
    provisioning.start();
    multikueue.start();
    ownerless_workloads.start();
    start_notices.start();
    default_queues.start();
    ungater.start();
    if (volcano) volcano->start();
    if (leading_handler) leading_handler();
  }

  void drain(std::function<void()> done) {
    draining = true;
    shell.host.stop();
    shell.writes.close(multikueue.drain(std::move(done)));
  }

  std::vector<std::string> missing() const {
    auto missing = caches.missing();
    if (is_synced) return missing;
    std::ranges::copy(described_kinds.missing(), std::back_inserter(missing));
    std::ranges::copy(devices.missing(), std::back_inserter(missing));
    if (volcano) std::ranges::copy(volcano->missing(), std::back_inserter(missing));
    return missing;
  }

  JsonPtr find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
    if (JsonPtr known = caches.get(resource, ns, name)) return known;
    if (JsonPtr known = described_kinds.find(resource, ns, name)) return known;
    return volcano ? volcano->find(resource, api::object_key(ns, name)) : nullptr;
  }

  // --- What jobs and their checks need to know.

  jobs::JobFacts job_facts() {
    jobs::JobFacts facts;
    facts.gates = options().jobs;
    facts.flavors = flavors.lookup();
    facts.workload = [this](std::string_view ns, std::string_view name) {
      return workloads.find(api::object_key(ns, name));
    };
    facts.label_keys_to_copy = options().label_keys_to_copy;
    facts.annotation_keys_to_copy = options().annotation_keys_to_copy;
    look_up_classes(classes, facts);
    return facts;
  }

  JobController::Rules batch_job_rules() {
    return {[this](const Json& job) { return managed.manages_kind_of(job); },
            // Nobody looks after the workloads of pods when these are not managed.
            [this](const api::kueue::Workload& workload) {
              return described_kinds.had(workload) || (options().manage_pods && PodController::owns(workload));
            },
            [this](const api::kueue::Workload& workload) {
              return described_kinds.named(workload) || (pod_controller && pod_controller->named(workload));
            }};
  }

  // True for kinds whose workloads Berth does not make.
  bool admitted(const api::GroupVersionResource& resource, const Json& job) const {
    return resource == api::kJobs ? job_controller.admitted(job)
                                  : described_kinds.admitted(resource, job).value_or(true);
  }

  // --- Effects of the engine.

  void cluster_queue_status_changed(const std::string& name) override {
    upkeep.cluster_queue_changed(name);
    metrics.cluster_queue_changed(name);
  }
  void local_queue_status_changed(const std::string& ns, const std::string& name) override {
    const std::string key = api::object_key(ns, name);
    upkeep.local_queue_changed(key);
    metrics.local_queue_changed(key);
  }
  void cohort_status_changed(const std::string& name) override {
    upkeep.cohort_changed(name);
    metrics.cohort_changed(name);
  }
  void set_finalizer(const engine::SetFinalizer& effect) override { upkeep.take(effect); }
  void decided(const engine::Effects& effects, Duration took) override { metrics.decided(effects, took); }
  bool take(const engine::Effect& effect) override { return volcano && volcano->take(effect); }

  Shell shell;
  Cluster cluster{shell};
  Caches caches;
  bool may_lead = false;
  bool is_synced = false;  // every cache has been complete once
  bool draining = false;
  std::function<void()> synced_handler, leading_handler;
  DecodedFlavors flavors;
  DecodedWorkloads workloads{shell, cluster.workloads,
                             [this](const std::string& key, const jobs::WorkloadPtr& before,
                                    const jobs::WorkloadPtr& now, const jobs::WorkloadPtr& kept) {
                               devices.workload_changed(key, now);
                               metrics.workload_changed(key, before, now);
                               workload_changed(key, before, kept);
                             }};
  DeviceQuota devices{shell, workloads, [this] { look_whether_synced(); }};
  PriorityClasses classes{cluster.workload_priority_classes, cluster.priority_classes, {}, {}};
  NodeHosts hosts;
  PodSource pod_source{options().engine.wait_for_pods_ready.limits_scheduling()};
  MetricsFeed metrics{shell, cluster};
  // Any cached object.
  const api::kueue::ObjectGetter cached = [this](const api::GroupVersionResource& resource, std::string_view ns,
                                                 std::string_view name) { return find(resource, ns, name); };
  const ManagedObjects managed{
      {shell.options, [this](std::string_view ns) { return cluster.namespaces.get(ns); }, cached,
       [this](const api::GroupVersionResource& resource, const Json& job) { return admitted(resource, job); }}};
  const JobEnvironment environment{shell, workloads, managed, metrics, job_facts()};
  DescribedKinds described_kinds{environment, cached, [this] { look_whether_synced(); }};
  JobController job_controller{jobs::batch_job(), environment, cluster.jobs, batch_job_rules()};
  const std::unique_ptr<PodController> pod_controller =  // null: pods are not managed
      options().manage_pods ? std::make_unique<PodController>(environment, owners) : nullptr;
  const std::unique_ptr<FailureRecovery> failure_recovery =  // null: switched off
      options().jobs.failure_recovery ? std::make_unique<FailureRecovery>(shell, managed, cluster.nodes) : nullptr;
  GroupOwners owners{shell, managed, workloads, cluster.stateful_sets, pod_controller.get()};
  ProvisioningController provisioning{shell, workloads, flavors.lookup(), cluster.checks};
  MultiKueueController multikueue{shell, workloads, cluster.checks, described_kinds.dispatched(cluster.jobs),
                                  cluster.namespaces};
  DefaultQueues default_queues{shell, cluster};
  OwnerlessWorkloads ownerless_workloads{
      shell, options().manage_pods ? PodController::owns : std::function<bool(const api::kueue::Workload&)>()};
  StartNotices start_notices{shell};
  Ungater ungater{shell,
                  {hosts.facts(), [this](const std::string& key) { return workloads.find(key); },
                   [this](const api::kueue::Workload& workload, const Json& pod, std::string_view gate) {
                     const bool grouped =
                         !api::kueue::pod_group_name(pod, options().jobs.identifier_annotations).empty();
                     metrics.gate_removed(gate, workload, grouped);
                   }}};
  const std::unique_ptr<VolcanoController> volcano =  // null: Volcano is switched off
      options().volcano.enabled
          ? std::make_unique<VolcanoController>(shell, cluster.priority_classes, [this] { look_whether_synced(); })
          : nullptr;
  ObjectUpkeep upkeep{shell, cluster};
};

Controller::Controller(api::RestClient& client, Executor& executor, ControllerOptions options)
    : impl_(std::make_unique<Impl>(client, executor, std::move(options))) {}
Controller::~Controller() = default;

void Controller::start() { impl_->start(); }
bool Controller::synced() const { return impl_->is_synced; }
void Controller::on_synced(std::function<void()> handler) { impl_->synced_handler = std::move(handler); }
void Controller::lead(std::function<Time()> until) { impl_->lead(std::move(until)); }
bool Controller::leading() const { return impl_->shell.leading(); }
void Controller::on_leading(std::function<void()> handler) { impl_->leading_handler = std::move(handler); }
std::vector<api::GroupVersionResource> Controller::resources() const { return impl_->caches.resources(); }
std::vector<std::string> Controller::missing() const { return impl_->missing(); }
void Controller::when_events_are_written(std::function<void()> done) {
  impl_->shell.events.when_written(std::move(done));
}
void Controller::drain(std::function<void()> done) { impl_->drain(std::move(done)); }
JsonPtr Controller::find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
  return impl_->find(resource, ns, name);
}
bool Controller::manages_namespace(std::string_view ns) const { return impl_->managed.manages_namespace(ns); }
api::kueue::AdmissionRules Controller::volcano_rules(std::string_view group, std::string_view resource) const {
  return impl_->volcano ? impl_->volcano->rules(group, resource) : api::kueue::AdmissionRules();
}
std::size_t Controller::volcano_holders(std::string_view queue) const {
  return impl_->volcano ? impl_->volcano->holders_in(queue) : 0;
}
const engine::Engine& Controller::engine() const { return impl_->shell.host.engine(); }
engine::Forecasts& Controller::forecasts() const { return impl_->shell.host.forecasts(); }
engine::Ptr<api::kueue::DeviceCharge> Controller::device_charge(const api::kueue::Workload& workload) const {
  return impl_->devices.charge(workload);
}
void Controller::refresh_metrics() {
  if (impl_->shell.leading()) impl_->multikueue.refresh_metrics(impl_->cluster.cluster_queues.all());
  impl_->metrics.refresh([this](const api::GroupVersionResource& what, std::string_view ns, std::string_view name) {
    return impl_->caches.get(what, ns, name);
  });
}
void Controller::on_round(std::function<void()> handler) { impl_->shell.host.on_round(std::move(handler)); }
const std::map<std::string, std::uint64_t>& Controller::request_counts() const { return impl_->shell.writes.counts(); }

}  // namespace berth::controller
