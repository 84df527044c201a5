#include "controller/controller.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "api/batch/job_validation.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/unlisted_kinds.h"
#include "api/kueue/webhooks/admission.h"
#include "api/resource_version.h"
#include "api/resources.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/planted.h"
#include "controller/caches.h"
#include "controller/decoded_flavors.h"
#include "controller/described_kinds.h"
#include "controller/engine_host.h"
#include "controller/failure_recovery.h"
#include "controller/job_classes.h"
#include "controller/job_controller.h"
#include "controller/leader_worker_sets.h"
#include "controller/managed_objects.h"
#include "controller/metrics.h"
#include "controller/object_upkeep.h"
#include "controller/ownerless_workloads.h"
#include "controller/placement_sources.h"
#include "controller/pod_controller.h"
#include "controller/provisioning.h"
#include "controller/served_sets.h"
#include "controller/shared_templates.h"
#include "controller/sources.h"
#include "controller/ungater.h"
#include "controller/unreadable.h"
#include "controller/volcano_controller.h"
#include "controller/writes.h"
#include "jobs/compose.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/stateful_set.h"
#include "jobs/pods/waiting.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {
namespace {

using jobs::WorkloadPtr;
using kube::Informer;

// Event names must differ from those of other recorders with the same seed.
constexpr std::uint64_t kEventSeed = 0x6265727468;

std::string_view uid_of(const Json& object) { return string_at(object, {"metadata", "uid"}); }

}  // namespace

struct Controller::Impl {
  Impl(api::RestClient& c, Executor& e, ControllerOptions o)
      : client(c),
        executor(e),
        options(std::move(o)),
        writes(client, executor),
        events(client, executor, {.instance = "berth", .seed = options.seed ^ kEventSeed}),
        unreadable(events, [this] { return is_leading; }),
        cluster_queues(client, executor, api::kClusterQueues, informer_options()),
        local_queues(client, executor, api::kLocalQueues, informer_options()),
        cohorts(client, executor, api::kCohorts, informer_options()),
        flavors(client, executor, api::kResourceFlavors, informer_options()),
        topologies(client, executor, api::kTopologies, informer_options()),
        checks(client, executor, api::kAdmissionChecks, informer_options()),
        workload_priority_classes(client, executor, api::kWorkloadPriorityClasses, informer_options()),
        namespaces(client, executor, api::kNamespaces, informer_options()),
        nodes(client, executor, api::kNodes, informer_options()),
        pods(client, executor, api::kPods, informer_options(false)),
        limit_ranges(client, executor, api::kLimitRanges, informer_options()),
        runtime_classes(client, executor, api::kRuntimeClasses, informer_options()),
        priority_classes(client, executor, api::kPriorityClasses, informer_options()),
        workloads(client, executor, api::kWorkloads, informer_options(false)),
        jobs(client, executor, api::kJobs, informer_options()),
        stateful_sets(client, executor, jobs::stateful_set_kind().resource, informer_options()),
        host(executor, writes, events, options.engine, sinks(), options.journal),
        described_kinds(described_context(), managed_kinds(), external_resources()),
        job_controller(jobs::batch_job(), batch_job_context()),
        pod_controller(options.manage_pods ? std::make_unique<PodController>(pod_context()) : nullptr),
        failure_recovery(options.jobs.failure_recovery ? std::make_unique<FailureRecovery>(recovery_context())
                                                       : nullptr),
        leader_worker_sets(options.manage_leader_worker_sets
                               ? std::make_unique<LeaderWorkerSets>(leader_worker_set_context())
                               : nullptr),
        provisioning(provisioning_context()),
        ownerless_workloads(
            executor, writes,
            options.manage_pods ? PodController::owns : std::function<bool(const api::kueue::Workload&)>()),
        ungater({executor, writes, events, host_facts(), [this](const std::string& key) { return workload_of(key); },
                 options.ungate_delay,
                 [this](const api::kueue::Workload& workload, const Json& pod) {
                   const bool grouped = !api::kueue::pod_group_name(pod, options.jobs.identifier_annotations).empty();
                   gate_removed(api::kueue::kTopologyGate, workload, grouped);
                 }}),
        queue_status_rate(options.queue_status_rate, executor.now()),
        volcano(options.volcano.enabled ? std::make_unique<VolcanoController>(volcano_context()) : nullptr),
        upkeep({executor, writes, cluster_queues, local_queues, cohorts, flavors, topologies, checks,
                [this]() -> const engine::Engine& { return host.engine(); }, [this] { return is_leading; },
                options.queue_status_delay, queue_status_rate}) {
    connect();
  }

