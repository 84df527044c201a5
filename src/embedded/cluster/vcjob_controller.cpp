#include "embedded/cluster/vcjob_controller.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/pod_phase.h"
#include "api/meta.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "api/volcano/job_group.h"
#include "api/volcano/names.h"
#include "base/log.h"
#include "embedded/cluster/pod_group_status.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "embedded/cluster/vcjob_sync.h"
#include "kube/informer.h"

namespace berth::cluster {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;
using api::volcano::Job;

api::GroupVersionResource resource(std::string_view group, std::string_view version, std::string_view name) {
  return {std::string(group), std::string(version), std::string(name)};
}
const api::GroupVersionResource kVcJobs = resource(api::volcano::kBatchGroup, api::volcano::kBatchVersion, "jobs");
const api::GroupVersionResource kGroups =
    resource(api::volcano::kSchedulingGroup, api::volcano::kSchedulingVersion, "podgroups");
const api::GroupVersionResource kCommands = resource(api::volcano::kBusGroup, api::volcano::kBusVersion, "commands");
constexpr std::string_view kManager = "vc-controller-manager";

// kFirstRetry: after a failed write. kFirstRefill: before pods that another client deleted are created again. Both
// double.
constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kFirstRefill = std::chrono::seconds(10), kMaxRefill = std::chrono::minutes(10);

bool is_vcjob(std::string_view kind, std::string_view api_version) {
  return kind == "Job" && api_version.starts_with(std::string(api::volcano::kBatchGroup) + "/");
}

// The owner reference of the Volcano Job that controls an object; null when no such job does.
const Json* controlling_vcjob(const Json& object) {
  const Json* owner = api::controller_of(object);
  return owner != nullptr && is_vcjob(string_at(*owner, {"kind"}), string_at(*owner, {"apiVersion"})) ? owner : nullptr;
}

std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }

}  // namespace

struct VcJobController::Impl : std::enable_shared_from_this<VcJobController::Impl> {
  Impl(api::RestClient& c, Executor& e)
      : client(c),
        executor(e),
        jobs(c, e, kVcJobs),
        groups(c, e, kGroups),
        pods(c, e, api::kPods),
        commands(c, e, kCommands),
        priorities(c, e, api::kPriorityClasses),
        job_writes(jobs),
        group_writes(groups),
        pod_writes(pods),
        owned(controlling_vcjob, pod_writes),
        looks(e, kFirstRetry, [this](const std::string& key) { look(key); }),
        keeper(c, e, groups, pods, [this](const Json& group) { return more_to_come(group); }) {}

  // State that is kept for a job.
  struct Known {
    std::string uid;
    int losses = 0;  // number of waits after another client deleted pods of the job
    Time create_after{};
  };

  api::RestClient& client;
  Executor& executor;
  kube::Informer jobs, groups, pods, commands, priorities;
  OwnWrites job_writes, group_writes, pod_writes;
  OwnedPods owned;
  Looks looks;
  PodGroupKeeper keeper;
  std::map<std::string, std::map<std::string, JsonPtr>, std::less<>>
      orders;                                       // Commands by the key of the job, then by their own key
  std::map<std::string, Known, std::less<>> known;  // by the job's key
  std::set<std::string> removing;                   // UIDs of pods that this controller deletes

  // --- Changes of objects.

  void start() {
    jobs.on_change([this](const JsonPtr& old, const JsonPtr& now) { job_changed(now ? *now : *old); });
    groups.on_change([this](const JsonPtr& old, const JsonPtr& now) {
      keeper.look_soon(pod_key(now ? *now : *old));
      enqueue_owner(now ? *now : *old);
    });
    pods.on_change([this](const JsonPtr& old, const JsonPtr& now) { pod_changed(old, now); });
    commands.on_change([this](const JsonPtr& old, const JsonPtr& now) { command_changed(now ? *now : *old, now); });
    for (kube::Informer* each : {&jobs, &groups, &pods, &commands, &priorities}) {
      each->on_synced([this] {
        if (!ready()) return;
        for (const auto& job : jobs.list()) enqueue(pod_key(*job));
      });
      each->start();
    }
  }

  bool ready() const {
    return jobs.synced() && groups.synced() && pods.synced() && commands.synced() && priorities.synced();
  }

