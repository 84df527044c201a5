#include "jobs/pods/live_group.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/reclaimable_pods.h"
#include "jobs/compose.h"
#include "jobs/pods/group_terms.h"
#include "jobs/pods/pod_charge.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/role_members.h"
#include "jobs/prebuilt.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

Roles roles_in(const Workload& w) {
  Roles roles;
  for (const auto& pod_set : w.pod_sets) roles[pod_set.name] = pod_set.count;
  return roles;
}

class LiveGroup {
 public:
  explicit LiveGroup(GroupScene& scene) : scene_(scene) {}

  void look(const WorkloadPtr& workload) {
    const Workload& w = *workload;
    if (scene_.owner) scene_.put_pods_into_group();
    GroupTerms terms;
    if (scene_.plan.speaker) terms = group_terms(*scene_.plan.speaker);
    terms.serving |= scene_.served;
    const RoleMembers members(scene_.pods, roles_in(w), terms.serving);
    if (end(workload, terms, members)) return;
    const bool evicted = has_condition(w, kEvicted);
    if (!scene_.owner && !evicted &&
        std::all_of(scene_.pods.begin(), scene_.pods.end(), [](const auto& pod) { return pod->deletion.has_value(); }))
      return all_deleted(workload);
    report_group(workload, terms, members);
    release_replaced(members, terms.serving && w.active);
    if (evicted ? scene_.stop_all(evicted_reason(w), eviction_message(w))
                : !has_condition(w, kAdmitted) && scene_.stop_all(kNotAdmitted, "Not admitted by cluster queue"))
      return;
    if (evicted && has_condition(w, kQuotaReserved)) return;
    if (scene_.prebuilt && !in_sync(w, workload)) return own(workload, members);
    if (replan(workload, terms, members)) return;
    scene_.delete_excess(members.excess());
    if (scene_.owner && has_condition(w, kQuotaReserved)) report_excess(w, members);
    if (scene_.owner && follow_owner(*scene_.owner, workload, scene_.facts, scene_.plan.steps)) return;
    own(workload, members);
    if (!scene_.owner) follow(workload);
    if (scene_.owner && !hold_of(*scene_.owner, w).empty()) return;
    if (has_condition(w, kAdmitted) && !waits_for_places(w)) start(workload, members);
  }

 private:
  // Finishes the workload when the group is done. Returns whether it is.
  bool end(const WorkloadPtr& workload, const GroupTerms& terms, const RoleMembers& members) {
    if (terms.serving) return false;
    std::int32_t succeeded = 0;
    for (const auto& [role, count] : members.succeeded()) succeeded += count;
    const bool all = succeeded == members.total();
    const auto ended = [](const ManagedPodPtr& pod) { return pod->ended(); };
    const bool given_up =
        std::all_of(scene_.pods.begin(), scene_.pods.end(), ended) &&
        std::any_of(scene_.pods.begin(), scene_.pods.end(), [](const auto& pod) { return is_unretriable(*pod); });
    if (!all && !given_up) return false;
    scene_.plan.steps.push_back(
        finish(workload, all ? "Succeeded" : "Failed",
               "Pods succeeded: " + std::to_string(succeeded) + "/" + std::to_string(members.total()) + "."));
    return true;
  }

  // A client deleted the whole group. Its quota is free when nothing runs any more.
  void all_deleted(const WorkloadPtr& workload) {
    scene_.release_those_that_left();
    if (scene_.plan.actions.empty() && !scene_.any(is_active_pod))
      let_orphan_go(workload, scene_.facts, scene_.plan.steps);
  }

  void report_group(const WorkloadPtr& workload, const GroupTerms& terms, const RoleMembers& members) {
    const Workload& w = *workload;
    JobReport what;
    what.stopped = !holds_quota();
    what.pods_ready = has_condition(w, kAdmitted) && members.ready() >= wanted(members) - may_lack(members);
    if (!terms.serving) {
      what.reclaimable = reclaimable(w, members);
    }
    if (scene_.owner) {
      what.on_hold = hold_of(*scene_.owner, w);
      if (!what.on_hold->empty()) what.pods_ready.reset();
      // Nothing started yet.
      if (scene_.pods.empty() && !has_condition(w, kEvicted) && !has_condition(w, kPodsReady)) what.pods_ready.reset();
    }
    if (!scene_.served) what.replacement = replacement(w, terms, members);
    scene_.plan.steps.push_back(report(workload, std::move(what)));
  }

