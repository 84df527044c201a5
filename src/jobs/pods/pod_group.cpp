#include "jobs/pods/pod_group.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "jobs/compose.h"
#include "jobs/pods/group_terms.h"
#include "jobs/pods/roster.h"
#include "jobs/pods/served_group.h"
#include "jobs/prebuilt.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

bool is_active(const ManagedPod& pod) { return pod.active(); }
bool is_waiting(const ManagedPod& pod) { return pod.gated && pod.runnable(); }
bool is_running(const ManagedPod& pod) { return !pod.gated && pod.runnable(); }

Roles roles_in(const Workload& w) {
  Roles roles;
  for (const auto& pod_set : w.pod_sets) roles[pod_set.name] = pod_set.count;
  return roles;
}

bool is_owner(const Workload& w, const ManagedPod& pod) {
  return std::ranges::any_of(w.meta.owners, [&](const auto& owner) { return owner.uid == pod.uid; });
}

api::OwnerReference owned_by(const ManagedPod& pod) {
  return {std::string(kPodApiVersion), std::string(kPodKind), pod.name, pod.uid, false, false};
}

JobEvent excess_deleted() { return {false, "ExcessPodDeleted", "Excess pod deleted"}; }

// One look at a group: collects the plan.
class GroupLook {
 public:
  GroupLook(std::string ns, std::string name, std::vector<ManagedPodPtr> pods, const JobFacts& facts, Time now)
      : ns_(std::move(ns)), name_(std::move(name)), pods_(std::move(pods)), facts_(facts), now_(now) {
    std::sort(pods_.begin(), pods_.end(), older);
    if (facts_.served_group) owner_ = facts_.served_group(ns_, name_);
    count_those_that_ran_before();
    served_ = owner_ || std::ranges::any_of(pods_, [](const auto& pod) { return pod->served; });
    plan_.owner = owner_;
    if (pods_.empty()) return;
    const auto first = std::find_if(pods_.begin(), pods_.end(), [](const auto& pod) { return pod->runnable(); });
    plan_.speaker = first == pods_.end() ? pods_.front() : *first;
    prebuilt_ = !served_ && !plan_.speaker->prebuilt.empty();
  }

  PodPlan look() {
    const WorkloadPtr workload = facts_.workload(ns_, name_);
    if (workload && !is_group_workload(*workload)) {
      if (!pods_.empty()) beside_another(*workload, workload);
    } else if (!workload) {
      without_workload();
    } else if (owner_ && is_surplus(*owner_) && facts_.managed && !workload->meta.deletion) {
      plan_.steps.push_back(DeleteWorkload{workload});
    } else if (pods_.empty() && owner_ && !finished(*workload) && !workload->meta.deletion) {
      if (facts_.managed) with_live(*workload, workload);
    } else if (pods_.empty()) {
      let_orphan_go(workload, facts_, plan_.steps);
      if (owner_) start_anew(workload);
    } else if (workload->meta.deletion) {
      with_deleted(*workload, workload);
    } else if (finished(*workload)) {
      with_finished(*workload, workload);
    } else if (!facts_.managed) {
      release_those_that_left();
    } else {
      with_live(*workload, workload);
    }
    return std::move(plan_);
  }

 private:
  // Nobody stops such a pod because its workload has no quota yet. Once the workload is admitted, it has its place in
  // it and stops with it.
  void count_those_that_ran_before() {
    const WorkloadPtr workload = facts_.workload(ns_, name_);
    const bool count = owner_ && workload && !finished(*workload) && has_condition(*workload, kAdmitted);
    if (!count) std::erase_if(pods_, [](const auto& pod) { return pod->ran_before; });
    for (auto& pod : pods_) {
      if (!pod->ran_before) continue;
      auto placed = std::make_shared<ManagedPod>(*pod);
      placed->role = owner_->role_of(*pod);
      pod = std::move(placed);
    }
  }
  void say(JobEvent event) { plan_.steps.push_back(std::move(event)); }
  void release(const ManagedPodPtr& pod) {
    if (pod->finalizer) plan_.actions.push_back(drop_finalizer(pod));
  }
  void release_those_that_left() {
    for (const auto& pod : pods_) {
      if (!pod->runnable()) release(pod);
    }
  }
  // Returns whether a pod runs that must not.
  bool stop_all(std::string_view reason, std::string_view message) {
    bool any = false;
    for (const auto& pod : pods_) {
      if (!is_running(*pod)) continue;
      plan_.actions.push_back(stop(pod, reason, message, now_));
      any = true;
    }
    return any;
  }
  // An owner would make a deleted pod again at once.
  void delete_excess(const std::vector<ManagedPodPtr>& pods) {
    if (served_) return;
    for (const auto& pod : pods) plan_.actions.push_back({pod, std::nullopt, true, excess_deleted()});
  }
  std::vector<ManagedPodPtr> those(bool (*which)(const ManagedPod&)) const {
    std::vector<ManagedPodPtr> out;
    std::copy_if(pods_.begin(), pods_.end(), std::back_inserter(out), [&](const auto& pod) { return which(*pod); });
    return out;
  }
  bool any(bool (*which)(const ManagedPod&)) const {
    return std::any_of(pods_.begin(), pods_.end(), [&](const auto& pod) { return which(*pod); });
  }

