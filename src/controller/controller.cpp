#include "controller/controller.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/batch/job_validation.h"
#include "api/kueue/admission.h"
#include "api/resource_version.h"
#include "api/status.h"
#include "base/log.h"
#include "base/merge_patch.h"
#include "controller/engine_host.h"
#include "controller/job_controller.h"
#include "controller/metrics.h"
#include "controller/provisioning.h"
#include "controller/placement_sources.h"
#include "controller/queue_status.h"
#include "controller/resources.h"
#include "controller/shared_templates.h"
#include "controller/sources.h"
#include "controller/ungater.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {
namespace {

using jobs::WorkloadPtr;
using kube::Informer;

constexpr std::uint64_t kEventSeed = 0x6265727468;  // event names unlike those of other recorders with the same seed
constexpr std::string_view kJobControllerName =
    "kubernetes.io/job-controller";  // the default of spec.managedBy

std::string key_of(const Json& object) {
  return api::object_key(string_at(object, {"metadata", "namespace"}),
                         string_at(object, {"metadata", "name"}));
}

}  // namespace

struct Controller::Impl {
  Impl(api::RestClient& c, Executor& e, ControllerOptions o)
      : client(c),
        executor(e),
        options(std::move(o)),
        writes(client, executor),
        events(client, executor, {.instance = "berth", .seed = options.seed ^ kEventSeed}),
        cluster_queues(client, executor, kClusterQueues, informer_options()),
        local_queues(client, executor, kLocalQueues, informer_options()),
        cohorts(client, executor, kCohorts, informer_options()),
        flavors(client, executor, kResourceFlavors, informer_options()),
        topologies(client, executor, kTopologies, informer_options()),
        checks(client, executor, kAdmissionChecks, informer_options()),
        workload_priority_classes(client, executor, kWorkloadPriorityClasses, informer_options()),
        namespaces(client, executor, kNamespaces, informer_options()),
        nodes(client, executor, kNodes, informer_options()),
        pods(client, executor, kPods, informer_options(false)),
        limit_ranges(client, executor, kLimitRanges, informer_options()),
        runtime_classes(client, executor, kRuntimeClasses, informer_options()),
        priority_classes(client, executor, kPriorityClasses, informer_options()),
        workloads(client, executor, kWorkloads, informer_options(false)),
        jobs(client, executor, kJobs, informer_options()),
        host(executor, writes, events, options.engine, sinks()),
        job_controller(jobs::batch_job(), job_context()),
        provisioning(provisioning_context()),
        ungater({executor, writes, events, host_facts(), options.ungate_delay}),
        queue_status_rate(options.queue_status_rate, executor.now()),
        cluster_queue_statuses(executor,
                               writer([this](const std::string& key) { return cluster_queue_write(key); }),
                               options.queue_status_delay, &queue_status_rate),
        local_queue_statuses(executor,
                             writer([this](const std::string& key) { return local_queue_write(key); }),
                             options.queue_status_delay, &queue_status_rate),
        finalizers(executor, writer([this](const std::string& key) { return finalizer_write(key); })) {
    connect();
  }

  ~Impl() { *alive = false; }

  // Pods and workloads are many: what is needed of them is kept decoded.
  kube::InformerOptions informer_options(bool keep_objects = true) {
    kube::InformerOptions o;
    o.keep_objects = keep_objects;
    o.seed = options.seed * 1000 + ++informer_count;
    return o;
  }

  // --- From caches to the engine and the jobs.

  using ToEvent = std::function<std::optional<engine::Event>(const JsonPtr& old, const JsonPtr& now)>;

  void source(Informer& informer, ToEvent convert, std::function<void(const std::string& key)> then = {}) {
    all.push_back(&informer);
    informer.on_change([this, convert = std::move(convert), then = std::move(then)](const JsonPtr& old, const JsonPtr& now) {
      if (const auto event = convert(old, now)) host.feed(*event);
      if (then) then(key_of(now ? *now : *old));
    });
  }