  ~Impl() { *alive = false; }

  // There are many pods and workloads: their objects are not kept, only what is decoded from them.
  kube::InformerOptions informer_options(bool keep_objects = true) {
    kube::InformerOptions o;
    o.keep_objects = keep_objects;
    o.seed = options.seed * 1000 + ++informer_count;
    return o;
  }

  // --- Changes in the caches, for the engine and the jobs.

  // nullopt: nothing that the engine has to know. Error: `now` cannot be decoded.
  using ToEvent = std::function<Result<std::optional<engine::Event>>(const JsonPtr& old, const JsonPtr& now)>;

  using Then = std::function<void(const std::string& key, bool gone)>;

  void source(Informer& informer, ToEvent convert, Then then = {}) {
    caches.add(informer);
    informer.on_change(
        [this, convert = std::move(convert), then = std::move(then)](const JsonPtr& old, const JsonPtr& now) {
          see(convert, old, now);
          if (then) then(api::object_key(now ? *now : *old), !now);
        });
  }

  // For an object that cannot be decoded, the last readable version is used, unless that was another object of the
  // same name.
  void see(const ToEvent& convert, const JsonPtr& old, const JsonPtr& now) {
    auto event = convert(old, now);
    if (event) {
      unreadable.remove(now ? *now : *old);
      if (*event) host.feed(**event);
      return;
    }
    const JsonPtr instead = unreadable.add(old, now, event.error().message);
    if (old && uid_of(*old) != uid_of(*now)) event = convert(old, nullptr);
    if (event && *event) host.feed(**event);
    if (!instead) return;
    event = convert(old, instead);
    if (event && *event) host.feed(**event);
  }

  // Ignores Kueue objects whose names are reserved for Volcano's queues.
  ToEvent kueue_name(ToEvent convert) {
    return [this, convert = std::move(convert)](const JsonPtr& old,
                                                const JsonPtr& now) -> Result<std::optional<engine::Event>> {
      const Json& object = now ? *now : *old;
      const auto name = string_at(object, {"metadata", "name"});
      if (!volcano || !is_reserved_name(name)) return convert(old, now);
      if (!old)
        log::error(
            "an object has a name that is kept for Volcano's queues and is ignored: give it one that does not begin "
            "with volcano.",
            {{"kind", string_at(object, {"kind"})}, {"name", name}});
      return std::nullopt;
    };
  }