  bool holds_quota() const {
    const bool fast = scene_.facts.gates.fast_quota_release;
    return std::ranges::any_of(scene_.pods, [&](const auto& pod) { return pod->active() && !(fast && pod->deletion); });
  }

  // The pods that succeeded. One that is gone meanwhile gave its quota back: a pod in its place waits until no pod of
  // the group runs, and then the group is queued again.
  std::vector<ReclaimablePod> reclaimable(const Workload& w, const RoleMembers& members) const {
    std::vector<ReclaimablePod> now;
    for (const auto& [role, count] : members.succeeded()) now.push_back({role, count});
    if (!w.status.admission || (needs_more(*w.status.admission, w, members) && !scene_.any(is_active_pod))) return now;
    return not_less(std::move(now), w.status.reclaimable_pods);
  }

  static bool needs_more(const Admission& admission, const Workload& w, const RoleMembers& members) {
    return std::ranges::any_of(admission.pod_set_assignments, [&](const PodSetAssignment& given) {
      const auto wait = std::ranges::count(members.waiting(), given.name, [](const auto& pod) { return pod->role; });
      return wait > held(w, given.name, given.count);
    });
  }

  // The pods of a role that hold quota: those given, without those that succeeded since.
  static std::int32_t held(const Workload& w, const std::string& role, std::int32_t given) {
    const auto pod_set = std::ranges::find(w.pod_sets, role, &PodSet::name);
    const std::int32_t before = pod_set == w.pod_sets.end() ? 0 : pod_set->count - given;
    return given - std::max(reclaimable_of(w.status.reclaimable_pods, role) - before, 0);
  }

  // An owner that was scaled down wants fewer pods than its workload has quota for.
  std::int32_t wanted(const RoleMembers& members) const {
    const bool fewer = scene_.owner && scene_.owner->total > 0;
    return fewer ? std::min(scene_.owner->total, members.total()) : members.total();
  }

  // The strictest of the pods decides how many of them need not be ready.
  std::int32_t may_lack(const RoleMembers& members) const {
    if (!scene_.facts.gates.max_not_ready || scene_.pods.empty()) return 0;
    const auto allowed = [&](const ManagedPodPtr& pod) { return allowed_not_ready(*pod, members.total()); };
    return std::ranges::min(scene_.pods | std::views::transform(allowed));
  }

  // An owner that was scaled up has more pods than its workload has quota for. They wait.
  void report_excess(const Workload& w, const RoleMembers& members) {
    scene_.report(members.excess(), cannot_compose("workload " + key_of(w) + " has quota for " +
                                                   std::to_string(members.total()) + " pods, and other pods use it"));
  }

  JobReport::Replacement replacement(const Workload& w, const GroupTerms& terms, const RoleMembers& members) const {
    const auto fails = [](const ManagedPodPtr& pod) { return pod->phase != PodPhase::kSucceeded; };
    const api::Condition* evicted = api::find_condition(w.status.conditions, kEvicted);
    if (evicted != nullptr && evicted->status) {
      const bool complete = terms.fast ? members.filled() > 0 : members.missing() == 0;
      return {!complete, complete ? "" : evicted->reason, complete ? "" : evicted->message};
    }
    const auto waits = [](const ManagedPodPtr& pod) { return pod->gated; };
    if (scene_.prebuilt && std::ranges::all_of(scene_.pods, waits)) return {};  // not all of its pods were created yet
    const bool lost = std::any_of(members.lost().begin(), members.lost().end(), fails);
    const bool gone = !terms.fast && !terms.serving && members.missing() > 0;
    if (!lost && !gone) return {};
    return {true, "PodsFailed", "Some Failed pods need replacement"};
  }