  void connect() {
    // Queues and what they are made of come before workloads, so that the first look at a workload finds its
    // queue.
    source(namespaces, [this](const JsonPtr& old, const JsonPtr& now) {
      const bool same = old && now && object_at(*old, {"metadata", "labels"}) == object_at(*now, {"metadata", "labels"});
      if (!same) job_controller.facts_changed();
      return namespace_event(old, now);
    });
    source(limit_ranges, limit_range_event);
    source(runtime_classes, runtime_class_event);
    source(flavors, resource_flavor_event, [this](const std::string& key) {
      decode_flavor(key);
      finalizers.add("ResourceFlavor/" + key);
      job_controller.facts_changed();
      provisioning.facts_changed();
    });
    source(topologies, topology_event, [this](const std::string& key) { finalizers.add("Topology/" + key); });
    source(nodes, [this](const JsonPtr& old, const JsonPtr& now) {
      auto event = node_source.changed(old, now);
      if (event) ungater.nodes_changed();
      return event;
    });
    source(pods, [this](const JsonPtr& old, const JsonPtr& now) {
      ungater.pod_changed(old, now);
      return pod_source.changed(old, now);
    });
    source(checks, admission_check_event, [this](const std::string& key) {
      finalizers.add("AdmissionCheck/" + key);
      provisioning.check_changed(key);
    });
    source(cohorts, cohort_event);
    source(cluster_queues, cluster_queue_event, [this](const std::string& key) {
      finalizers.add("ClusterQueue/" + key);
      cluster_queue_statuses.add(key);
      if (options.metrics) options.metrics->cluster_queue_changed(key);
    });
    source(local_queues, local_queue_event, [this](const std::string& key) {
      local_queue_statuses.add(key);
      const auto slash = key.find('/');
      if (options.metrics) options.metrics->local_queue_changed(key.substr(0, slash), key.substr(slash + 1));
    });
    for (Informer* classes : {&workload_priority_classes, &priority_classes}) {
      all.push_back(classes);
      classes->on_change([this](const JsonPtr&, const JsonPtr&) { job_controller.facts_changed(); });
    }
    all.push_back(&jobs);
    jobs.on_change([this](const JsonPtr& old, const JsonPtr& now) { job_controller.job_changed(old, now); });
    all.push_back(&workloads);
    workloads.on_change([this](const JsonPtr& old, const JsonPtr& now) { workload_changed(old, now); });
    for (Informer* informer : all) {
      informer->on_synced([this] {
        if (--unsynced == 0) all_synced();
      });
      informer->on_list([this, informer](const api::RestResponse& response) { listed(informer->resource(), response); });
    }
  }

  // A list is tried again by itself; people want to know why it does not come. Once, until it came.
  void listed(const api::GroupVersionResource& resource, const api::RestResponse& response) {
    if (response.ok()) {
      unreadable.erase(resource.resource);
    } else if (unreadable.insert(resource.resource).second) {
      log::warn("cannot be read; trying again",
                {{"resource", resource.resource}, {"code", response.code}, {"why", std::string(api::status_message(response))}});
    }
  }

  void start() {
    started = true;
    unsynced = all.size();
    for (Informer* informer : all) informer->start();
    provisioning.read();
  }

  // The caches fill in any order; the engine gets everything before it decides.
  void all_synced() {
    is_synced = true;
    if (synced_handler) synced_handler();
    begin();
  }

  // What the last leader wrote may not have come through the watch yet: deciding without it could give the same quota or the same
  // place away twice, and no precondition of a write would notice.
  void lead(std::function<Time()> until) {
    writes.allow_until(std::move(until));
    may_lead = true;
    if (!started) return;
    read_anew(workloads);
    const bool places = std::any_of(decoded_flavors.begin(), decoded_flavors.end(),
                                    [](const auto& flavor) { return !flavor.second.topology_name.empty(); });
    if (places || !is_synced) read_anew(pods);
  }

  void read_anew(Informer& informer) {
    ++unread;
    informer.read_anew([this] {
      --unread;
      begin();
    });
  }