  void connect() {
    // Queues, and the objects that they refer to, are started before workloads, so that the queue of a workload is
    // known when the workload is first seen.
    source(namespaces, [this](const JsonPtr& old, const JsonPtr& now) {
      const bool same =
          old && now && object_at(*old, {"metadata", "labels"}) == object_at(*now, {"metadata", "labels"});
      if (!same) job_facts_changed();
      return namespace_event(old, now);
    });
    source(limit_ranges, limit_range_event);
    source(runtime_classes, runtime_class_event);
    source(
        flavors,
        [this](const JsonPtr& old, const JsonPtr& now) {
          auto event = resource_flavor_event(old, now);
          return volcano && event ? volcano->flavor_event(std::move(*event)) : event;
        },
        [this](const std::string& key, bool gone) {
          decoded_flavors.changed(key, flavors.get(key));
          upkeep.object_changed("ResourceFlavor", key, gone);
          job_facts_changed();
          provisioning.facts_changed();
        });
    source(topologies, topology_event,
           [this](const std::string& key, bool gone) { upkeep.object_changed("Topology", key, gone); });
    source(nodes, [this](const JsonPtr& old, const JsonPtr& now) {
      auto event = node_source.changed(old, now);
      if (event) ungater.nodes_changed();
      if (failure_recovery)
        failure_recovery->node_changed(std::string(string_at(now ? *now : *old, {"metadata", "name"})));
      return event;
    });
    source(pods, [this](const JsonPtr& old, const JsonPtr& now) {
      ungater.pod_changed(old, now);
      if (leader_worker_sets) leader_worker_sets->pod_changed(old, now);
      if (pod_controller) pod_controller->pod_changed(old, now);
      if (!pod_controller && !old && is_leading) tell_unmanaged_pod(*now);
      if (failure_recovery) failure_recovery->pod_changed(old, now);
      if (volcano) volcano->pod_changed(old, now);
      return pod_source.changed(old, now);
    });
    source(checks, admission_check_event, [this](const std::string& key, bool gone) {
      upkeep.object_changed("AdmissionCheck", key, gone);
      provisioning.check_changed(key);
    });
    source(cohorts, kueue_name(cohort_event), [this](const std::string& key, bool gone) {
      if (options.metrics) gone ? options.metrics->cohort_gone(key) : options.metrics->cohort_changed(key);
      if (options.engine.fair_sharing.enabled) upkeep.cohort_changed(key);
    });
    source(cluster_queues, kueue_name(cluster_queue_event), [this](const std::string& key, bool gone) {
      upkeep.object_changed("ClusterQueue", key, gone);
      upkeep.cluster_queue_changed(key);
      if (options.metrics)
        gone ? options.metrics->cluster_queue_gone(key) : options.metrics->cluster_queue_changed(key);
    });
    source(local_queues, local_queue_event, [this](const std::string& key, bool gone) {
      upkeep.local_queue_changed(key);
      if (!options.metrics) return;
      const std::string ns = key.substr(0, key.find('/')), name = key.substr(key.find('/') + 1);
      gone ? options.metrics->local_queue_gone(ns, name) : options.metrics->local_queue_changed(ns, name);
    });
    for (Informer* classes : {&workload_priority_classes, &priority_classes}) {
      caches.add(*classes);
      classes->on_change([this](const JsonPtr&, const JsonPtr&) {
        job_facts_changed();
        if (volcano) volcano->priorities_changed();
      });
    }
    caches.add(jobs);
    jobs.on_change([this](const JsonPtr& old, const JsonPtr& now) { job_controller.job_changed(old, now); });
    if (options.manage_stateful_sets && pod_controller) {
      caches.add(stateful_sets);
      stateful_sets.on_change([this](const JsonPtr& old, const JsonPtr& now) { served_sets.set_changed(old, now); });
    }
    caches.add(workloads);
    workloads.on_change([this](const JsonPtr& old, const JsonPtr& now) { workload_changed(old, now); });
  }

  void start() {
    caches.start([this] { look_whether_synced(); });
    provisioning.read();
    described_kinds.read();
    if (leader_worker_sets) leader_worker_sets->read();
    if (volcano) volcano->read();
  }

  // The caches complete in any order. The engine gets everything before it decides.
  void look_whether_synced() {
    is_synced = is_synced || (caches.synced() && described_kinds.settled() && (!volcano || volcano->settled()));
    if (is_synced && synced_handler) std::exchange(synced_handler, {})();
    begin();
  }

  // The last writes of the previous leader may not have come through the watch yet. Deciding without them could
  // assign the same quota or the same place twice, and no precondition of a write would detect that.
  void lead(std::function<Time()> until) {
    writes.allow_until(std::move(until));
    may_lead = true;
    if (!caches.started()) return;
    caches.read_anew(workloads, [this] { begin(); });
    if (volcano) volcano->read_anew();
    const bool places = decoded_flavors.any_with_topology();
    const bool needs_pods = places || options.manage_pods || (volcano && volcano->counts_pods());
    if (needs_pods || !caches.synced()) caches.read_anew(pods, [this] { begin(); });
  }

  void begin() {
    const bool knows_all =
        caches.synced() && !caches.reading_anew() && described_kinds.settled() && (!volcano || volcano->settled());
    if (!knows_all || !may_lead || draining || std::exchange(is_leading, true)) return;
    host.lead();
    unreadable.tell_all();
    job_controller.start();
    described_kinds.start();
    if (pod_controller) pod_controller->start();
    if (failure_recovery) failure_recovery->start();
    look_at_served_groups();
    provisioning.start();
    ownerless_workloads.start();
    ungater.start();
    if (volcano) volcano->start();
    if (leading_handler) leading_handler();
  }

