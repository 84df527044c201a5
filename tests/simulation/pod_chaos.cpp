#include "simulation/pod_chaos.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/kueue/types.h"
#include "api/resources.h"
#include "apiserver/server/api_server.h"
#include "engine/schedule/scheduler.h"
#include "simulation/pod_people.h"

namespace berth::simulation {
namespace {

// Several times the longest back-off, the longest run of a pod, and the time that a deleted pod waits for a successor.
constexpr Duration kPodCalm = std::chrono::hours(2);
constexpr Duration kPodCalmStep = std::chrono::minutes(5);
constexpr Duration kBetweenPodAudits = std::chrono::seconds(3);
// No finalizer keeps a pod or a workload longer than this after its deletion.
constexpr Duration kLongestFarewell = std::chrono::minutes(15);

struct PodSight {
  explicit PodSight(const Json& pod)
      : name(string_at(pod, {"metadata", "name"})),
        uid(string_at(pod, {"metadata", "uid"})),
        group(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"})),
        workload(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/workload"})),
        pod_set(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/podset"})),
        role(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"})),
        managed(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/managed"}) == "true"),
        by_hand(find_path(pod, {"metadata", "annotations", kUngatedByHand}) != nullptr),
        deleting(find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    for (const Json& gate : array_at(pod, {"spec", "schedulingGates"}))
      gated = gated || string_at(gate, {"name"}) == "kueue.x-k8s.io/admission";
    const auto phase = string_at(pod, {"status", "phase"});
    ended = phase == "Succeeded" || phase == "Failed";
  }
  std::string name, uid, group, workload, pod_set, role;
  bool managed = false, by_hand = false, deleting = false, gated = false, ended = false;
  // Containers run or may start.
  bool runs() const { return !gated && !ended && !deleting; }
};

std::string told(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

class PodChaos {
 public:
  explicit PodChaos(const PodChaosOptions& options) : options_(options) {}

  PodChaosResult run() {
    if (set_up()) {
      storm_->begin();
      schedule_people();
      schedule_audit();
      storm_->play_until(options_.events);
      calm();
      result_.pods = people_->pods();
      result_.let_go = let_go_.size();
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  void complain(const std::string& what) { storm_->complain(what); }

  bool set_up() {
    simulate::WorldOptions world;
    world.start = parse_time("2026-01-01T00:00:00Z").value();
    world.nodes = "1x2x2";
    world.node_resources = "cpu=8,memory=32Gi";
    world.seed = options_.seed;
    world.controller = false;
    world.manage_pods = true;
    auto made = simulate::World::make(world);
    if (!made) {
      result_.broken.push_back(made.error().message);
      return false;
    }
    world_ = std::move(*made);
    storm_ = std::make_unique<Storm>(*world_, options_.seed, true);
    people_ = std::make_unique<PodPeople>(world_->client(), options_.seed);
    return storm_->populate(people_->estate());
  }

  void schedule_people() {
    world_->executor().after(Duration(static_cast<Duration::rep>(storm_->random().below(6'000'000))), [this] {
      if (storm_->is_calm()) return;
      people_->act();
      schedule_people();
    });
  }

  void schedule_audit() {
    world_->executor().after(kBetweenPodAudits, [this] {
      audit();
      schedule_audit();
    });
  }

  // No pod is let go without quota: at no time do more pods of a pod set run than the workload was admitted with.
  void audit() {
    const auto& list = world_->server().objects().list;
    std::map<std::string, std::int64_t> running;
    for (const auto& pod : list(api::kPods, "")) {
      const PodSight p(*pod);
      if (!p.managed || !p.runs() || p.by_hand) continue;
      if (p.workload.empty()) complain("pod " + p.name + " was let go without a workload: " + told(*pod));
      let_go_.insert(p.uid);
      ++running[p.workload + "/" + p.pod_set];
    }
    for (const auto& workload : list(api::kWorkloads, "")) {
      for (const auto& pod_set : array_at(*workload, {"spec", "podSets"})) {
        const std::string key =
            std::string(string_at(*workload, {"metadata", "name"})) + "/" + std::string(string_at(pod_set, {"name"}));
        if (running[key] > int_at(pod_set, {"count"}))
          complain(std::to_string(running[key]) + " pods of " + key + " run: " + told(*workload));
      }
    }
  }

  void calm() {
    storm_->calm();
    const Time end = world_->executor().now() + kPodCalm;
    do {
      people_->calm_down();
      storm_->run_for(kPodCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    if (storm_->healthy()) check_end();
  }

  static api::Conditions conditions_of(const Json& object) {
    return api::decode_conditions(Json(array_at(object, {"status", "conditions"})));
  }

  void check_farewell(const Json& object) {
    const auto text = string_at(object, {"metadata", "deletionTimestamp"});
    if (text.empty()) return;
    if (const auto since = parse_time(text); since && *since + kLongestFarewell < world_->executor().now())
      complain("something keeps a deleted object: " + told(object));
  }

  void check_end() {
    std::map<std::string, Json> workloads;
    std::map<std::string, Amount> reserved;
    for (auto& json : list_all(*world_, "kueue.x-k8s.io/v1beta2", "Workload")) {
      check_farewell(json);
      const auto workload = api::kueue::decode_workload(json).value();
      const auto& status = workload.status;
      for (const auto& eviction : status.evictions) result_.evictions += static_cast<std::uint64_t>(eviction.count);
      if (api::is_true(status.conditions, "Finished")) ++result_.finished;
      if (status.admission && api::is_true(status.conditions, "QuotaReserved") &&
          !api::is_true(status.conditions, "Finished")) {
        for (const auto& held : engine::holding_amounts(*status.admission, status.reclaimable_pods))
          reserved[status.admission->cluster_queue] += held.amount;
      }
      workloads[workload.meta.name] = std::move(json);
    }
    for (const auto& json : list_all(*world_, "v1", "Pod")) check_pod(json, workloads);
    for (const auto& queue : list_all(*world_, "kueue.x-k8s.io/v1beta2", "ClusterQueue")) {
      Amount shown;
      for (const auto& flavor : array_at(queue, {"status", "flavorsReservation"})) {
        for (const auto& resource : array_at(flavor, {"resources"}))
          shown += to_amount("cpu", Quantity::parse(string_at(resource, {"total"})).value());
      }
      const std::string name(string_at(queue, {"metadata", "name"}));
      if (!(reserved[name] == shown))
        complain("ClusterQueue " + name + " tells " + format_amount("cpu", shown) + " reserved, its workloads hold " +
                 format_amount("cpu", reserved[name]));
    }
  }

  // Users give pods other groups and roles while they wait.
  static bool belongs_to(const PodSight& pod, const Json& workload) {
    if (string_at(workload, {"metadata", "name"}) != pod.group) return false;
    const JsonArray& pod_sets = array_at(workload, {"spec", "podSets"});
    return std::any_of(pod_sets.begin(), pod_sets.end(),
                       [&](const Json& one) { return string_at(one, {"name"}) == pod.role; });
  }

  // What holds for each pod when nothing happens any more: those that run are admitted, those that wait have a workload
  // that does not hold quota, or their group is not complete, and those that ended are released.
  void check_pod(const Json& json, const std::map<std::string, Json>& workloads) {
    check_farewell(json);
    const PodSight pod(json);
    if (!pod.managed || pod.deleting) return;
    const Json* workload = nullptr;
    for (const auto& [name, one] : workloads) {
      for (const Json& owner : array_at(one, {"metadata", "ownerReferences"})) {
        if (string_at(owner, {"uid"}) == pod.uid) workload = &one;
      }
    }
    const auto conditions = workload == nullptr ? api::Conditions() : conditions_of(*workload);
    const bool admitted = api::is_true(conditions, "Admitted");
    const bool finished = api::is_true(conditions, "Finished");
    if (pod.ended) {
      const bool released = array_at(json, {"metadata", "finalizers"}).empty();
      if ((pod.group.empty() || finished) && !released) complain("a pod that ended is not released: " + told(json));
    } else if (!pod.gated) {
      if (!admitted || finished) complain("a pod runs without quota: " + told(json));
    } else if (pod.group.empty()) {
      if (workload == nullptr || finished) complain("a pod is forgotten: " + told(json));
      if (admitted) complain("an admitted pod was not let go: " + told(json) + " " + told(*workload));
    } else if (admitted && !finished && belongs_to(pod, *workload)) {
      complain("a pod of an admitted group was not let go: " + told(json) + " " + told(*workload));
    }
  }

  PodChaosOptions options_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<PodPeople> people_;
  std::unique_ptr<Storm> storm_;
  std::set<std::string> let_go_;
  PodChaosResult result_;
};

}  // namespace

PodChaosResult run_pod_chaos(const PodChaosOptions& options) { return PodChaos(options).run(); }

}  // namespace berth::simulation
