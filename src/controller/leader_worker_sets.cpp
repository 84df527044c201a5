#include "controller/leader_worker_sets.h"

#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/leaderworkerset/names.h"
#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "controller/ownerless_workloads.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

namespace lws = api::leaderworkerset;

// reportingController of events on the sets.
constexpr std::string_view kSetReporter = "leaderworkerset.x-k8s.io/leaderworkerset-kueue-controller";

std::string_view uid_of_set(const Json& set) { return string_at(set, {"metadata", "uid"}); }

std::string set_key_of(const api::kueue::Workload& workload) {
  const auto* owner = jobs::owning_leader_worker_set(workload);
  return owner == nullptr ? std::string() : api::object_key(workload.meta.ns, owner->name);
}

// Whether a change of a workload concerns its set: its conditions alone do not, except whether it holds quota.
bool concerns_set(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  if (!old || !now) return true;
  if (old->meta.uid != now->meta.uid || old->meta.deletion.has_value() != now->meta.deletion.has_value()) return true;
  return jobs::has_condition(*old, api::kueue::kQuotaReserved) !=
             jobs::has_condition(*now, api::kueue::kQuotaReserved) ||
         jobs::finished(*old) != jobs::finished(*now) || old->meta.generation != now->meta.generation ||
         old->meta.annotations != now->meta.annotations || set_key_of(*old) != set_key_of(*now);
}

}  // namespace

LeaderWorkerSetController::LeaderWorkerSetController(Context context)
    : context_(std::move(context)),
      sets_(context_.client, context_.executor, lws::kLeaderWorkerSets, context_.informer_options),
      deleted_(context_.executor),
      queue_(
          context_.executor, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); },
          context_.delay) {
  sets_.on_change([this](const JsonPtr& old, const JsonPtr& now) { set_changed(old, now); });
  sets_.on_list([this](const api::RestResponse& response) { listed(response); });
}

void LeaderWorkerSetController::read() { sets_.start(); }

void LeaderWorkerSetController::start() {
  started_ = true;
  facts_changed();
}

void LeaderWorkerSetController::listed(const api::RestResponse& response) {
  const bool missing = response.code == 404, refused = response.code == 401 || response.code == 403;
  if (std::exchange(told_, response.code) != response.code) {
    if (missing) log::info("LeaderWorkerSets are not installed here; they are managed once they are");
    if (!response.ok() && !missing)
      log::warn(
          refused ? "LeaderWorkerSets cannot be read and are ignored" : "LeaderWorkerSets cannot be read; trying again",
          {{"code", response.code}, {"why", std::string(api::status_message(response))}});
  }
  if ((!response.ok() && !missing) || std::exchange(listed_, true)) return;
  for (const auto& [key, workloads] : workloads_) abandon(key);  // sets may have gone while nobody looked
}

void LeaderWorkerSetController::abandon(const std::string& key) {
  const auto it = workloads_.find(key);
  if (it == workloads_.end()) return;
  for (const auto& [name, workload] : it->second) {
    if (!keeps(*workload)) context_.abandoned(workload->meta.ns, workload->meta.name);
  }
}

// --- Changes in the caches.

void LeaderWorkerSetController::look_soon(const std::string& key) {
  if (started_) queue_.add(key);
}

void LeaderWorkerSetController::set_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = api::object_key(now ? *now : *old);
  if (old && (!now || uid_of_set(*old) != uid_of_set(*now))) {
    warned_.erase(std::string(uid_of_set(*old)));
    deleted_.add(key, [this, key] { abandon(key); });
  }
  if (now) look_soon(key);
}

void LeaderWorkerSetController::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto forget = [this](const Json& pod) {
    const auto it = set_of_pod_.find(string_at(pod, {"metadata", "uid"}));
    if (it == set_of_pod_.end()) return;
    const auto pods = pods_.find(it->second);
    pods->second.erase(it->first);
    if (pods->second.empty()) pods_.erase(pods);
    set_of_pod_.erase(it);
  };
  if (old) forget(*old);
  if (!now) return;
  forget(*now);
  auto pod = jobs::decode_ungrouped_pod(*now, context_.facts.gates.identifier_annotations);
  if (!pod) return;
  const std::string key = api::object_key(pod->ns, pod->set);
  set_of_pod_[pod->uid] = key;
  auto& place = pods_[key][pod->uid];
  place = std::move(*pod);
  look_soon(key);
}

void LeaderWorkerSetController::workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  if (old) {
    if (const auto it = workloads_.find(set_key_of(*old)); it != workloads_.end()) {
      it->second.erase(old->meta.name);
      if (it->second.empty()) workloads_.erase(it);
    }
  }
  const std::string before = old ? set_key_of(*old) : std::string();
  const std::string after = now ? set_key_of(*now) : std::string();
  if (!after.empty()) workloads_[after].insert_or_assign(now->meta.name, now);
  if (!concerns_set(old, now)) return;
  for (const auto& key : {before, after}) {
    if (!key.empty()) look_soon(key);
  }
}

void LeaderWorkerSetController::facts_changed() {
  for (const auto& set : sets_.list()) look_soon(api::object_key(*set));
}

bool LeaderWorkerSetController::keeps(const api::kueue::Workload& workload) const {
  const auto* owner = jobs::owning_leader_worker_set(workload);
  if (owner == nullptr) return false;
  const std::string key = api::object_key(workload.meta.ns, owner->name);
  if (!listed_ || deleted_.contains(key)) return true;  // the garbage collector deletes what a deleted set owned
  const JsonPtr set = sets_.get(key);
  return set && uid_of_set(*set) == owner->uid;
}

