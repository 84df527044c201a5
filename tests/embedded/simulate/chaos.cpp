#include "embedded/simulate/chaos.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/kueue/types.h"
#include "api/resources.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/by_hand.h"
#include "embedded/simulate/monkey_act.h"
#include "embedded/simulate/people.h"
#include "embedded/simulate/places_audit.h"
#include "embedded/simulate/rest_audit.h"
#include "engine/requested_pods.h"
#include "engine/schedule/scheduler.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kEnoughText = 20'000;
// The longest time to settle after the faults end: several times the longest back-off and the longest job. Large jobs
// that run one after another, and are preempted in between, took more than three hours in a world (seed 77 with clang).
constexpr Duration kCalm = std::chrono::hours(6);
constexpr Duration kCalmStep = std::chrono::minutes(5);
constexpr Duration kBetweenAudits = std::chrono::seconds(7);
constexpr int kJobsAfterwards = 8;  // submitted when the monkeys have stopped; all must end

class Chaos {
 public:
  explicit Chaos(const ChaosOptions& options) : options_(options) {}

  ChaosResult run() {
    if (set_up()) {
      if (options_.journal > 0) storm_->record(options_.journal);
      storm_->begin();
      schedule_people();
      schedule_audit();
      storm_->play_until(options_.events);
      calm();
      play_with_monkeys();
      count();
      if (options_.journal > 0) storm_->replay();
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  void complain(const std::string& what) { storm_->complain(what); }

  bool set_up() {
    simulate::WorldOptions world = storm_world(options_.seed);
    began_ = world.start;
    const bool topology = options_.seed % 2 == 0;
    world.nodes = topology ? "1x2x2" : "1x1x3";
    world_ = make_world(world, result_.broken);
    if (!world_) return false;
    storm_ = std::make_unique<Storm>(*world_, options_.seed);
    people_ = std::make_unique<People>(world_->client(), world_->executor(), options_.seed, topology);
    people_->on_node_failed([this](const std::string& name) { audit_.node_failed(name); });
    if (!storm_->populate(people_->estate())) return false;
    auto activate = world_->request_for("", "AdmissionCheck", "", "check").value();
    activate.verb = api::Verb::kPatch;
    activate.subresource = "status";
    activate.body = JsonObject{
        {"status",
         JsonObject{{"conditions", JsonArray{JsonObject{{"type", "Active"},
                                                        {"status", "True"},
                                                        {"reason", "Active"},
                                                        {"message", ""},
                                                        {"lastTransitionTime", format_time(world.start)}}}}}}};
    world_->call(std::move(activate));
    return true;
  }

  // --- Simulated users.

  void schedule_people() {
    world_->executor().after(Duration(static_cast<Duration::rep>(storm_->random().below(8'000'000))), [this] {
      if (storm_->is_calm()) return;
      people_->act();
      schedule_people();
    });
  }

  // --- Audits the stored objects at regular intervals. Each audit sees the objects of one moment.

  void schedule_audit() {
    world_->executor().after(kBetweenAudits, [this] {
      if (!auditing_) return;
      const auto& list = world_->server().objects().list;
      const Snapshot now{list(api::kWorkloads, ""), list(api::kPods, ""), list(api::kNodes, ""), list(api::kJobs, "")};
      for (const auto& sentence : audit_.look(now)) complain(sentence);
      schedule_audit();
    });
  }

  // --- The end: faults stop, stopped queues and workloads are resumed, and every job must end.

  void calm() {
    storm_->calm();
    const Time end = world_->executor().now() + kCalm;
    do {
      people_->calm_down();
      storm_->run_for(kCalmStep);
    } while (world_->executor().now() < end && storm_->healthy() && !settled());
    // Queue statuses are written a little later than the workloads' statuses.
    storm_->run_for(std::chrono::seconds(10));
    if (storm_->healthy()) check_end();
  }

  // The second act, with monkeys. All jobs of the first act have ended or can never end. Monkeys may change or delete
  // the jobs that users submit in this act.
  void play_with_monkeys() {
    if (options_.monkey_events == 0 || !storm_->healthy()) return;
    auditing_ = false;  // monkeys write topology assignments too, so PlacesAudit does not hold
    MonkeyAct act(*storm_, options_.seed);
    act.remember();
    storm_->blow();
    schedule_people();
    act.play(options_.monkey_events);
    if (storm_->healthy()) act.come_to_rest();
    if (storm_->healthy()) act.put_right();
    result_.monkeys = act.log();
    if (!storm_->healthy()) return;
    for (const auto& sentence : set_admission(*world_)) complain(sentence);
    live_by_hand(*storm_, "a", "q0");
    people_->label_flavor();
    for (int i = 0; i < kJobsAfterwards; ++i) people_->submit();
    calm();
    for (const auto& sentence : without_flavor_labels(*world_)) complain(sentence);
  }

  std::vector<Json> list(std::string_view api_version, std::string_view kind) {
    return list_all(*world_, api_version, kind);
  }

  static std::string brief(Json object) {
    erase_path(object, {"metadata", "managedFields"});
    return to_string(object);
  }

  static bool finished(const Json& job) {
    for (const auto& condition : array_at(job, {"status", "conditions"})) {
      const auto type = string_at(condition, {"type"});
      if ((type == "Complete" || type == "Failed") && string_at(condition, {"status"}) == "True") return true;
    }
    return false;
  }

  // True when every job has ended, or waits for a reason that does not go away by itself. Otherwise `unsettled_` says
  // which jobs have not.
  bool settled() {
    std::map<std::string, Json> workload_of;
    for (auto& workload : list("kueue.x-k8s.io/v1beta2", "Workload")) {
      workload_of[std::string(string_at(workload, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}))] =
          std::move(workload);
    }
    unsettled_.clear();
    const auto strict = strict_queues();
    for (const auto& job : list("batch/v1", "Job")) {
      if (finished(job)) continue;
      const std::string name = std::string(string_at(job, {"metadata", "namespace"})) + "/" +
                               std::string(string_at(job, {"metadata", "name"}));
      const auto it = workload_of.find(std::string(string_at(job, {"metadata", "uid"})));
      if (it == workload_of.end()) {
        unsettled_ = "job " + name + " has no workload: " + brief(job);
        return false;
      }
      std::string reason;
      for (const auto& condition : array_at(it->second, {"status", "conditions"})) {
        const auto type = string_at(condition, {"type"});
        if (type == "QuotaReserved" && string_at(condition, {"status"}) == "False")
          reason = string_at(condition, {"reason"});
        if (type == "Finished" && string_at(condition, {"status"}) == "True") reason = "Finished";
      }
      // Can never be admitted or never ends: too large, no such queue, no matching flavor, or deactivated by its
      // maximum execution time each time it runs.
      const bool too_long = find_path(it->second, {"spec", "maximumExecutionTimeSeconds"}) != nullptr;
      // In a StrictFIFO queue, a workload behind another one is not evaluated and has no reason of its own.
      const bool behind_another = strict.contains(std::string(string_at(it->second, {"spec", "queueName"})));
      const bool hopeless = too_long || behind_another || reason == "ExceedsMaxQuota" || reason == "Misconfigured" ||
                            reason == "NoMatchingFlavor" || reason == "Finished";
      if (!hopeless) {
        if (unsettled_.size() < kEnoughText)
          unsettled_ += "job " + name + " does not end; its workload: " + brief(it->second) + "\n";
      }
    }
    return unsettled_.empty();
  }

  void check_end() {
    if (!settled()) complain(unsettled_);
    // Jobs that can never end still start and stop, so the status of a queue may be late at the moment of a look.
    constexpr int kLooks = 5;
    std::string wrong = wrong_reservations();
    for (int look = 1; look < kLooks && !wrong.empty(); ++look) {
      storm_->run_for(std::chrono::seconds(7));
      wrong = wrong_reservations();
    }
    if (!wrong.empty()) complain(wrong);
  }

  // Cluster queues whose status tells less than their workloads hold; "": none.
  std::string wrong_reservations() {
    std::string wrong;
    std::map<std::string, Amount> reserved;
    std::map<std::string, std::string> holders;
    for (const auto& json : list("kueue.x-k8s.io/v1beta2", "Workload")) {
      const auto workload = api::kueue::decode_workload(json).value();
      const auto& status = workload.status;
      if (!status.admission || !api::is_true(status.conditions, "QuotaReserved") ||
          api::is_true(status.conditions, "Finished"))
        continue;
      for (const auto& held : engine::amounts_held(*status.admission, workload, {})) {
        reserved[status.admission->cluster_queue] += held.amount;
        holders[status.admission->cluster_queue] += " " + brief(json);
      }
    }
    for (const auto& queue : list("kueue.x-k8s.io/v1beta2", "ClusterQueue")) {
      Amount reported;
      for (const auto& flavor : array_at(queue, {"status", "flavorsReservation"})) {
        for (const auto& resource : array_at(flavor, {"resources"})) {
          reported += to_amount("cpu", Quantity::parse(string_at(resource, {"total"})).value());
        }
      }
      const std::string name(string_at(queue, {"metadata", "name"}));
      if (reserved[name] > reported)
        wrong += "ClusterQueue " + name + " tells " + format_amount("cpu", reported) +
                 " reserved, its workloads hold " + format_amount("cpu", reserved[name]) + ":" + holders[name] + "\n";
    }
    return wrong;
  }

  // In a StrictFIFO queue, a first workload that can never be admitted blocks all workloads behind it.
  std::set<std::string> strict_queues() {
    std::set<std::string> names;
    for (const auto& queue : list("kueue.x-k8s.io/v1beta2", "ClusterQueue")) {
      if (string_at(queue, {"spec", "queueingStrategy"}) == "StrictFIFO")
        names.emplace(string_at(queue, {"metadata", "name"}));
    }
    return names;
  }

  void count() {
    result_.jobs = people_->jobs();
    storm_->log().faults = storm_->faults();
    result_.simulated = world_->executor().now() - began_;
    for (const auto& workload : list("kueue.x-k8s.io/v1beta2", "Workload")) {
      for (const auto& eviction : array_at(workload, {"status", "schedulingStats", "evictions"})) {
        result_.evictions += static_cast<std::uint64_t>(int_at(eviction, {"count"}));
      }
    }
    for (const auto& job : list("batch/v1", "Job")) result_.finished += finished(job) ? 1 : 0;
  }

  ChaosOptions options_;
  Time began_{};
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<People> people_;
  std::unique_ptr<Storm> storm_;
  std::string unsettled_;
  PlacesAudit audit_;
  bool auditing_ = true;
  ChaosResult result_;
};

}  // namespace

ChaosResult run_chaos(const ChaosOptions& options) { return Chaos(options).run(); }

}  // namespace berth::simulation
