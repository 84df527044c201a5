#include "embedded/simulate/pod_chaos.h"

#include <memory>
#include <utility>

#include "embedded/simulate/owner_people.h"
#include "embedded/simulate/pod_audit.h"
#include "embedded/simulate/pod_people.h"

namespace berth::simulation {
namespace {

// Several times the longest back-off, the longest run of a pod, and the time that a deleted pod waits for a successor.
constexpr Duration kPodCalm = std::chrono::hours(2);
constexpr Duration kPodCalmStep = std::chrono::minutes(5);
constexpr Duration kBetweenPodAudits = std::chrono::seconds(3);
// The controller wrote nothing for this time. It pauses at least once in so many of them.
constexpr Duration kPodPause = std::chrono::seconds(10);
constexpr int kMostPauses = 60;
// From the deletion of everything until nothing is left.
constexpr Duration kPodFarewell = std::chrono::minutes(30);

class PodChaos {
 public:
  explicit PodChaos(const PodChaosOptions& options) : options_(options) {}

  PodChaosResult run() {
    if (set_up()) {
      storm_->on_write([this](const api::RestRequest& request) { audit_->look_at_write(request); });
      storm_->begin();
      act_again([this] { people_->act(); });
      act_again([this] { owners_->act(); });
      schedule_audit();
      storm_->play_until(options_.events);
      calm();
      if (storm_->healthy()) clear_away();
      result_.pods = people_->pods();
      result_.owners = owners_->owners();
      result_.let_go = audit_->let_go();
      result_.evictions = audit_->evictions();
      result_.finished = audit_->finished();
      result_.serving = audit_->serving();
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  bool set_up() {
    simulate::WorldOptions world = storm_world(options_.seed);
    world.nodes = "1x2x2";
    world.apps_controllers = true;
    world.manage_pods = world.manage_deployments = world.manage_stateful_sets = world.manage_leader_worker_sets = true;
    world_ = make_world(world, result_.broken);
    if (!world_) return false;
    storm_ = std::make_unique<Storm>(*world_, options_.seed, true);
    audit_ = std::make_unique<PodAudit>(*storm_);
    people_ = std::make_unique<PodPeople>(world_->client(), options_.seed);
    owners_ = std::make_unique<OwnerPeople>(world_->client(), options_.seed);
    return storm_->populate(people_->estate());
  }

  void act_again(std::function<void()> act) {
    const Duration pause(static_cast<Duration::rep>(storm_->random().below(12'000'000)));
    world_->executor().after(pause, [this, act = std::move(act)]() mutable {
      if (storm_->is_calm()) return;
      act();
      act_again(std::move(act));
    });
  }

  void schedule_audit() {
    world_->executor().after(kBetweenPodAudits, [this] {
      audit_->look();
      schedule_audit();
    });
  }

  void calm() {
    storm_->calm();
    const Time end = world_->executor().now() + kPodCalm;
    do {
      people_->calm_down();
      storm_->run_for(kPodCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    wait_for_a_pause();
    if (storm_->healthy()) audit_->look_at_rest();
  }

  // Workloads whose pods do not get ready in time are evicted and admitted again for ever: what is looked at must not
  // be half done.
  void wait_for_a_pause() {
    for (int i = 0; i < kMostPauses && storm_->healthy(); ++i) {
      const auto before = storm_->writes().changes();
      storm_->run_for(kPodPause);
      if (storm_->writes().changes() == before) return;
    }
  }

  void clear_away() {
    const Time end = world_->executor().now() + kPodFarewell;
    do {
      owners_->clear_away();
      storm_->run_for(kPodCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    if (storm_->healthy()) audit_->look_at_the_end();
  }

  PodChaosOptions options_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<PodPeople> people_;
  std::unique_ptr<OwnerPeople> owners_;
  std::unique_ptr<Storm> storm_;
  std::unique_ptr<PodAudit> audit_;
  PodChaosResult result_;
};

}  // namespace

PodChaosResult run_pod_chaos(const PodChaosOptions& options) { return PodChaos(options).run(); }

}  // namespace berth::simulation