bool LeaderWorkerSetController::awaits_group(const Json& pod) const {
  return jobs::decode_ungrouped_pod(pod, context_.facts.gates.identifier_annotations).has_value();
}

// --- A look.

void LeaderWorkerSetController::look(const std::string& key, WorkQueue::Finish finish) {
  const JsonPtr set = sets_.get(key);
  if (!set) return finish(true);
  if (const auto it = created_.find(key); it != created_.end()) {
    if (!context_.workloads_seen(it->second)) return finish(false);  // again when the cache has it, or after a delay
    created_.erase(it);
  }
  std::vector<jobs::WorkloadPtr> workloads;
  if (const auto it = workloads_.find(key); it != workloads_.end()) {
    for (const auto& [name, workload] : it->second) {
      if (jobs::owning_leader_worker_set(*workload)->uid == uid_of_set(*set)) workloads.push_back(workload);
    }
  }
  std::vector<jobs::UngroupedPod> pods;
  if (const auto it = pods_.find(key); it != pods_.end()) {
    for (const auto& [uid, pod] : it->second) pods.push_back(pod);
  }
  jobs::JobFacts facts = context_.facts;
  facts.managed = context_.managed(*set);
  auto look = std::make_shared<Look>();
  look->key = key;
  look->set = set;
  look->plan = jobs::plan_leader_worker_set(*set, workloads, pods, facts);
  look->finish = std::move(finish);
  take_steps(look, 0);
}

void LeaderWorkerSetController::create_workload(const LookPtr& look, std::size_t next, Json object) {
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  const std::string name(string_at(object, {"metadata", "name"}));
  context_.writes.create(
      api::kWorkloads, ns, std::move(object),
      [this, alive = alive_, look, next, name](const api::RestResponse& answer) {
        if (!*alive) return;
        if (answer.ok()) {
          created_[look->key] = string_at(answer.body, {"metadata", "resourceVersion"});
          return take_steps(look, next + 1);
        }
        if (refused_by_terminating_namespace(answer)) return look->finish(true);
        if (answer.code == 422) {  // only another set helps
          tell(*look->set, jobs::cannot_compose(std::string(api::status_message(answer))));
          return look->finish(true);
        }
        if (api::status_reason(answer) != "AlreadyExists")  // the cache does not show it yet
          log::warn("a workload of a LeaderWorkerSet could not be created",
                    {{"name", name}, {"code", answer.code}, {"why", std::string(api::status_message(answer))}});
        look->finish(false);
      });
}

void LeaderWorkerSetController::take_steps(const LookPtr& look, std::size_t next) {
  while (next < look->plan.steps.size()) {
    const auto then = [this, look, next](bool gone_is_fine) {
      return [this, alive = alive_, look, next, gone_is_fine](const api::RestResponse& answer) {
        if (!*alive) return;
        if (answer.ok() || (gone_is_fine && answer.code == 404)) return take_steps(look, next + 1);
        look->finish(false);
      };
    };
    const bool waits = std::visit(
        Overloaded{
            [&](jobs::CreateWorkload& s) {
              create_workload(look, next, std::move(s.object));
              return true;
            },
            [&](jobs::DeleteWorkload& s) {
              context_.writes.remove(Target::of(api::kWorkloads, s.workload->meta), then(true));
              return true;
            },
            [&](jobs::DropWorkloadFinalizer& s) {
              drop_workload_finalizer(context_.writes, *s.workload, then(true));
              return true;
            },
            [&](jobs::UpdateWorkload& s) {
              context_.writes.patch(Target::of(api::kWorkloads, s.workload->meta), "", std::move(s.patch), then(false));
              return true;
            },
            [&](jobs::ReportJob&) { return false; },  // the pods report
            [&](jobs::PatchJob&) { return false; },   // a set is never suspended itself
            [&](jobs::JobEvent& s) {
              tell(*look->set, s);
              return false;
            },
        },
        look->plan.steps[next]);
    if (waits) return;
    ++next;
  }
  group_pods(look);
}

void LeaderWorkerSetController::group_pods(const LookPtr& look) {
  ++look->running;  // until all requests are sent
  for (auto& grouping : look->plan.groupings) {
    ++look->running;
    const jobs::UngroupedPod& pod = grouping.pod;
    context_.writes.patch({api::kPods, pod.ns, pod.name, pod.uid, pod.version}, "", std::move(grouping.patch),
                          [this, alive = alive_, look](const api::RestResponse& answer) {
                            if (!*alive) return;
                            look->ok = look->ok && (answer.ok() || answer.code == 404);
                            finish(look);
                          });
  }
  finish(look);
}

void LeaderWorkerSetController::finish(const LookPtr& look) {
  if (--look->running > 0) return;
  if (look->ok && look->plan.more) look_soon(look->key);
  look->finish(look->ok);
}

void LeaderWorkerSetController::tell(const Json& set, const jobs::JobEvent& event) {
  const std::string uid(uid_of_set(set));
  if (event.warning) {
    std::string& last = warned_[uid];
    if (last == event.note) return;
    last = event.note;
  }
  context_.events.record(
      {std::string(lws::kApiVersion), std::string(lws::kKind), std::string(string_at(set, {"metadata", "namespace"})),
       std::string(string_at(set, {"metadata", "name"})), uid,
       std::string(string_at(set, {"metadata", "resourceVersion"}))},
      {event.warning, event.reason, event.note, {}, std::string(kSetReporter)});
}

}  // namespace berth::controller
