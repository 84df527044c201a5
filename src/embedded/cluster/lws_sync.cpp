#include "embedded/cluster/lws_sync.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/leaderworkerset/names.h"
#include "api/object_condition.h"

namespace berth::cluster {
namespace {

namespace lws = api::leaderworkerset;

struct LwsGroup {
  const LwsPod* leader = nullptr;
  std::map<std::int64_t, const LwsPod*> workers;  // by index
  bool leaving = false;                           // its leader is deleted, or will be

  bool ready(std::int64_t size) const {
    if (leader == nullptr || leaving || !leader->ready) return false;
    const auto good = [](const auto& worker) { return worker.second->ready && !worker.second->deleting; };
    return std::ssize(workers) == size - 1 && std::all_of(workers.begin(), workers.end(), good);
  }
  template <typename Test>
  bool any(Test test) const {
    return (leader != nullptr && test(*leader)) ||
           std::any_of(workers.begin(), workers.end(), [&](const auto& worker) { return test(*worker.second); });
  }
};

class LwsPlanner {
 public:
  explicit LwsPlanner(const LwsView& view) : view_(view), set_(view.set) {}

  LwsStep run() {
    if (set_.deleting) return {};
    read();
    restart();
    update();
    shrink();
    for (auto& [index, group] : groups_) settle(group);
    grow();
    write_status();
    return std::move(step_);
  }

 private:
  bool current(const LwsGroup& group) const {
    return group.leader != nullptr && group.leader->revision == set_.revision;
  }
  bool ready(const LwsGroup& group) const { return group.ready(set_.size); }
  const LwsGroup* at(std::int64_t index) const {
    const auto it = groups_.find(index);
    return it == groups_.end() ? nullptr : &it->second;
  }

  void read() {
    for (const LwsPod& pod : view_.leaders) {
      if (pod.group < 0 || pod.worker != 0 || pod.name != lws_pod_name(set_, pod.group, 0)) {
        remove(pod);  // somebody edited its labels
        continue;
      }
      groups_[pod.group].leader = &pod;
      groups_[pod.group].leaving = pod.deleting;
    }
    for (const LwsPod& pod : view_.workers) {
      const bool sound = pod.worker > 0 && pod.worker < set_.size && pod.group >= 0 && groups_.contains(pod.group) &&
                         pod.name == lws_pod_name(set_, pod.group, pod.worker);
      if (sound) {
        groups_[pod.group].workers[pod.worker] = &pod;
      } else {
        remove(pod);
      }
    }
  }

  void remove(const LwsPod& pod) {
    if (!pod.deleting && removed_.insert(pod.uid).second) step_.remove.push_back(pod.object);
  }

  // Groups that lost a pod.
  void restart() {
    if (set_.restart == LwsSpec::Restart::kPodOnly) return;
    for (auto& [index, group] : groups_) {
      if (set_.restart == LwsSpec::Restart::kGroupAfterStart &&
          group.any([](const LwsPod& pod) { return pod.pending; }))
        continue;
      const auto lost = [](const LwsPod& pod) { return pod.restarted || pod.deleting || pod.ended; };
      if (group.any(lost)) group.leaving = true;
    }
  }

  // Replaces groups of older templates, from the highest index down.
  void update() {
    std::int64_t behind = 0, available = 0;
    bool updating = false;
    for (std::int64_t i = set_.partition; i < set_.replicas; ++i) {
      const LwsGroup* group = at(i);
      if (group == nullptr || !current(*group) || !ready(*group)) ++behind;
      updating = updating || (group != nullptr && !current(*group));
    }
    for (const auto& [index, group] : groups_) {
      if (ready(group)) ++available;
      // An update goes on until every group is ready: the groups beyond the replicas serve until then.
      if (index >= set_.replicas && !group.leaving) updating = updating || behind > 0;
    }
    wanted_ = set_.replicas + (updating ? std::min(set_.max_surge, behind) : 0);
    updating_ = updating;
    std::int64_t spare = available - (set_.replicas - set_.max_unavailable);
    for (std::int64_t i = set_.replicas - 1; i >= set_.partition; --i) {
      const auto it = groups_.find(i);
      if (it == groups_.end() || current(it->second) || it->second.leaving) continue;
      if (ready(it->second) && spare-- <= 0) continue;
      it->second.leaving = true;
    }
  }