  void drain(std::function<void()> done) {
    draining = true;
    host.stop();
    writes.close(std::move(done));
  }

  void workload_changed(const JsonPtr& old, const JsonPtr& now) {
    const std::string key = api::object_key(now ? *now : *old);
    const auto known = decoded.find(key);
    const WorkloadPtr before = known == decoded.end() ? nullptr : known->second;
    WorkloadPtr after;
    if (now) {
      auto workload = api::kueue::decode_workload(*now, share_template);
      if (workload) {
        unreadable.remove(*now);
      } else {
        const JsonPtr instead = unreadable.add(old, now, workload.error().message);
        if (instead) workload = api::kueue::decode_workload(*instead, share_template);
        if (!workload) return workload_unreadable(key, before, *now);
      }
      templates.share_requests(*workload);
      after = std::make_shared<const api::kueue::Workload>(std::move(*workload));
      // Finished, and no job ever owned it: drop it from the cache.
      if (after->meta.owners.empty() && !jobs::is_group_workload(*after) &&
          !after->meta.labels.contains(std::string(jobs::kJobUidLabel)) &&
          api::is_true(after->status.conditions, api::kueue::kFinished)) {
        if (before) decoded.erase(known);
      } else if (before) {
        known->second = after;
      } else {
        decoded.emplace(key, after);
      }
      host.feed(engine::WorkloadSeen{after});
    } else {
      unreadable.remove(*old);
      BERTH_INVARIANT(before || !planted(Planted::kForgottenWorkload));
      if (before) decoded.erase(known);
      host.feed(engine::WorkloadGone{std::string(string_at(*old, {"metadata", "namespace"})),
                                     std::string(string_at(*old, {"metadata", "name"})), std::string(uid_of(*old))});
    }
    workload_told(key, before, after);
  }

  // No version of the workload can be decoded. If `before` was another workload of the same name, that one is gone.
  void workload_unreadable(const std::string& key, const WorkloadPtr& before, const Json& now) {
    if (!before || before->meta.uid == uid_of(now)) return;
    decoded.erase(key);
    host.feed(engine::WorkloadGone{before->meta.ns, before->meta.name, before->meta.uid});
    workload_told(key, before, nullptr);
  }

  void workload_told(const std::string& key, const WorkloadPtr& before, const WorkloadPtr& after) {
    if (options.metrics) options.metrics->finished_workloads().seen(key, after.get());
    if (options.metrics && is_leading && before && after)
      options.metrics->workloads().changed(*before, *after, known_queues);
    job_controller.workload_changed(before, after);
    described_kinds.workload_changed(before, after);
    if (pod_controller) pod_controller->workload_changed(before, after);
    provisioning.workload_changed(key, before, after);
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
    look_at_served_groups();
  }