  // A client made the workload: for this group, or for something else.
  void beside_another(const Workload& w, const WorkloadPtr& workload) {
    release_those_that_left();
    const std::string key = api::object_key(ns_, name_);
    if (prebuilt_ && facts_.managed && !w.meta.deletion && !has_controller(w)) {
      if (any(is_waiting)) adopt(w, workload);
      return;
    }
    if (facts_.managed && any(is_waiting))
      say({true, "WorkloadNameConflict",
           "Workload " + key +
               " has the name of this pod group and belongs to somebody else: delete it, or give the "
               "group another name"});
  }

  // The group becomes the owner of the prebuilt workload, by the mark of workloads of groups. Its spec stays.
  void adopt(const Workload& w, const WorkloadPtr& workload) {
    api::ObjectMeta meta;
    meta.owners = w.meta.owners;
    for (const auto& pod : pods_) {
      if (is_waiting(*pod) && !is_owner(w, *pod)) meta.owners.push_back(owned_by(*pod));
    }
    Json patch = JsonObject{{"metadata", api::encode_meta(meta)}};
    ensure_path(patch, {"metadata", "annotations", kIsGroupWorkload}) = "true";
    plan_.steps.push_back(UpdateWorkload{workload, std::move(patch)});
  }

  void without_workload() {
    release_those_that_left();
    if (!facts_.managed) return;
    if (stop_all(kNoMatchingWorkload, "Missing Workload; unable to run the job") || any(is_active)) return;
    if (served_) return create_for_owner();
    const auto waiting = those(is_waiting);
    if (waiting.empty()) return;
    if (prebuilt_) return say(prebuilt_is_missing(api::object_key(ns_, name_)));
    create(waiting);
  }

  void create_for_owner() {
    if (!owner_) return;  // the cache does not have it yet, or it is gone
    put_pods_into_group();
    if (owner_->total == 0) return;
    auto made = make_served_workload(*owner_, facts_);
    if (!made) return say({true, std::string(kClassNotFound), made.error().message});
    plan_.steps.push_back(CreateWorkload{std::move(*made)});
    say(created(api::object_key(ns_, name_)));
  }

  // A pod that still has to be put there does not count yet.
  void put_pods_into_group() {
    std::vector<ManagedPodPtr> inside;
    for (const auto& pod : pods_) {
      if (owner_->total == 0 && pod->gated) continue;  // it is about to be deleted
      if (auto action = put_into_group(*owner_, pod, facts_.gates)) {
        plan_.actions.push_back(std::move(*action));
      } else {
        inside.push_back(pod);
      }
    }
    pods_ = std::move(inside);
  }

  // A workload that was given up for a reason that no longer holds: the owner is there, and nothing runs.
  void start_anew(const WorkloadPtr& workload) {
    const api::Condition* end = api::find_condition(workload->status.conditions, kFinished);
    if (end == nullptr || holds_finalizer(*workload) || workload->meta.deletion || any(is_active)) return;
    if (end->reason == "OutOfSync" || end->reason == "OwnerNotFound") remove(workload, plan_.steps);
  }

  void create(std::vector<ManagedPodPtr> waiting) {
    const auto terms = agreed_terms(name_, waiting);
    if (!terms) return say(cannot_compose(terms.error().message));
    const auto roles = roles_of(name_, *terms, waiting);
    if (!roles) return say(cannot_compose(roles.error().message));
    const Roster roster(waiting, *roles, terms->serving);
    delete_excess(roster.excess());
    std::vector<api::OwnerReference> owners;
    for (const auto& pod : roster.waiting()) owners.push_back(owned_by(*pod));
    const JsonPtr voice = voice_of(*terms, *waiting.front());
    auto made = compose({name_, *voice, pod_sets_of(*roles, waiting),
                         std::string(string_at(waiting.front()->spec(), {"priorityClassName"})), std::move(owners)},
                        facts_);
    if (!made) return say({true, std::string(kClassNotFound), made.error().message});
    made->meta.annotations.insert_or_assign(std::string(kIsGroupWorkload), "true");
    plan_.steps.push_back(CreateWorkload{encode_workload(*made)});
    say(created(api::object_key(ns_, name_)));
  }