  void begin() {
    if (!is_synced || !may_lead || unread > 0 || draining || std::exchange(is_leading, true)) return;
    host.lead();
    job_controller.start();
    provisioning.start();
    ungater.start();
    if (leading_handler) leading_handler();
  }

  void drain(std::function<void()> done) {
    draining = true;
    host.stop();
    writes.close(std::move(done));
  }

  JsonPtr cached(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
    for (const Informer* informer : all) {
      if (informer->resource() == resource) return informer->get(api::object_key(ns, name));
    }
    return nullptr;
  }

  void workload_changed(const JsonPtr& old, const JsonPtr& now) {
    const std::string key = key_of(now ? *now : *old);
    WorkloadPtr before;
    if (const auto it = decoded.find(key); it != decoded.end()) before = it->second;
    WorkloadPtr after;
    if (now) {
      auto workload = api::kueue::decode_workload(*now);
      if (!workload) {
        log::error("a workload cannot be read and is ignored",
                   {{"workload", key}, {"why", workload.error().message}});
        return;
      }
      templates.share(*workload);
      after = std::make_shared<const api::kueue::Workload>(std::move(*workload));
      // Of one that is over and that no job asks for, nothing will be asked.
      if (after->meta.owners.empty() && api::is_true(after->status.conditions, api::kueue::kFinished)) {
        decoded.erase(key);
      } else {
        decoded[key] = after;
      }
      host.feed(engine::WorkloadSeen{after});
    } else {
      decoded.erase(key);
      host.feed(engine::WorkloadGone{std::string(string_at(*old, {"metadata", "namespace"})),
                                     std::string(string_at(*old, {"metadata", "name"})),
                                     std::string(string_at(*old, {"metadata", "uid"}))});
    }
    if (options.metrics && is_leading && before && after) options.metrics->workloads().changed(*before, *after);
    job_controller.workload_changed(before, after);
    provisioning.workload_changed(before, after);
    if (before || after) ungater.workload_changed(before, after);
  }

  // --- What jobs and their checks need to know.

  jobs::FlavorLookup flavor_lookup() {
    return [this](std::string_view name) -> const api::kueue::ResourceFlavor* {
      const auto it = decoded_flavors.find(name);
      return it == decoded_flavors.end() ? nullptr : &it->second;
    };
  }

  ProvisioningController::Context provisioning_context() {
    return {client,
            executor,
            writes,
            events,
            checks,
            [this] { return informer_options(); },
            [this](const engine::Event& event) { host.feed(event); },
            [this](const std::string& key) {
              const auto it = decoded.find(key);
              return it == decoded.end() ? nullptr : it->second;
            },
            flavor_lookup()};
  }

  JobController::Context job_context() {
    jobs::JobFacts facts;
    facts.flavors = flavor_lookup();
    facts.label_keys_to_copy = options.label_keys_to_copy;
    facts.workload_priority_class = [this](std::string_view name) {
      return class_value(workload_priority_classes, name);
    };
    facts.priority_class = [this](std::string_view name) { return class_value(priority_classes, name); };
    facts.global_default_priority_class = [this]() -> std::optional<std::pair<std::string, std::int32_t>> {
      for (const auto& object : priority_classes.list()) {
        if (bool_at(*object, {"globalDefault"})) {
          return std::pair(std::string(string_at(*object, {"metadata", "name"})),
                           static_cast<std::int32_t>(int_at(*object, {"value"})));
        }
      }
      return std::nullopt;
    };
    return {executor,
            writes,
            events,
            jobs,
            [this](const engine::Event& event) { host.feed(event); },
            [this](const Json& job) { return managed(job); },
            [this](std::string_view version) {
              return api::version_number(workloads.resource_version()) >= api::version_number(version);
            },
            std::move(facts)};
  }

  jobs::HostFacts host_facts() const {
    return {[this](std::string_view hostname) { return node_source.exists(hostname); },
            [this](std::string_view hostname) { return node_source.usable(hostname); }};
  }

