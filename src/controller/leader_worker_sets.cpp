#include "controller/leader_worker_sets.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/leaderworkerset/names.h"
#include "api/meta.h"
#include "api/status.h"
#include "base/log.h"
#include "jobs/pods/leader_worker_set.h"

namespace berth::controller {
namespace {

std::string_view uid_in(const Json& object) { return string_at(object, {"metadata", "uid"}); }

}  // namespace

LeaderWorkerSets::LeaderWorkerSets(Shell& shell, const ManagedObjects& managed, const DecodedWorkloads& workloads,
                                   GroupListener& listener)
    : shell_(shell),
      managed_(managed),
      workloads_(workloads),
      listener_(listener),
      sets_(shell.client, shell.executor, jobs::leader_worker_set_kind().resource, shell.informer_options()),
      served_(
          sets_,
          {jobs::groups_of_leader_worker_set, jobs::group_of_leader_worker_set, jobs::served_by_leader_worker_set},
          [this](const Json& set) { return managed_.manages_serving(set); },
          [this](const std::string& ns, const std::string& group, bool gone) {
            listener_.owner_changed(ns, group, gone);
          }) {
  sets_.on_change([this](const JsonPtr& old, const JsonPtr& now) { set_changed(old, now); });
  sets_.on_list([this](const api::RestResponse& response) { listed(response); });
  sets_.on_synced([this] { know(); });
}

void LeaderWorkerSets::read() { sets_.start(); }

void LeaderWorkerSets::listed(const api::RestResponse& response) {
  const bool missing = response.code == 404, refused = response.code == 401 || response.code == 403;
  if (std::exchange(reported_, response.code) != response.code) {
    if (missing) log::info("LeaderWorkerSets are not installed here; they are managed once they are");
    if (!response.ok() && !missing)
      log::warn(
          refused ? "LeaderWorkerSets cannot be read and are ignored" : "LeaderWorkerSets cannot be read; trying again",
          {{"code", response.code}, {"why", std::string(api::status_message(response))}});
  }
  if (missing) know();
}

void LeaderWorkerSets::know() {
  if (!std::exchange(known_, true)) listener_.owners_known();
}

void LeaderWorkerSets::look_at_all() {
  served_.look_at_all();
  for (const auto& set : sets_.list()) report_about_limit(*set);
}

void LeaderWorkerSets::set_changed(const JsonPtr& old, const JsonPtr& now) {
  const bool other = !old || !now || uid_in(*old) != uid_in(*now);
  if (old && other) too_many_.erase(std::string(uid_in(*old)));
  served_.set_changed(old, now);
  if (now) report_about_limit(*now);
  if (!other) return;
  const auto it = pods_.find(api::object_key(now ? *now : *old));
  if (it == pods_.end()) return;
  for (const auto& uid : it->second) listener_.regroup(uid);
}

void LeaderWorkerSets::report_about_limit(const Json& set) {
  const std::int64_t groups = jobs::groups_of_leader_worker_set(set);
  if (groups <= kMaxServedGroups || !shell_.leading() || !managed_.manages_serving(set)) return;
  const api::ObjectMeta meta = api::decode_meta(set);
  if (std::exchange(too_many_[meta.uid], groups) == groups) return;
  const auto& kind = jobs::leader_worker_set_kind();
  shell_.events.record({kind.api_version(), kind.kind, meta.ns, meta.name, meta.uid, meta.resource_version},
                       {true,
                        "ErrWorkloadCompose",
                        "LeaderWorkerSet " + meta.name + " has " + std::to_string(groups) + " groups, at most " +
                            std::to_string(kMaxServedGroups) +
                            " get workloads, the pods of the others wait: set a smaller spec.replicas",
                        {},
                        kind.controller});
}

void LeaderWorkerSets::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto forget = [this](const Json& pod) {
    const auto it = set_of_pod_.find(uid_in(pod));
    if (it == set_of_pod_.end()) return;
    const auto pods = pods_.find(it->second);
    pods->second.erase(it->first);
    if (pods->second.empty()) pods_.erase(pods);
    set_of_pod_.erase(it);
  };
  if (old) forget(*old);
  if (!now) return;
  forget(*now);
  const auto place = jobs::place_in_leader_worker_set(*now);
  if (!place) return;
  const std::string uid(uid_in(*now)), key = api::object_key(string_at(*now, {"metadata", "namespace"}), place->set);
  set_of_pod_[uid] = key;
  pods_[key].insert(uid);
}

std::optional<std::string> LeaderWorkerSets::group_of(const Json& pod) const {
  const auto place = jobs::place_in_leader_worker_set(pod);
  if (!place || !jobs::belongs_to_berth(pod)) return std::nullopt;
  const auto named = api::kueue::pod_group_name(pod, shell_.options.jobs.identifier_annotations);
  const bool waits = api::kueue::has_scheduling_gate(pod, api::kueue::kAdmissionGate);
  if (!waits && !named.empty()) return std::string(named);
  const JsonPtr set = sets_.get(api::object_key(string_at(pod, {"metadata", "namespace"}), place->set));
  return set ? jobs::group_of_leader_worker_set(*set, place->group) : std::string(named);
}

jobs::ServedGroupPtr LeaderWorkerSets::group(std::string_view ns, std::string_view name) const {
  if (auto group = served_.group(ns, name)) return group;
  const auto workload = workloads_.find(api::object_key(ns, name));
  const auto* owner = workload ? jobs::owning_leader_worker_set(*workload) : nullptr;
  const JsonPtr set = owner == nullptr ? nullptr : sets_.get(api::object_key(ns, owner->name));
  if (!set || uid_in(*set) != owner->uid) return nullptr;
  return served_.completed(jobs::surplus_of_leader_worker_set(set, std::string(name)));
}

bool LeaderWorkerSets::lacks(std::string_view ns, const api::OwnerReference& owner) const {
  return is_lacking(sets_, jobs::leader_worker_set_kind(), ns, owner);
}

bool LeaderWorkerSets::may_be_owned(const api::kueue::Workload& workload) const {
  return !known_ && jobs::owning_leader_worker_set(workload) != nullptr;
}

}  // namespace berth::controller