  // A client deletes the workload of pods that exist. Those that run are deleted too; the others get a new workload.
  void with_deleted(const Workload& w, const WorkloadPtr& workload) {
    release_those_that_left();
    if (stop_all(kWorkloadDeleted, "Workload is deleted") || any(is_active)) return;
    if (holds_finalizer(w)) plan_.steps.push_back(DropWorkloadFinalizer{workload});
  }

  void with_finished(const Workload& w, const WorkloadPtr& workload) {
    release_those_that_left();
    stop_all(kWorkloadFinished, "The workload is finished");
    if (holds_finalizer(w)) {
      plan_.steps.push_back(DropWorkloadFinalizer{workload});
      say(declared_finished(w));
    }
    if (!facts_.managed) return;
    if (served_) return owner_ ? start_anew(workload) : void();
    std::vector<ManagedPodPtr> late;  // came after the end
    bool all_are_late = true;
    for (const auto& pod : pods_) {
      if (is_waiting(*pod) && !is_owner(w, *pod)) {
        late.push_back(pod);
      } else {
        all_are_late = false;
      }
    }
    if (late.empty()) return;
    // The group of the same name before them is gone: they are a new one. A prebuilt workload goes with its owners.
    if (all_are_late && prebuilt_) return;
    if (all_are_late) return remove(workload, plan_.steps);
    delete_excess(late);
  }

  void with_live(const Workload& w, const WorkloadPtr& workload) {
    if (owner_) put_pods_into_group();
    GroupTerms terms;
    if (plan_.speaker) terms = group_terms(*plan_.speaker);
    terms.serving |= served_;
    const Roster roster(pods_, roles_in(w), terms.serving);
    if (end(workload, terms, roster)) return;
    const bool evicted = has_condition(w, kEvicted);
    if (!owner_ && !evicted &&
        std::all_of(pods_.begin(), pods_.end(), [](const auto& pod) { return pod->deletion.has_value(); }))
      return all_deleted(workload);
    tell(workload, terms, roster);
    release_replaced(roster);
    if (evicted ? stop_all(evicted_reason(w), eviction_message(w))
                : !has_condition(w, kAdmitted) && stop_all(kNotAdmitted, "Not admitted by cluster queue"))
      return;
    if (evicted && has_condition(w, kQuotaReserved)) return;
    if (prebuilt_ && !in_sync(w, workload)) return own(workload, roster);
    if (replan(workload, terms, roster)) return;
    delete_excess(roster.excess());
    if (owner_ && follow_owner(*owner_, workload, facts_, plan_.steps)) return;
    own(workload, roster);
    if (!owner_) follow(workload);
    if (owner_ && !hold_of(*owner_, w).empty()) return;
    if (has_condition(w, kAdmitted) && !waits_for_places(w)) start(workload, roster);
  }

  // Finishes the workload when the group is done. Returns whether it is.
  bool end(const WorkloadPtr& workload, const GroupTerms& terms, const Roster& roster) {
    if (terms.serving) return false;
    std::int32_t succeeded = 0;
    for (const auto& [role, count] : roster.succeeded()) succeeded += count;
    const bool all = succeeded == roster.total();
    const auto ended = [](const ManagedPodPtr& pod) { return pod->ended(); };
    const bool given_up = std::all_of(pods_.begin(), pods_.end(), ended) &&
                          std::any_of(pods_.begin(), pods_.end(), [](const auto& pod) { return is_unretriable(*pod); });
    if (!all && !given_up) return false;
    plan_.steps.push_back(
        finish(workload, all ? "Succeeded" : "Failed",
               "Pods succeeded: " + std::to_string(succeeded) + "/" + std::to_string(roster.total()) + "."));
    return true;
  }

  // A client deleted the whole group. Its quota is free when nothing runs any more.
  void all_deleted(const WorkloadPtr& workload) {
    release_those_that_left();
    if (plan_.actions.empty() && !any(is_active)) let_orphan_go(workload, facts_, plan_.steps);
  }