  static std::optional<std::int32_t> class_value(const Informer& classes, std::string_view name) {
    const JsonPtr object = classes.get(name);
    if (!object) return std::nullopt;
    return static_cast<std::int32_t>(int_at(*object, {"value"}));
  }

  bool managed(const Json& job) const {
    api::batch::JobContext context;
    context.namespace_managed = manages_namespace(string_at(job, {"metadata", "namespace"}));
    context.manage_without_queue_name = options.manage_jobs_without_queue_name;
    context.ancestor_managed = api::kueue::has_managed_ancestor(job, cached_job);
    const auto managed_by = string_at(job, {"spec", "managedBy"}, kJobControllerName);
    return managed_by == kJobControllerName && api::batch::is_managed(job, context);
  }

  void decode_flavor(const std::string& key) {
    const JsonPtr object = flavors.get(key);
    if (!object) {
      decoded_flavors.erase(key);
    } else if (auto flavor = api::kueue::decode_resource_flavor(*object)) {
      decoded_flavors.insert_or_assign(key, std::move(*flavor));
    }
  }

  // --- Statuses and finalizers: what differs from the cache is written.

  struct Wanted {
    Target target;
    std::string subresource;
    Json body;
  };
  using Wish = std::function<std::optional<Wanted>(const std::string& key)>;

  WorkQueue::Work writer(Wish wish) {
    return [this, wish = std::move(wish), a = alive](const std::string& key, WorkQueue::Finish finish) {
      auto wanted = wish(key);
      if (!wanted) return finish(true);
      writes.patch(wanted->target, wanted->subresource, std::move(wanted->body),
                   [finish, a](const api::RestResponse& response) {
                     if (*a) finish(response.ok() || response.code == 404);
                   });
    };
  }

  template <typename Status>
  std::optional<Wanted> status_write(const Informer& informer, const std::string& key,
                                     const std::optional<Status>& status) {
    const JsonPtr object = informer.get(key);
    if (!is_leading || !object || !status) return std::nullopt;
    const Json* present = berth::find(*object, "status");
    Json change = make_merge_patch(present ? *present : Json(JsonObject()),
                                   encode_status(*status, *object, executor.now()));
    if (change.as_object().empty()) return std::nullopt;
    return Wanted{Target::of(informer.resource(), *object), "status",
                  JsonObject{{"status", std::move(change)}}};
  }

  std::optional<Wanted> cluster_queue_write(const std::string& key) {
    return status_write(cluster_queues, key, host.engine().cluster_queue_status(key));
  }

  std::optional<Wanted> local_queue_write(const std::string& key) {
    const auto slash = key.find('/');
    return status_write(local_queues, key,
                        host.engine().local_queue_status(key.substr(0, slash), key.substr(slash + 1)));
  }

  std::optional<Wanted> finalizer_write(const std::string& key) {
    const auto wish = wanted_finalizers.find(key);
    if (wish == wanted_finalizers.end()) return std::nullopt;
    const auto slash = key.find('/');
    const std::string kind = key.substr(0, slash);
    const Informer& informer = kind == "ClusterQueue"     ? cluster_queues
                               : kind == "ResourceFlavor" ? flavors
                               : kind == "Topology"       ? topologies
                                                          : checks;
    const JsonPtr object = informer.get(key.substr(slash + 1));
    if (!object) return std::nullopt;
    auto present = api::decode_meta(*object).finalizers;
    const auto it = std::find(present.begin(), present.end(), api::kueue::kFinalizer);
    const bool deleting = find_path(*object, {"metadata", "deletionTimestamp"}) != nullptr;
    if ((it != present.end()) == wish->second || (wish->second && deleting)) return std::nullopt;
    if (wish->second) {
      present.emplace_back(api::kueue::kFinalizer);
    } else {
      present.erase(it);
    }
    JsonArray list;
    for (const auto& finalizer : present) list.emplace_back(finalizer);
    return Wanted{Target::of(informer.resource(), *object), "",
                  JsonObject{{"metadata", JsonObject{{"finalizers", std::move(list)}}}}};
  }