  JsonPtr find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
    if (JsonPtr known = caches.get(resource, ns, name)) return known;
    if (JsonPtr known = described_kinds.find(resource, ns, name)) return known;
    return volcano ? volcano->find(resource, api::object_key(ns, name)) : nullptr;
  }

  // --- What jobs and their checks need to know.

  jobs::FlavorLookup flavor_lookup() {
    return [this](std::string_view name) { return decoded_flavors.find(name); };
  }

  jobs::WorkloadPtr workload_of(const std::string& key) const {
    const auto it = decoded.find(key);
    return it == decoded.end() ? nullptr : it->second;
  }

  ProvisioningController::Context provisioning_context() {
    return {client,
            executor,
            writes,
            events,
            checks,
            [this] { return informer_options(); },
            [this](const engine::Event& event) { host.feed(event); },
            [this](const std::string& key) { return workload_of(key); },
            flavor_lookup()};
  }

  VolcanoController::Context volcano_context() {
    return {client,
            executor,
            writes,
            events,
            unreadable,
            [this] { return informer_options(); },
            [this](const engine::Event& event) { host.feed(event); },
            [this]() -> const engine::Engine& { return host.engine(); },
            [this](std::string_view name) { return class_value(priority_classes, name).value_or(0); },
            [this] { look_whether_synced(); },
            queue_status_rate,
            options.volcano.tree,
            options.volcano.admission};
  }

  jobs::JobFacts job_facts() {
    jobs::JobFacts facts;
    facts.gates = options.jobs;
    facts.flavors = flavor_lookup();
    facts.workload = [this](std::string_view ns, std::string_view name) {
      return workload_of(api::object_key(ns, name));
    };
    facts.label_keys_to_copy = options.label_keys_to_copy;
    look_up_classes(workload_priority_classes, priority_classes, facts);
    return facts;
  }

  std::function<bool(std::string_view)> workloads_seen() {
    return [this](std::string_view version) {
      return api::version_number(workloads.resource_version()) >= api::version_number(version);
    };
  }

  // Workloads that the controller of Jobs leaves to others. Nobody looks after those of pods when these are not
  // managed.
  bool is_of_others(const api::kueue::Workload& workload) const {
    return described_kinds.had(workload) || (options.manage_pods && PodController::owns(workload));
  }

  // `its_kind`: whether jobs such as this are managed at all.
  JobController::Context job_context(Informer& cache, std::function<bool(const Json& job)> its_kind) {
    return {executor,
            writes,
            events,
            cache,
            [this](const engine::Event& event) { host.feed(event); },
            [this, its_kind = std::move(its_kind)](const Json& job, jobs::JobFacts& facts) {
              managed.judge(job, its_kind(job), facts);
            },
            workloads_seen(),
            job_facts(),
            {},
            {},
            [this](std::string_view kind, const Json& job) { tell_creation(kind, job); }};
  }

  void tell_creation(std::string_view kind, const Json& job) {
    if (!options.metrics) return;
    const auto created = parse_time(string_at(job, {"metadata", "creationTimestamp"}));
    if (created) options.metrics->workload_created(std::string(kind), executor.now() - *created);
  }

  JobController::Context batch_job_context() {
    auto context = job_context(jobs, [this](const Json& job) { return managed.manages_kind_of(job); });
    context.of_others = [this](const api::kueue::Workload& workload) { return is_of_others(workload); };
    context.named_by_others = [this](const api::kueue::Workload& workload) {
      return described_kinds.named(workload) || (pod_controller && pod_controller->named(workload));
    };
    return context;
  }

  DescribedKinds::Context described_context() {
    return {client,
            executor,
            [this] { return informer_options(); },
            cached,
            [this](Informer& cache, const jobs::kinds::JobKindSpec& kind) {
              return job_context(cache, [&kind](const Json& job) { return !jobs::kinds::is_skipped(kind, job); });
            },
            [this] { look_whether_synced(); },
            options.compare_kinds};
  }

  std::vector<jobs::kinds::JobKindPtr> managed_kinds() const {
    std::vector<jobs::kinds::JobKindPtr> out;
    for (const auto& kind : options.kinds) {
      if (kind.managed) out.push_back(kind.description);
    }
    return out;
  }

  std::vector<api::GroupVersionResource> external_resources() const {
    std::vector<api::GroupVersionResource> out;
    for (const auto& kind : options.external_kinds) out.push_back(kind.resource);
    return out;
  }

  PodController::Context pod_context() {
    jobs::JobFacts facts = job_facts();
    facts.served_group = [this](std::string_view ns, std::string_view name) {
      auto group = served_sets.group(ns, name);
      return group || !leader_worker_sets ? group : leader_worker_sets->group(ns, name);
    };
    return {executor,
            writes,
            events,
            [this](const engine::Event& event) { host.feed(event); },
            [this](std::string_view ns) { return managed.manages_namespace(ns); },
            workloads_seen(),
            templates,
            std::move(facts),
            options.ungate_delay,
            [this](const Json& pod) { return served_group_of(pod); },
            [this](const api::kueue::Workload& workload) {
              return leader_worker_sets && leader_worker_sets->may_be_owned(workload);
            },
            [this](const api::kueue::Workload& workload, const jobs::ManagedPod& pod) {
              gate_removed(api::kueue::kAdmissionGate, workload, !pod.group.empty());
            }};
  }

  void gate_removed(std::string_view gate, const api::kueue::Workload& workload, bool grouped) {
    if (options.metrics)
      options.metrics->workloads().gate_removed(gate, workload, grouped, executor.now(), known_queues);
  }

  std::optional<std::string> served_group_of(const Json& pod) const {
    if (options.manage_stateful_sets) {
      if (auto group = jobs::group_of_stateful_set_pod(pod)) return group;
    }
    return leader_worker_sets ? leader_worker_sets->group_of(pod) : std::nullopt;
  }

  ServedSets::Changed group_changed() {
    return [this](const std::string& ns, const std::string& group, bool gone) {
      if (pod_controller) pod_controller->owner_changed(ns, group, gone);
    };
  }

  void look_at_served_groups() {
    served_sets.look_at_all();
    if (leader_worker_sets) leader_worker_sets->look_at_all();
  }

  LeaderWorkerSets::Context leader_worker_set_context() {
    return {client,
            executor,
            events,
            informer_options(),
            options.jobs.identifier_annotations,
            [this] { return is_leading; },
            [this](const Json& set) { return managed.manages_set(set); },
            group_changed(),
            [this](const std::string& uid) {
              if (pod_controller) pod_controller->regroup(uid);
            },
            [this] {
              if (pod_controller) pod_controller->owners_known();
            },
            [this](std::string_view ns, std::string_view name) { return workload_of(api::object_key(ns, name)); }};
  }

  FailureRecovery::Context recovery_context() {
    return {executor, writes, events, [this](std::string_view name) { return nodes.get(name); },
            [this](std::string_view ns) { return managed.manages_namespace(ns); }};
  }

  jobs::HostFacts host_facts() const {
    return {[this](std::string_view hostname) { return node_source.exists(hostname); },
            [this](std::string_view hostname) { return node_source.usable(hostname); }};
  }

  // A new pod with a queue name, while pods are not managed.
  void tell_unmanaged_pod(const Json& pod) {
    const std::string warning = api::kueue::unlisted_kind_warning(pod, nullptr, "Pod", api::kueue::kPodFramework);
    if (warning.empty()) return;
    if (!managed.manages_pod(pod)) return;
    const Target target = Target::of(api::kPods, pod);
    events.record({"v1", "Pod", target.ns, target.name, target.uid, target.resource_version},
                  {true, "NotManaged", warning, {}, std::string(jobs::kWaitingController)});
  }

  // True for kinds whose workloads Berth does not make.
  bool admitted(const api::GroupVersionResource& resource, const Json& job) const {
    return resource == api::kJobs ? job_controller.admitted(job)
                                  : described_kinds.admitted(resource, job).value_or(true);
  }

  EffectSinks sinks() {
    return {[this](std::string_view name) {
              upkeep.cluster_queue_changed(std::string(name));
              if (options.metrics && cluster_queues.get(name)) options.metrics->cluster_queue_changed(name);
            },
            [this](std::string_view ns, std::string_view name) {
              const std::string key = api::object_key(ns, name);
              upkeep.local_queue_changed(key);
              if (options.metrics && local_queues.get(key)) options.metrics->local_queue_changed(ns, name);
            },
            [this](std::string_view name) {
              upkeep.cohort_changed(std::string(name));
              if (options.metrics && cohorts.get(name)) options.metrics->cohort_changed(name);
            },
            [this](const engine::SetFinalizer& effect) { upkeep.take(effect); },
            [this](const engine::Effects& effects, Duration took) {
              if (options.metrics) options.metrics->decided(effects, took);
            },
            [this](const engine::Effect& effect) { return volcano && volcano->take(effect); }};
  }

  api::RestClient& client;
  Executor& executor;
  ControllerOptions options;
  std::uint64_t informer_count = 0;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  Writes writes;
  kube::EventRecorder events;
  UnreadableObjects unreadable;
  Informer cluster_queues, local_queues, cohorts, flavors, topologies, checks, workload_priority_classes, namespaces,
      nodes, pods, limit_ranges, runtime_classes, priority_classes, workloads, jobs, stateful_sets;
  NodeSource node_source;
  PodSource pod_source;
  Caches caches;
  bool may_lead = false;
  bool is_synced = false;  // every cache has been complete once
  bool is_leading = false;
  bool draining = false;
  std::function<void()> synced_handler, leading_handler;
  std::map<std::string, WorkloadPtr> decoded;
  SharedTemplates templates;
  const api::kueue::TemplateKeeper share_template = [this](const Json& pod_template) {
    return templates.share(pod_template);
  };
  DecodedFlavors decoded_flavors;
  const WorkloadMetrics::Queues known_queues{
      [this](std::string_view name) { return cluster_queues.get(name) != nullptr; },
      [this](std::string_view ns, std::string_view name) {
        return local_queues.get(api::object_key(ns, name)) != nullptr;
      },
      [this](std::string_view cluster_queue) { return host.engine().cohorts_above(cluster_queue); }};
  // Any cached object.
  const api::kueue::ObjectGetter cached = [this](const api::GroupVersionResource& resource, std::string_view ns,
                                                 std::string_view name) { return find(resource, ns, name); };
  const ManagedObjects managed{
      {options, [this](std::string_view ns) { return namespaces.get(ns); }, cached,
       [this](const api::GroupVersionResource& resource, const Json& job) { return admitted(resource, job); }}};
  EngineHost host;
  DescribedKinds described_kinds;
  JobController job_controller;
  std::unique_ptr<PodController> pod_controller;      // null: pods are not managed
  std::unique_ptr<FailureRecovery> failure_recovery;  // null: switched off
  ServedSets served_sets{
      stateful_sets,
      {[](const Json&) { return 1; }, [](const Json& set, std::int64_t) { return jobs::group_of_stateful_set(set); },
       [](const JsonPtr& set, std::int64_t) { return jobs::served_by_stateful_set(set); }},
      [this](const Json& set) { return managed.manages_set(set); },
      group_changed()};
  std::unique_ptr<LeaderWorkerSets> leader_worker_sets;  // null: they are not managed
  ProvisioningController provisioning;
  OwnerlessWorkloads ownerless_workloads;
  Ungater ungater;
  kube::RateLimit queue_status_rate;
  std::unique_ptr<VolcanoController> volcano;  // null: Volcano is switched off
  ObjectUpkeep upkeep;
};

