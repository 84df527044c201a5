#include "embedded/cluster/lws_controller.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/leaderworkerset/names.h"
#include "api/meta.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "embedded/cluster/lws_sync.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::cluster {
namespace {

namespace lws = api::leaderworkerset;

constexpr std::string_view kLwsManager = "leaderworkerset";
constexpr Duration kFirstLwsRetry = std::chrono::milliseconds(200);  // after a failed write; doubles

kube::EventRecorderOptions lws_events() {
  kube::EventRecorderOptions out;
  out.controller = kLwsManager;
  out.instance = kLwsManager;
  return out;
}

const Json* controller_of(const Json& pod, std::string_view kind, std::string_view api_version) {
  const Json* owner = api::controller_of(pod);
  const bool is_it =
      owner != nullptr && string_at(*owner, {"kind"}) == kind && string_at(*owner, {"apiVersion"}) == api_version;
  return is_it ? owner : nullptr;
}
const Json* controlling_set(const Json& pod) { return controller_of(pod, lws::kKind, lws::kApiVersion); }
const Json* controlling_leader(const Json& pod) { return controller_of(pod, "Pod", "v1"); }

// The set that the labels of a pod name; "" when they name none.
std::string set_key(const Json& pod) {
  const auto name = string_at(pod, {"metadata", "labels", lws::kSetName});
  return name.empty() ? std::string() : api::object_key(string_at(pod, {"metadata", "namespace"}), name);
}

api::RestRequest about(const Json& object, api::Verb verb, const api::GroupVersionResource& what) {
  api::RestRequest out;
  out.verb = verb;
  out.resource = what;
  out.ns = string_at(object, {"metadata", "namespace"});
  out.name = string_at(object, {"metadata", "name"});
  out.field_manager = kLwsManager;
  return out;
}

}  // namespace

struct LwsController::Impl : std::enable_shared_from_this<LwsController::Impl> {
  Impl(api::RestClient& c, Executor& e)
      : client(c),
        executor(e),
        sets(c, e, lws::kLeaderWorkerSets),
        pods(c, e, api::kPods, of_sets()),
        set_writes(sets),
        pod_writes(pods),
        recorder(c, e, lws_events()),
        leaders(controlling_set, pod_writes),
        workers(controlling_leader, pod_writes),
        looks(e, kFirstLwsRetry, [this](const std::string& key) { look(key); }) {}

  // Only pods of sets: a cluster may have many others.
  static kube::InformerOptions of_sets() {
    kube::InformerOptions out;
    out.label_selector = lws::kSetName;
    return out;
  }

  api::RestClient& client;
  Executor& executor;
  kube::Informer sets, pods;
  OwnWrites set_writes, pod_writes;
  kube::EventRecorder recorder;
  OwnedPods leaders, workers;  // of a set, and of a leader
  Looks looks;
  std::map<std::string, std::string> refused;  // the last refusal of a pod, by the key of its set

  void start() {
    sets.on_change([this](const JsonPtr& old, const JsonPtr& now) { enqueue(pod_key(now ? *now : *old)); });
    pods.on_change([this](const JsonPtr& old, const JsonPtr& now) { pod_changed(old, now); });
    for (kube::Informer* each : {&sets, &pods}) {
      each->on_synced([this] {
        if (!ready()) return;
        for (const auto& set : sets.list()) enqueue(pod_key(*set));
      });
      each->start();
    }
  }

