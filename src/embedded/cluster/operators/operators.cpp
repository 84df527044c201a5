#include "embedded/cluster/operators/operators.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "api/meta.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "embedded/cluster/operators/described_pods.h"
#include "embedded/cluster/operators/operator_step.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::cluster {
namespace {

using jobs::kinds::JobKindPtr;

constexpr std::string_view kOperatorManager = "berth-operator";
constexpr Duration kFirstOperatorRetry = std::chrono::milliseconds(200);  // after a failed write; doubles
// A pod that is deleted so young was made for a job that is gone, and the cache does not show that yet: others of this
// job wait.
constexpr Duration kYoung = std::chrono::seconds(2);
constexpr Duration kPause = std::chrono::seconds(1);

// Only pods of such jobs: a cluster may have many others.
kube::InformerOptions of_described_jobs() {
  kube::InformerOptions out;
  out.label_selector = kJobKindLabel;
  return out;
}

// No pods are made for jobs whose kind was uninstalled.
kube::InformerOptions of_jobs() {
  kube::InformerOptions out;
  out.gone_after = std::chrono::seconds(5);
  return out;
}

kube::EventRecorderOptions recorder_options() {
  kube::EventRecorderOptions out;
  out.controller = out.instance = kOperatorManager;
  return out;
}

// Why the server refuses pods of a job. Each gets one event.
struct Refusals {
  struct Refusal {
    std::string why;
    bool reported = false;
  };
  std::string version;                  // uid and generation of the job
  std::map<std::string, Refusal> pods;  // by name
};

api::RestRequest request_for(const Json& object, api::Verb verb, const api::GroupVersionResource& what) {
  api::RestRequest out;
  out.verb = verb;
  out.resource = what;
  out.ns = string_at(object, {"metadata", "namespace"});
  out.name = string_at(object, {"metadata", "name"});
  out.field_manager = kOperatorManager;
  return out;
}

}  // namespace

struct Operators::Impl : std::enable_shared_from_this<Operators::Impl> {
  struct Kind {
    Kind(Impl& impl, JobKindPtr spec)
        : kind(std::move(spec)),
          jobs(impl.client, impl.executor, kind->resource, of_jobs()),
          job_writes(jobs),
          looks(impl.executor, kFirstOperatorRetry, [this, &impl](const std::string& key) { impl.look(*this, key); }) {}

    JobKindPtr kind;
    kube::Informer jobs;
    OwnWrites job_writes;
    Looks looks;
    std::map<std::string, std::string> reported;  // the last problem that was logged, by key
    // By key: a job's version, and a status that was written and did not change it.
    std::map<std::string, std::pair<std::string, Json>> unchanged;
    std::map<std::string, Time> paused;        // no pods are made for a job until then
    std::map<std::string, Refusals> refusals;  // by key
  };

  Impl(api::RestClient& c, Executor& e, const std::vector<JobKindPtr>& described)
      : client(c),
        executor(e),
        pods(c, e, api::kPods, of_described_jobs()),
        pod_writes(pods),
        recorder(c, e, recorder_options()),
        owned([](const Json& pod) { return api::controller_of(pod); }, pod_writes) {
    for (const auto& kind : described) {
      if (kind->pretend) kinds.push_back(std::make_unique<Kind>(*this, kind));
    }
  }

  api::RestClient& client;
  Executor& executor;
  kube::Informer pods;
  OwnWrites pod_writes;
  kube::EventRecorder recorder;
  OwnedPods owned;
  std::vector<std::unique_ptr<Kind>> kinds;
  std::map<api::GroupVersionResource, std::unique_ptr<kube::Informer>> lookups;  // what hooks read

  void start() {
    if (kinds.empty()) return;
    pods.on_change([this](const JsonPtr& old, const JsonPtr& now) { pod_changed(old, now); });
    pods.on_synced([this] {
      for (auto& kind : kinds) enqueue_all(*kind);
    });
    for (auto& each : kinds) {
      Kind& kind = *each;
      kind.jobs.on_change(
          [this, &kind](const JsonPtr& old, const JsonPtr& now) { enqueue(kind, pod_key(now ? *now : *old)); });
      kind.jobs.on_synced([this, &kind] { enqueue_all(kind); });
      for (const auto& wanted : kind.kind->lookups) {
        if (wanted.owned) continue;  // pretend operators make pods only
        lookup(wanted.resource).on_change([this, &kind](const JsonPtr&, const JsonPtr&) { enqueue_all(kind); });
      }
    }
    pods.start();
    for (auto& kind : kinds) kind->jobs.start();
    for (auto& [resource, cache] : lookups) cache->start();
  }