  void shrink() {
    for (auto& [index, group] : groups_) {
      if (index >= wanted_) group.leaving = true;
    }
  }

  // Deletes what leaves a group, and what has to make room for a new pod.
  void settle(const LwsGroup& group) {
    if (group.leaving) {
      if (group.leader != nullptr) remove(*group.leader);
      for (const auto& [index, worker] : group.workers) remove(*worker);
      return;
    }
    if (group.leader != nullptr && group.leader->ended) remove(*group.leader);
    for (const auto& [index, worker] : group.workers) {
      if (worker->ended || worker->revision != group.leader->revision) remove(*worker);
    }
  }

  void grow() {
    for (std::int64_t i = 0; i < wanted_ && step_.create.size() < kMaxLwsPods; ++i) {
      const LwsGroup* group = at(i);
      if (group == nullptr) {
        step_.create.push_back(make_lws_leader(set_, i));
        continue;
      }
      const LwsPod& leader = *group->leader;
      if (group->leaving || leader.deleting || leader.ended || (set_.workers_wait && !leader.ready)) continue;
      for (std::int64_t w = 1; w < set_.size && step_.create.size() < kMaxLwsPods; ++w) {
        if (!group->workers.contains(w)) step_.create.push_back(make_lws_worker(set_, leader, w));
      }
    }
  }

  // --- The status.

  Json condition(std::string_view type, bool holds, std::string_view reason, std::string_view message) const {
    std::string since = format_time(view_.now);
    const Json* old = api::object_condition(set_.object, type);
    if (old != nullptr && string_at(*old, {"status"}) == (holds ? "True" : "False"))
      since = string_at(*old, {"lastTransitionTime"});
    return JsonObject{{"type", type},
                      {"status", holds ? "True" : "False"},
                      {"reason", reason},
                      {"message", message},
                      {"lastTransitionTime", since}};
  }

  bool had(std::string_view type) const { return api::object_condition(set_.object, type) != nullptr; }

  void write_status() {
    std::int64_t ready_groups = 0, updated = 0, in_place = 0;
    for (const auto& [index, group] : groups_) {
      if (ready(group)) ++ready_groups;
      if (current(group)) ++updated;
      if (index < set_.replicas && ready(group) && (current(group) || index < set_.partition)) ++in_place;
    }
    Json status = JsonObject();
    if (const Json* old = find_path(set_.object, {"status"}); old != nullptr && old->is_object()) status = *old;
    const bool available = in_place == set_.replicas;
    JsonArray conditions{condition("Available", available, "AllGroupsReady", "All replicas are ready"),
                         condition("Progressing", !available, "GroupsProgressing", "Replicas are progressing")};
    if (updating_ || had("UpdateInProgress"))
      conditions.push_back(
          condition("UpdateInProgress", updating_, "GroupsUpdating", "Rolling Upgrade is in progress"));
    for (const Json& other : array_at(status, {"conditions"})) {
      const auto type = string_at(other, {"type"});
      if (type != "Available" && type != "Progressing" && type != "UpdateInProgress") conditions.push_back(other);
    }
    ensure_path(status, {"conditions"}) = std::move(conditions);
    ensure_path(status, {"replicas"}) = std::ssize(groups_);
    ensure_path(status, {"readyReplicas"}) = ready_groups;
    ensure_path(status, {"updatedReplicas"}) = updated;
    ensure_path(status, {"observedGeneration"}) = int_at(set_.object, {"metadata", "generation"});
    ensure_path(status, {"hpaPodSelector"}) =
        std::string(lws::kSetName) + "=" + set_.name + "," + std::string(lws::kWorkerIndex) + "=0";
    const Json* old = find_path(set_.object, {"status"});
    if (old == nullptr || !json_equal(*old, status)) step_.status = std::move(status);
  }

  const LwsView& view_;
  const LwsSpec& set_;
  std::map<std::int64_t, LwsGroup> groups_;  // by index
  std::set<std::string> removed_;            // uids
  std::int64_t wanted_ = 0;                  // groups, with those of the surge
  bool updating_ = false;
  LwsStep step_;
};

}  // namespace

LwsStep next_step(const LwsView& view) { return LwsPlanner(view).run(); }

}  // namespace berth::cluster