  void tell(const WorkloadPtr& workload, const GroupTerms& terms, const Roster& roster) {
    const Workload& w = *workload;
    JobReport what;
    what.stopped = !any(is_active);
    what.pods_ready = has_condition(w, kAdmitted) && roster.ready() >= roster.total();
    if (!terms.serving) {
      what.reclaimable.emplace();
      for (const auto& [role, count] : roster.succeeded()) what.reclaimable->push_back({role, count});
    }
    if (owner_) {
      what.on_hold = hold_of(*owner_, w);
      if (!what.on_hold->empty()) what.pods_ready.reset();
      // Nothing started yet.
      if (pods_.empty() && !has_condition(w, kEvicted) && !has_condition(w, kPodsReady)) what.pods_ready.reset();
    }
    if (!served_) what.replacement = replacement(w, terms, roster);
    plan_.steps.push_back(report(workload, std::move(what)));
  }

  JobReport::Replacement replacement(const Workload& w, const GroupTerms& terms, const Roster& roster) const {
    const auto fails = [](const ManagedPodPtr& pod) { return pod->phase != PodPhase::kSucceeded; };
    const api::Condition* evicted = api::find_condition(w.status.conditions, kEvicted);
    if (evicted != nullptr && evicted->status) {
      const bool complete = terms.fast ? roster.filled() > 0 : roster.missing() == 0;
      return {!complete, complete ? "" : evicted->reason, complete ? "" : evicted->message};
    }
    const auto waits = [](const ManagedPodPtr& pod) { return pod->gated; };
    if (prebuilt_ && std::ranges::all_of(pods_, waits)) return {};  // not all of its pods were created yet
    const bool lost = std::any_of(roster.lost().begin(), roster.lost().end(), fails);
    const bool gone = !terms.fast && !terms.serving && roster.missing() > 0;
    if (!lost && !gone) return {};
    return {true, "PodsFailed", "Some Failed pods need replacement"};
  }

  // A deleted pod whose place is open or that succeeded stays for a while: its success counts as long as it is there.
  void release_replaced(const Roster& roster) {
    for (const auto& pod : roster.replaced()) release(pod);
    for (const auto& pod : roster.lost()) release_in_time(pod);
    for (const auto& pod : roster.done()) release_in_time(pod);
  }

  void release_in_time(const ManagedPodPtr& pod) {
    if (!pod->deletion || !pod->finalizer) return;
    const Time until = *pod->deletion + kReplacementPatience;
    if (pod->gated || until <= now_) {
      release(pod);
    } else {
      plan_.look_again = std::min(plan_.look_again.value_or(until), until);
    }
  }

  // Whether the waiting pods are what the prebuilt workload says. They are compared when all of them are there and none
  // was let go; then a workload that differs is finished.
  bool in_sync(const Workload& w, const WorkloadPtr& workload) {
    const auto waiting = those(is_waiting);
    const auto was_let_go = [](const ManagedPodPtr& pod) { return !pod->gated; };
    if (waiting.empty() || std::ranges::any_of(pods_, was_let_go)) return true;  // it was in sync before
    const auto terms = agreed_terms(name_, waiting);
    const auto roles = terms ? roles_of(name_, *terms, waiting) : tl::unexpected(terms.error());
    if (!roles) {
      say(cannot_compose(roles.error().message));
      return false;
    }
    auto pod_sets = pod_sets_of(*roles, waiting);
    const auto place = [&](const PodSet& one) {
      return std::ranges::find(w.pod_sets, one.name, &PodSet::name) - w.pod_sets.begin();
    };
    std::ranges::stable_sort(pod_sets, {}, place);  // clients may write the pod sets in any order
    if (describes(w, pod_sets, *voice_of(*terms, *waiting.front()), false, true)) return true;
    plan_.steps.push_back(finish_out_of_sync(workload));
    return false;
  }

  // While the workload holds no quota and no pod was let go, the pods decide what it asks for, unless they have an
  // owner that decides. Returns whether it changes.
  bool replan(const WorkloadPtr& workload, const GroupTerms& terms, const Roster& roster) {
    if (roster.strangers().empty()) return false;
    const auto waiting = those(is_waiting);
    const bool free =
        !has_condition(*workload, kQuotaReserved) && !any(is_active) && !terms.fast && !prebuilt_ && !served_;
    if (free && roster.missing() > 0 && roster.succeeded().empty()) {
      const auto agreed = agreed_terms(name_, waiting);
      const auto roles = agreed ? roles_of(name_, *agreed, waiting) : tl::unexpected(agreed.error());
      if (roles) {
        plan_.steps.push_back(
            UpdateWorkload{workload, redescribe(pod_sets_of(*roles, waiting), *waiting.front()->object)});
        say({false, "UpdatedWorkload", "Updated not matching Workload for suspended job: " + key_of(*workload)});
        return true;
      }
    }
    if (roster.missing() == 0) {
      delete_excess(roster.strangers());
      return false;
    }
    for (const auto& pod : roster.strangers()) {
      plan_.actions.push_back(
          {pod, std::nullopt, false,
           cannot_compose("the workload of group '" + name_ + "' has no pods of this kind (annotation " +
                          std::string(kRoleHash) + " is \"" + pod->role +
                          "\"): delete this pod, or create it with the same requests as the others")});
    }
    return false;
  }