  kube::Informer& lookup(const api::GroupVersionResource& resource) {
    auto& cache = lookups[resource];
    if (!cache) cache = std::make_unique<kube::Informer>(client, executor, resource);
    return *cache;
  }

  void enqueue(Kind& kind, const std::string& key) {
    if (kind.jobs.synced() && pods.synced()) kind.looks.add(key);
  }

  void enqueue_all(Kind& kind) {
    for (const auto& job : kind.jobs.list()) enqueue(kind, pod_key(*job));
  }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    owned.pod_changed(old, now);
    for (const JsonPtr& pod : {old, now}) {
      const Json* owner = pod ? api::controller_of(*pod) : nullptr;
      if (owner == nullptr) continue;
      const auto kind = std::ranges::find_if(kinds, [&](const auto& one) {
        return string_at(*owner, {"kind"}) == one->kind->kind &&
               string_at(*owner, {"apiVersion"}) == one->kind->api_version();
      });
      if (kind == kinds.end()) continue;
      const auto key = api::object_key(string_at(*pod, {"metadata", "namespace"}), string_at(*owner, {"name"}));
      if (!now) mind_age(**kind, key, *pod);
      enqueue(**kind, key);
    }
  }

  void mind_age(Kind& kind, const std::string& key, const Json& deleted) {
    const auto made = parse_time(string_at(deleted, {"metadata", "creationTimestamp"}));
    if (made && executor.now() - *made < kYoung && kind.jobs.get(key)) kind.paused[key] = executor.now() + kPause;
  }

  bool waits(Kind& kind, const std::string& key) {
    const auto at = kind.paused.find(key);
    if (at == kind.paused.end()) return false;
    if (at->second > executor.now()) {
      kind.looks.add_at(key, at->second);
      return true;
    }
    kind.paused.erase(at);
    return false;
  }

  void look(Kind& kind, const std::string& key) {
    kind.job_writes.unseen();  // drops the writes that were seen
    const JsonPtr job = kind.job_writes.get(key);
    if (!job) {
      kind.reported.erase(key);
      kind.unchanged.erase(key);
      kind.paused.erase(key);
      kind.refusals.erase(key);
      return kind.looks.forget(key);
    }
    if (kind.kind->runs_elsewhere(*job)) return kind.looks.forget(key);
    const auto get = [this](const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) {
      const auto at = lookups.find(resource);
      return at == lookups.end() ? nullptr : at->second->get(api::object_key(ns, name));
    };
    const OperatorStep step =
        next_step({*kind.kind, *job, owned.of(string_at(*job, {"metadata", "uid"})), get, executor.now()});
    report(kind, key, step.problem);
    if (step.look_again) kind.looks.add_at(key, *step.look_again);
    if (step.scaled) return write_sizes(kind, key, *step.scaled);
    for (const JsonPtr& pod : step.remove) remove(kind, key, *pod);
    if (!step.create.empty() && !waits(kind, key)) {
      for (const Json& pod : step.create) create(kind, key, job, pod);
    }
    if (step.status) write_status(kind, key, *job, *step.status);
  }

  void report(Kind& kind, const std::string& key, const std::string& problem) {
    if (problem.empty()) {
      kind.reported.erase(key);
    } else if (std::exchange(kind.reported[key], problem) != problem) {
      log::warn("the pretend operator cannot run a job", {{"kind", kind.kind->kind}, {"job", key}, {"why", problem}});
    }
  }

  // `taken` is false when the request failed: the job is looked at again, later.
  void send(Kind& kind, const std::string& key, api::RestRequest request,
            std::function<bool(api::RestResponse)> taken) {
    kind.looks.sent(key);
    client.call(std::move(request),
                [self = weak_from_this(), &kind, key, taken = std::move(taken)](api::RestResponse response) {
                  if (const auto impl = self.lock()) kind.looks.answered(key, taken(std::move(response)));
                });
  }

  // The server may drop fields that the kind does not have. Then the status never becomes what the description says.
  void write_status(Kind& kind, const std::string& key, const Json& job, Json status) {
    const std::string version(string_at(job, {"metadata", "resourceVersion"}));
    const auto at = kind.unchanged.find(key);
    if (at != kind.unchanged.end() && at->second.first == version && json_equal(at->second.second, status)) return;
    auto request = request_for(job, api::Verb::kUpdate, kind.kind->resource);
    request.subresource = "status";
    request.body = job;
    ensure_path(request.body, {"status"}) = status;
    send(kind, key, std::move(request), [&kind, key, version, status = std::move(status)](api::RestResponse response) {
      if (!response.ok()) return false;  // the job changed, and the watch will show the change
      if (string_at(response.body, {"metadata", "resourceVersion"}) == version) kind.unchanged[key] = {version, status};
      kind.job_writes.wrote(std::move(response.body));
      return true;
    });
  }

  void write_sizes(Kind& kind, const std::string& key, const Json& job) {
    auto request = request_for(job, api::Verb::kUpdate, kind.kind->resource);
    request.body = job;
    send(kind, key, std::move(request), [&kind, key](api::RestResponse response) {
      if (!response.ok()) {
        log::debug("a job is not scaled",
                   {{"kind", kind.kind->kind}, {"job", key}, {"why", api::status_message(response)}});
        return false;
      }
      kind.job_writes.wrote(std::move(response.body));
      return true;
    });
  }

  void create(Kind& kind, const std::string& key, const JsonPtr& job, const Json& pod) {
    auto request = request_for(pod, api::Verb::kCreate, api::kPods);
    request.name.clear();
    request.body = pod;
    const std::string name(string_at(pod, {"metadata", "name"}));
    send(kind, key, std::move(request), [this, &kind, key, job, name](api::RestResponse response) {
      if (response.ok()) {
        if (const auto at = kind.refusals.find(key); at != kind.refusals.end()) at->second.pods.erase(name);
        pod_writes.wrote(std::move(response.body));
      } else {
        log::debug("a pod of a job is not created",
                   {{"kind", kind.kind->kind}, {"job", key}, {"why", api::status_message(response)}});
        if (response.code != 0) refused(kind, key, *job, name, response);
      }
      return response.ok();
    });
  }

  // Records an event on the job: once for each text and pod, and again when the job changed. A conflict may only mean
  // that the cache is behind. It gets an event when it stays.
  void refused(Kind& kind, const std::string& key, const Json& job, const std::string& pod,
               const api::RestResponse& response) {
    const std::string uid(string_at(job, {"metadata", "uid"}));
    Refusals& refusals = kind.refusals[key];
    if (std::string version = uid + " " + std::to_string(int_at(job, {"metadata", "generation"}));
        refusals.version != version)
      refusals = {std::move(version), {}};
    Refusals::Refusal& refusal = refusals.pods[pod];
    const std::string why = api::failure_text(response);
    const bool stays = refusal.why == why;
    if (!stays) refusal = {why, false};
    if (refusal.reported || (response.code == 409 && !stays)) return;
    refusal.reported = true;
    kube::EventText text;
    text.warning = true;
    text.reason = "FailedCreate";
    text.note = "Error creating: " + why;
    text.by_note = true;
    recorder.record({kind.kind->api_version(), kind.kind->kind, std::string(string_at(job, {"metadata", "namespace"})),
                     std::string(string_at(job, {"metadata", "name"})), uid},
                    std::move(text));
  }

  void remove(Kind& kind, const std::string& key, const Json& pod) {
    auto request = delete_pod(pod);
    request.field_manager = kOperatorManager;
    const std::string uid(string_at(pod, {"metadata", "uid"}));
    send(kind, key, std::move(request), [this, at = pod_key(pod), uid](api::RestResponse response) {
      if (response.ok()) pod_writes.deleted(at, uid, std::move(response.body));
      if (response.code == 404) pod_writes.gone(at, uid);
      return response.ok() || response.code == 404;
    });
  }
};

Operators::Operators(api::RestClient& client, Executor& executor, const std::vector<JobKindPtr>& kinds)
    : impl_(std::make_shared<Impl>(client, executor, kinds)) {}
Operators::~Operators() = default;

void Operators::start() { impl_->start(); }

}  // namespace berth::cluster