  // A deleted pod whose place is open or that succeeded stays for a while: its success counts as long as it is there.
  // `serves`: the owner of the pods makes others of the same names, as soon as these are gone. One that ended stays as
  // long as all others are gone: the workload would go with its last pod.
  void release_replaced(const RoleMembers& members, bool serves) {
    for (const auto& pod : members.replaced()) scene_.release(pod);
    const auto runnable = [](const ManagedPodPtr& pod) { return pod->runnable(); };
    const bool last_stays = scene_.pods.size() > 1 && std::ranges::none_of(scene_.pods, runnable);
    for (const auto& pod : members.lost()) {
      if (serves && pod->deletion && !pod->active() && !(last_stays && pod == scene_.pods.back())) {
        scene_.release(pod);
      } else {
        release_in_time(pod);
      }
    }
    for (const auto& pod : members.done()) release_in_time(pod);
  }

  void release_in_time(const ManagedPodPtr& pod) {
    if (!pod->deletion || !pod->finalizer) return;
    const Time until = *pod->deletion + kReplacementWait;
    if (pod->gated || until <= scene_.now) {
      scene_.release(pod);
    } else {
      scene_.plan.look_again = std::min(scene_.plan.look_again.value_or(until), until);
    }
  }

  // Whether the waiting pods are what the prebuilt workload says. They are compared when all of them are there and none
  // was let go; then a workload that differs is finished.
  bool in_sync(const Workload& w, const WorkloadPtr& workload) {
    const auto waiting = scene_.those(is_waiting_pod);
    const auto was_let_go = [](const ManagedPodPtr& pod) { return !pod->gated; };
    if (waiting.empty() || std::ranges::any_of(scene_.pods, was_let_go)) return true;  // it was in sync before
    const auto terms = agreed_terms(scene_.name, waiting);
    const auto roles = terms ? roles_of(scene_.name, *terms, waiting) : tl::unexpected(terms.error());
    if (!roles) {
      scene_.say(cannot_compose(roles.error().message));
      return false;
    }
    auto pod_sets = pod_sets_of(*roles, waiting, by_shape());
    const auto place = [&](const PodSet& one) {
      return std::ranges::find(w.pod_sets, one.name, &PodSet::name) - w.pod_sets.begin();
    };
    std::ranges::stable_sort(pod_sets, {}, place);  // clients may write the pod sets in any order
    const std::string what = mismatch(w, pod_sets, *voice_of(*terms, *waiting.front()), false, true);
    if (what.empty()) return true;
    scene_.plan.steps.push_back(finish_out_of_sync(workload));
    scene_.say(is_out_of_sync(w, what));
    return false;
  }

  bool by_shape() const { return scene_.facts.gates.group_order_by_shape; }

  // While the workload holds no quota and no pod was let go, the pods decide what it asks for, unless they have an
  // owner that decides. Returns whether it changes.
  bool replan(const WorkloadPtr& workload, const GroupTerms& terms, const RoleMembers& members) {
    if (members.strangers().empty()) return false;
    const auto waiting = scene_.those(is_waiting_pod);
    const bool free = !has_condition(*workload, kQuotaReserved) && !scene_.any(is_active_pod) && !terms.fast &&
                      !scene_.prebuilt && !scene_.served;
    if (free && members.missing() > 0 && members.succeeded().empty()) {
      const auto agreed = agreed_terms(scene_.name, waiting);
      const auto roles = agreed ? roles_of(scene_.name, *agreed, waiting) : tl::unexpected(agreed.error());
      if (roles) {
        scene_.plan.steps.push_back(
            UpdateWorkload{workload, redescribe(pod_sets_of(*roles, waiting, by_shape()), *waiting.front()->object)});
        scene_.say({false, "UpdatedWorkload", "Updated not matching Workload for suspended job: " + key_of(*workload)});
        return true;
      }
    }
    if (members.missing() == 0) {
      scene_.delete_excess(members.strangers());
      return false;
    }
    for (const auto& pod : members.strangers()) {
      scene_.plan.actions.push_back(
          {pod, std::nullopt, false,
           cannot_compose("the workload of group '" + scene_.name + "' has no pods of this kind (annotation " +
                          std::string(kRoleHash) + " is \"" + pod->role +
                          "\"): delete this pod, or create it with the same requests as the others")});
    }
    return false;
  }