  void job_changed(const Json& job) {
    enqueue(pod_key(job));
    keeper.look_soon(api::object_key(string_at(job, {"metadata", "namespace"}), group_name(job)));
  }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    keeper.pod_changed(old, now);
    owned.pod_changed(old, now);
    const Json& pod = now ? *now : *old;
    if (controlling_vcjob(pod) == nullptr) return;
    note_loss(pod, !now);
    enqueue_owner(pod);
  }

  // Another client deletes a pod that has not terminated. Wait before creating it again, or both clients would repeat
  // their action forever.
  void note_loss(const Json& pod, bool gone) {
    const bool ours = gone ? removing.erase(uid_of(pod)) > 0 : removing.contains(uid_of(pod));
    if (ours || api::pod_ended(pod) || !(gone || pod_terminating(pod))) return;
    const auto at = known.find(owner_key(pod));
    if (at == known.end() || at->second.create_after > executor.now()) return;
    at->second.create_after = executor.now() + doubled(kFirstRefill, at->second.losses++, kMaxRefill);
  }

  void command_changed(const Json& command, const JsonPtr& now) {
    const auto decoded = api::volcano::decode_command(command);
    if (!decoded || !is_vcjob(decoded->target.kind, decoded->target.api_version)) return;
    const std::string job = api::object_key(decoded->meta.ns, decoded->target.name);
    const std::string key = pod_key(command);
    if (now) {
      orders[job][key] = now;
    } else if (const auto at = orders.find(job); at != orders.end()) {
      at->second.erase(key);
      if (at->second.empty()) orders.erase(at);
    }
    enqueue(job);
  }

  static std::string owner_key(const Json& object) {
    const Json* owner = controlling_vcjob(object);
    if (owner == nullptr) return {};
    return api::object_key(string_at(object, {"metadata", "namespace"}), string_at(*owner, {"name"}));
  }
  void enqueue_owner(const Json& object) {
    if (const std::string key = owner_key(object); !key.empty()) enqueue(key);
  }

  // A group that a Volcano Job owns completes with the job: the job may not have created all its pods yet.
  bool more_to_come(const Json& group) const {
    const JsonPtr job = jobs.get(owner_key(group));
    if (!job) return false;
    const auto decoded = api::volcano::decode_job(*job);
    return decoded && !is_over(decoded->status.phase);
  }

  static std::string group_name(const Json& job) {
    return std::string(string_at(job, {"metadata", "name"})) + "-" + uid_of(job);
  }

  void enqueue(const std::string& key) {
    if (ready()) looks.add(key);
  }

  // --- Actions.

  // The oldest Command about this job, whatever its action. look() replaces the action of a Command for an earlier
  // job of the same name, so that the Command is deleted without effect.
  JsonPtr order_about(const std::string& key) const {
    const auto at = orders.find(key);
    if (at == orders.end()) return nullptr;
    const auto older = [](const auto& a, const auto& b) {
      const auto when = [](const Json& c) { return string_at(c, {"metadata", "creationTimestamp"}); };
      return std::pair(when(*a.second), a.first) < std::pair(when(*b.second), b.first);
    };
    return std::min_element(at->second.begin(), at->second.end(), older)->second;
  }

  void look(const std::string& key) {
    job_writes.unseen();  // drops the writes that were seen
    group_writes.unseen();
    const JsonPtr object = job_writes.get(key);
    if (!object) {
      looks.forget(key);
      known.erase(key);
      return;
    }
    Known& item = known[key];
    const auto job = api::volcano::decode_job(*object);
    if (!job) return log::warn("a vcjob cannot be read", {{"job", key}, {"why", job.error().message}});
    if (item.uid != job->meta.uid) {
      item = {job->meta.uid};
    }
    const JsonPtr group_object = group_writes.get(api::object_key(job->meta.ns, group_name(*object)));
    std::optional<api::volcano::PodGroup> group;
    if (group_object) {
      if (auto decoded = api::volcano::decode_pod_group(*group_object)) group = std::move(*decoded);
    }
    const JsonPtr order = order_about(key);
    const std::string_view about = order ? string_at(*order, {"target", "uid"}) : std::string_view();
    const bool other = !about.empty() && about != job->meta.uid;
    const auto its_pods = owned.of(job->meta.uid);
    const std::vector<VcJobPod> parsed(its_pods.begin(), its_pods.end());
    const Time now = executor.now();
    const VcJobStep step = next_step({*object, *job, group ? &*group : nullptr, parsed,
                                      !order  ? std::string_view()
                                      : other ? std::string_view("none")
                                              : string_at(*order, {"action"}),
                                      now, now >= item.create_after});
    carry_out(key, *object, *job, step, order);
    std::optional<Time> when = step.wake;
    if (now < item.create_after && (!when || item.create_after < *when)) when = item.create_after;
    if (when) looks.add_at(key, *when);
  }

  void carry_out(const std::string& key, const Json& object, const Job& job, const VcJobStep& step,
                 const JsonPtr& order) {
    if (step.status) write_status(key, object, *step.status);
    if (step.create_group) create_group(key, job);
    if (step.delete_group)
      remove(key, groups, group_writes, *group_writes.get(api::object_key(job.meta.ns, group_name(object))));
    if (step.delete_job) remove(key, jobs, job_writes, object);
    if (step.order_done && order) remove_order(key, *order);
    for (const JsonPtr& pod : step.remove) {
      removing.insert(uid_of(*pod));
      remove(key, pods, pod_writes, *pod);
    }
    for (const Json& pod : step.create) create(key, pods, pod_writes, pod);
  }

  void send(const std::string& key, RestRequest request, std::function<bool(RestResponse)> taken) {
    looks.sent(key);
    request.field_manager = kManager;
    client.call(std::move(request), [self = weak_from_this(), key, taken = std::move(taken)](RestResponse response) {
      const auto impl = self.lock();
      if (impl) impl->looks.answered(key, taken(std::move(response)));
    });
  }

  static RestRequest request_about(const Json& object, Verb verb, const api::GroupVersionResource& what) {
    RestRequest out;
    out.verb = verb;
    out.resource = what;
    out.ns = string_at(object, {"metadata", "namespace"});
    out.name = string_at(object, {"metadata", "name"});
    return out;
  }

  void write_status(const std::string& key, const Json& object, const api::volcano::JobStatus& status) {
    RestRequest request = request_about(object, Verb::kUpdate, kVcJobs);
    request.subresource = "status";
    request.body = object;
    ensure_path(request.body, {"status"}) = api::volcano::encode_job_status(status);
    send(key, std::move(request), [this](RestResponse response) {
      if (!response.ok()) return false;  // the job changed, and the watch will show the change
      job_writes.wrote(std::move(response.body));
      return true;
    });
  }

  void create_group(const std::string& key, const Job& job) {
    const auto priority_of = [this](std::string_view name) {
      const JsonPtr found = name.empty() ? nullptr : priorities.get(name);
      return found ? static_cast<std::int32_t>(int_at(*found, {"value"})) : 0;
    };
    create(key, groups, group_writes, api::volcano::encode_pod_group(api::volcano::pod_group_of(job, priority_of)));
  }

  void create(const std::string& key, const kube::Informer& of, OwnWrites& writes, const Json& object) {
    RestRequest request = request_about(object, Verb::kCreate, of.resource());
    request.name.clear();
    request.body = object;
    send(key, std::move(request), [&writes, key](RestResponse response) {
      if (response.ok()) {
        writes.wrote(std::move(response.body));
      } else {
        log::debug("not made for a vcjob", {{"job", key}, {"why", api::status_message(response)}});
      }
      return response.ok();
    });
  }

  void remove(const std::string& key, const kube::Informer& of, OwnWrites& writes, const Json& object) {
    RestRequest request = request_about(object, Verb::kDelete, of.resource());
    request.body = JsonObject{{"preconditions", JsonObject{{"uid", uid_of(object)}}}};
    send(key, std::move(request), [&writes, at = pod_key(object), uid = uid_of(object)](RestResponse response) {
      if (response.ok()) writes.deleted(at, uid, std::move(response.body));
      if (response.code == 404) writes.gone(at, uid);
      return response.ok() || response.code == 404;
    });
  }

  void remove_order(const std::string& key, const Json& order) {
    RestRequest request = request_about(order, Verb::kDelete, kCommands);
    send(key, std::move(request), [this, key, at = pod_key(order)](RestResponse response) {
      const bool gone = response.ok() || response.code == 404;
      if (const auto all = orders.find(key); gone && all != orders.end()) {
        all->second.erase(at);
        if (all->second.empty()) orders.erase(all);
      }
      return gone;
    });
  }
};

VcJobController::VcJobController(api::RestClient& client, Executor& executor)
    : impl_(std::make_shared<Impl>(client, executor)) {}
VcJobController::~VcJobController() = default;

void VcJobController::start() { impl_->start(); }

}  // namespace berth::cluster