  EffectSinks sinks() {
    return {[this](std::string_view name) {
              cluster_queue_statuses.add(std::string(name));
              if (options.metrics) options.metrics->cluster_queue_changed(name);
            },
            [this](std::string_view ns, std::string_view name) {
              local_queue_statuses.add(api::object_key(ns, name));
              if (options.metrics) options.metrics->local_queue_changed(ns, name);
            },
            [this](const engine::SetFinalizer& effect) {
              const std::string key = effect.kind + "/" + effect.name;
              wanted_finalizers[key] = effect.present;
              finalizers.add(key);
            },
            [this](const engine::Effects& effects, Duration took) {
              if (options.metrics) options.metrics->decided(effects, took);
            }};
  }

  api::RestClient& client;
  Executor& executor;
  ControllerOptions options;
  std::uint64_t informer_count = 0;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  Writes writes;
  kube::EventRecorder events;
  Informer cluster_queues, local_queues, cohorts, flavors, topologies, checks, workload_priority_classes,
      namespaces, nodes, pods, limit_ranges, runtime_classes, priority_classes, workloads, jobs;
  NodeSource node_source;
  PodSource pod_source;
  std::vector<Informer*> all;
  std::size_t unsynced = 0;
  std::set<std::string> unreadable;  // resources whose last list failed
  bool started = false;
  bool is_synced = false;
  bool may_lead = false;
  int unread = 0;  // caches that are read anew before it leads
  bool is_leading = false;
  bool draining = false;
  std::function<void()> synced_handler, leading_handler;
  std::map<std::string, WorkloadPtr> decoded;
  SharedTemplates templates;
  std::map<std::string, api::kueue::ResourceFlavor, std::less<>> decoded_flavors;
  std::map<std::string, bool> wanted_finalizers;  // "kind/name" -> shall be there
  const api::kueue::ObjectGetter cached_job = [this](const api::GroupVersionResource&, std::string_view ns,
                                                     std::string_view name) { return jobs.get(api::object_key(ns, name)); };
  const api::kueue::NamespaceFilter manages_namespace = api::kueue::namespaces_matching(
      options.managed_namespaces, [this](std::string_view ns) { return namespaces.get(ns); });
  EngineHost host;
  JobController job_controller;
  ProvisioningController provisioning;
  Ungater ungater;
  kube::RateLimit queue_status_rate;
  WorkQueue cluster_queue_statuses, local_queue_statuses, finalizers;
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
std::vector<api::GroupVersionResource> Controller::resources() const {
  std::vector<api::GroupVersionResource> out;
  for (const Informer* informer : impl_->all) out.push_back(informer->resource());
  return out;
}
std::vector<std::string> Controller::missing() const {
  std::vector<std::string> out;
  for (const Informer* informer : impl_->all) {
    if (!informer->synced()) out.push_back(informer->resource().resource);
  }
  return out;
}
void Controller::when_events_are_written(std::function<void()> done) { impl_->events.when_written(std::move(done)); }
void Controller::drain(std::function<void()> done) { impl_->drain(std::move(done)); }
JsonPtr Controller::find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
  return impl_->cached(resource, ns, name);
}
bool Controller::manages_namespace(std::string_view ns) const { return impl_->manages_namespace(ns); }
const engine::Engine& Controller::engine() const { return impl_->host.engine(); }
void Controller::refresh_metrics() {
  if (impl_->options.metrics == nullptr || !impl_->is_leading) return;
  impl_->options.metrics->refresh(engine(), [this](const auto& resource, std::string_view ns, std::string_view name) {
    return impl_->cached(resource, ns, name);
  });
}
void Controller::on_round(std::function<void()> handler) { impl_->host.on_round(std::move(handler)); }
const std::map<std::string, std::uint64_t>& Controller::request_counts() const {
  return impl_->writes.counts();
}

}  // namespace berth::controller