  // All pods of the group own the workload: it is deleted after the last of them.
  void own(const WorkloadPtr& workload, const Roster& roster) {
    std::set<std::string_view> owning, present;
    for (const auto& owner : workload->meta.owners) owning.insert(owner.uid);
    for (const auto& pod : pods_) present.insert(pod->uid);
    api::ObjectMeta meta;
    for (const auto& owner : workload->meta.owners) {
      if (owner.kind != kPodKind || present.contains(owner.uid)) meta.owners.push_back(owner);
    }
    std::size_t added = 0;
    const auto add = [&](const ManagedPodPtr& pod) {
      if (owning.contains(pod->uid)) return;
      meta.owners.push_back(owned_by(*pod));
      ++added;
    };
    for (const auto& pod : roster.waiting()) add(pod);
    for (const auto& pod : pods_) {
      if (is_running(*pod) && !pod->ran_before) add(pod);
    }
    if (added == 0) return;
    plan_.steps.push_back(UpdateWorkload{workload, JsonObject{{"metadata", api::encode_meta(meta)}}});
    JobEvent event{false, "OwnerReferencesAdded", "Added " + std::to_string(added) + " owner reference(s)"};
    event.about = workload;
    say(std::move(event));
    changes_workload_ = true;
  }

  // Follows the labels of the pods when they agree.
  void follow(const WorkloadPtr& workload) {
    std::vector<ManagedPodPtr> runnable;
    for (const auto& pod : pods_) {
      if (pod->runnable()) runnable.push_back(pod);
    }
    if (runnable.empty() || changes_workload_) return;
    const auto terms = agreed_terms(name_, runnable);
    if (!terms) return say(cannot_compose(terms.error().message));
    catch_up(*voice_of(*terms, *runnable.front()), workload, facts_, plan_.steps);
  }

  void start(const WorkloadPtr& workload, const Roster& roster) {
    const auto infos = pod_set_infos(*workload, facts_.flavors);
    if (!infos) return fail_to_start(workload, infos.error().message);
    std::map<std::string, std::int32_t> room;
    for (const auto& info : *infos) room[info.name] = std::min(roster.room(info.name), info.count);
    std::vector<PodAction> actions;
    for (const auto& pod : roster.waiting()) {
      const auto info =
          std::find_if(infos->begin(), infos->end(), [&](const auto& one) { return one.name == pod->role; });
      if (info == infos->end() || room[pod->role]-- <= 0) continue;
      auto action = let_go(pod, *info, workload);
      if (!action) return fail_to_start(workload, action.error().message);
      actions.push_back(std::move(*action));
    }
    std::move(actions.begin(), actions.end(), std::back_inserter(plan_.actions));
  }

  void fail_to_start(const WorkloadPtr& workload, const std::string& why) {
    plan_.steps.push_back(finish(workload, "FailedToStart", why));
    say({true, "FailedToStart", why});
  }

  const std::string ns_, name_;
  std::vector<ManagedPodPtr> pods_;
  const JobFacts& facts_;
  const Time now_;
  PodPlan plan_;
  bool prebuilt_ = false;  // a client makes the workload
  ServedGroupPtr owner_;
  bool served_ = false;            // the pods have an owner that makes the workload, even if it is not known
  bool changes_workload_ = false;  // a second update would conflict with the first one
};

}  // namespace

bool is_group_workload(const Workload& w) {
  if (has_controller(w)) return false;
  const auto mark = w.meta.annotations.find(std::string(kIsGroupWorkload));
  return mark != w.meta.annotations.end() && mark->second == "true";
}

PodPlan reconcile_group(const std::string& ns, const std::string& name, std::vector<ManagedPodPtr> pods,
                        const JobFacts& facts, Time now) {
  return GroupLook(ns, name, std::move(pods), facts, now).look();
}

}  // namespace berth::jobs