  bool ready() const { return sets.synced() && pods.synced(); }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    leaders.pod_changed(old, now);
    workers.pod_changed(old, now);
    for (const JsonPtr& pod : {old, now}) {
      if (!pod) continue;
      enqueue(set_key(*pod));
      // Its labels may have been edited.
      if (const Json* owner = controlling_set(*pod))
        enqueue(api::object_key(string_at(*pod, {"metadata", "namespace"}), string_at(*owner, {"name"})));
    }
  }

  void enqueue(const std::string& key) {
    if (ready() && !key.empty()) looks.add(key);
  }

  void look(const std::string& key) {
    set_writes.unseen();  // drops the writes that were seen
    const JsonPtr object = set_writes.get(key);
    if (!object) {
      refused.erase(key);
      return looks.forget(key);
    }
    const LwsSpec set(*object);
    std::vector<LwsPod> first, others;
    for (const JsonPtr& pod : leaders.of(set.uid)) {
      first.emplace_back(pod);
      for (const JsonPtr& worker : workers.of(first.back().uid)) others.emplace_back(worker);
    }
    const LwsStep step = next_step({set, first, others, executor.now()});
    if (step.status) write_status(key, *object, *step.status);
    for (const JsonPtr& pod : step.remove) remove(key, *pod);
    for (const Json& pod : step.create) {
      // A pod of a former leader may have the name until the garbage collector deletes it. Its end is seen.
      if (!pod_writes.get(pod_key(pod))) create(key, pod);
    }
  }

  void send(const std::string& key, api::RestRequest request, std::function<bool(api::RestResponse)> taken) {
    looks.sent(key);
    client.call(std::move(request),
                [self = weak_from_this(), key, taken = std::move(taken)](api::RestResponse response) {
                  if (const auto impl = self.lock()) impl->looks.answered(key, taken(std::move(response)));
                });
  }

  void write_status(const std::string& key, const Json& set, Json status) {
    auto request = about(set, api::Verb::kUpdate, lws::kLeaderWorkerSets);
    request.subresource = "status";
    request.body = set;
    ensure_path(request.body, {"status"}) = std::move(status);
    send(key, std::move(request), [this](api::RestResponse response) {
      if (!response.ok()) return false;  // the set changed, and the watch will show the change
      set_writes.wrote(std::move(response.body));
      return true;
    });
  }

  void create(const std::string& key, const Json& pod) {
    auto request = about(pod, api::Verb::kCreate, api::kPods);
    request.name.clear();
    request.body = pod;
    send(key, std::move(request), [this, key](api::RestResponse response) {
      if (response.ok()) {
        pod_writes.wrote(std::move(response.body));
      } else {
        report_refusal(key, response);
      }
      return response.ok();
    });
  }

  // A set whose pods are refused holds quota and has no pods: an event says why, one for each reason. The name of a pod
  // may be taken for a moment only: this counts when it happens again.
  void report_refusal(const std::string& key, const api::RestResponse& response) {
    const std::string why = api::failure_text(response);
    const bool again = std::exchange(refused[key], why) == why;
    const JsonPtr set = set_writes.get(key);
    if (!set || (response.code == 409 && !again)) return;
    kube::EventText text;
    text.warning = true;
    text.reason = "FailedCreate";
    text.note = "Error creating: " + why;
    text.by_note = true;
    recorder.record(
        {std::string(lws::kApiVersion), std::string(lws::kKind),
         std::string(string_at(*set, {"metadata", "namespace"})), std::string(string_at(*set, {"metadata", "name"})),
         std::string(string_at(*set, {"metadata", "uid"}))},
        std::move(text));
  }

  void remove(const std::string& key, const Json& pod) {
    auto request = delete_pod(pod);
    request.field_manager = kLwsManager;
    const std::string uid(string_at(pod, {"metadata", "uid"}));
    send(key, std::move(request), [this, at = pod_key(pod), uid](api::RestResponse response) {
      if (response.ok()) pod_writes.deleted(at, uid, std::move(response.body));
      if (response.code == 404) pod_writes.gone(at, uid);
      return response.ok() || response.code == 404;
    });
  }
};

LwsController::LwsController(api::RestClient& client, Executor& executor)
    : impl_(std::make_shared<Impl>(client, executor)) {}
LwsController::~LwsController() = default;

void LwsController::start() { impl_->start(); }

}  // namespace berth::cluster