Controller::Controller(api::RestClient& client, Executor& executor, ControllerOptions options)
    : impl_(std::make_unique<Impl>(client, executor, std::move(options))) {}
Controller::~Controller() = default;

void Controller::start() { impl_->start(); }
bool Controller::synced() const { return impl_->is_synced; }
void Controller::on_synced(std::function<void()> handler) { impl_->synced_handler = std::move(handler); }
void Controller::lead(std::function<Time()> until) { impl_->lead(std::move(until)); }
bool Controller::leading() const { return impl_->is_leading; }
void Controller::on_leading(std::function<void()> handler) { impl_->leading_handler = std::move(handler); }
std::vector<api::GroupVersionResource> Controller::resources() const { return impl_->caches.resources(); }
std::vector<std::string> Controller::missing() const {
  auto missing = impl_->caches.missing();
  if (!impl_->is_synced) std::ranges::copy(impl_->described_kinds.missing(), std::back_inserter(missing));
  if (impl_->volcano && !impl_->is_synced) std::ranges::copy(impl_->volcano->missing(), std::back_inserter(missing));
  return missing;
}
void Controller::when_events_are_written(std::function<void()> done) { impl_->events.when_written(std::move(done)); }
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
const engine::Engine& Controller::engine() const { return impl_->host.engine(); }
const engine::RunHistory& Controller::run_history() const { return impl_->host.run_history(); }
void Controller::refresh_metrics() {
  if (impl_->options.metrics == nullptr || !impl_->is_leading) return;
  impl_->options.metrics->refresh(engine(), [this](const auto& resource, std::string_view ns, std::string_view name) {
    return impl_->caches.get(resource, ns, name);
  });
}
void Controller::on_round(std::function<void()> handler) { impl_->host.on_round(std::move(handler)); }
const std::map<std::string, std::uint64_t>& Controller::request_counts() const { return impl_->writes.counts(); }

}  // namespace berth::controller