  // All pods of the group own the workload: it is deleted after the last of them.
  void own(const WorkloadPtr& workload, const RoleMembers& members) {
    const std::set<std::string_view> owning = owner_uids(*workload);
    std::set<std::string_view> present;
    for (const auto& pod : scene_.pods) present.insert(pod->uid);
    api::ObjectMeta meta;
    for (const auto& owner : workload->meta.owners) {
      if (owner.kind != kPodKind || present.contains(owner.uid)) meta.owners.push_back(owner);
    }
    std::size_t added = 0;
    const auto add = [&](const ManagedPodPtr& pod) {
      if (owning.contains(pod->uid)) return;
      meta.owners.push_back(owned_by_pod(*pod));
      ++added;
    };
    for (const auto& pod : members.waiting()) add(pod);
    for (const auto& pod : scene_.pods) {
      if (is_running_pod(*pod) && !pod->ran_before) add(pod);
    }
    if (added == 0) return;
    scene_.plan.steps.push_back(UpdateWorkload{workload, JsonObject{{"metadata", api::encode_meta(meta)}}});
    JobEvent event{false, "OwnerReferencesAdded", "Added " + std::to_string(added) + " owner reference(s)"};
    event.about = workload;
    scene_.say(std::move(event));
    changes_workload_ = true;
  }

  // Follows the labels of the pods when they agree.
  void follow(const WorkloadPtr& workload) {
    std::vector<ManagedPodPtr> runnable;
    for (const auto& pod : scene_.pods) {
      if (pod->runnable()) runnable.push_back(pod);
    }
    if (runnable.empty() || changes_workload_) return;
    const auto terms = agreed_terms(scene_.name, runnable);
    if (!terms) return scene_.say(cannot_compose(terms.error().message));
    catch_up(*voice_of(*terms, *runnable.front()), workload, scene_.facts, scene_.plan.steps);
  }

  void start(const WorkloadPtr& workload, const RoleMembers& members) {
    if (members.waiting().empty()) return;
    if (auto missing = waits_for_flavor(*workload, scene_.facts.flavors)) {
      if (scene_.owner) scene_.report(members.waiting(), *missing);
      return scene_.say(std::move(*missing));
    }
    const auto infos = pod_set_infos(*workload, scene_.facts.flavors);
    if (!infos) return fail_to_start(workload, infos.error().message);
    std::map<std::string, std::int32_t> room;
    // The admission may have fewer pods than the group: without those that succeeded before, or because another client
    // wrote a minimum. Those that succeeded since have no quota either.
    for (const auto& info : *infos)
      room[info.name] =
          std::min(members.room(info.name), held(*workload, info.name, info.count) - members.running(info.name));
    std::vector<PodAction> actions, too_large;
    for (const auto& pod : members.waiting()) {
      const auto info =
          std::find_if(infos->begin(), infos->end(), [&](const auto& one) { return one.name == pod->role; });
      if (info == infos->end()) continue;
      if (const std::string more = beyond_charge(*pod, *workload); !more.empty()) {
        too_large.push_back({pod, std::nullopt, false, cannot_compose(is_too_large(*workload, pod->role, more))});
        continue;
      }
      if (room[pod->role]-- <= 0) continue;
      auto action = let_go(pod, *info, workload);
      if (!action) return fail_to_start(workload, action.error().message);
      actions.push_back(std::move(*action));
    }
    std::move(actions.begin(), actions.end(), std::back_inserter(scene_.plan.actions));
    std::move(too_large.begin(), too_large.end(), std::back_inserter(scene_.plan.actions));
  }

  static std::string is_too_large(const Workload& w, const std::string& role, const std::string& more) {
    return "this pod requests more than pod set " + role + " of workload " + key_of(w) + " has quota for (" + more +
           "): delete it, or create it with the same requests as the others";
  }

  void fail_to_start(const WorkloadPtr& workload, const std::string& why) {
    scene_.plan.steps.push_back(finish(workload, "FailedToStart", why));
    scene_.say({true, "FailedToStart", why});
  }

  GroupScene& scene_;
  bool changes_workload_ = false;  // a second update would conflict with the first one
};

}  // namespace

void with_live_workload(GroupScene& scene, const WorkloadPtr& workload) { LiveGroup(scene).look(workload); }

}  // namespace berth::jobs
