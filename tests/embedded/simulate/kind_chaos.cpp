#include "embedded/simulate/kind_chaos.h"

#include <memory>
#include <utility>

#include "embedded/cluster/operators/operators.h"
#include "embedded/simulate/kind_audit.h"
#include "embedded/simulate/kind_installers.h"
#include "embedded/simulate/kind_people.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::simulation {
namespace {

// Several times the longest back-off and the longest run of a pod.
constexpr Duration kKindCalm = std::chrono::hours(2);
constexpr Duration kKindCalmStep = std::chrono::minutes(5);
constexpr Duration kBetweenKindAudits = std::chrono::seconds(3);
constexpr Duration kKindFarewell = std::chrono::minutes(30);
constexpr std::uint64_t kLongestLife = 600;  // seconds, of the operators
constexpr std::uint64_t kLongestPeace = 90;  // seconds between what happens to the definitions of kinds

class KindChaos {
 public:
  explicit KindChaos(const KindChaosOptions& options) : options_(options) {}

  KindChaosResult run() {
    if (set_up()) {
      start_operators();
      storm_->begin();
      act();
      disturb();
      kill_operators();
      audit();
      storm_->play_until(options_.events);
      calm();
      if (storm_->healthy()) clear_away();
      result_.jobs = people_->jobs();
      result_.uninstalled = installers_->uninstalled();
      result_.moved = installers_->moved();
      result_.ran = audit_->ran();
      result_.evictions = audit_->evictions();
      result_.finished = audit_->finished();
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  bool set_up() {
    simulate::WorldOptions world = storm_world(options_.seed);
    world.nodes = "1x2x2";
    world.operators = false;
    world.external_kinds = "all";
    for (const auto& kind : jobs::kinds::shipped_job_kinds()) world.kinds.push_back({kind, true});
    world_ = make_world(world, result_.broken);
    if (!world_) return false;
    storm_ = std::make_unique<Storm>(*world_, options_.seed);
    storm_->manage(jobs::kinds::shipped_job_kinds());
    audit_ = std::make_unique<KindAudit>(*storm_);
    people_ = std::make_unique<KindPeople>(world_->client(), options_.seed);
    installers_ = std::make_unique<KindInstallers>(world_->client(), options_.seed);
    return storm_->populate(people_->estate());
  }

  void start_operators() {
    line_ = std::make_unique<simulate::FaultyClient>(world_->client(), world_->executor(), storm_->random().next(),
                                                     storm_->is_calm() ? simulate::FaultRates() : storm_->rates());
    operators_ = std::make_unique<cluster::Operators>(*line_, world_->executor(), jobs::kinds::shipped_job_kinds());
    operators_->start();
    ++result_.operators;
  }

  void kill_operators() {
    world_->executor().after(std::chrono::seconds(storm_->random().below(kLongestLife)), [this] {
      if (storm_->is_calm()) return;
      line_->cut();
      operators_.reset();
      line_.reset();
      start_operators();
      kill_operators();
    });
  }

  void act() {
    const Duration pause(static_cast<Duration::rep>(storm_->random().below(12'000'000)));
    world_->executor().after(pause, [this] {
      if (storm_->is_calm()) return;
      people_->act();
      act();
    });
  }

  // Longer than what a kind that is gone is given up after, now and then.
  void disturb() {
    const Duration pause = std::chrono::seconds(storm_->random().below(kLongestPeace));
    world_->executor().after(pause, [this] {
      if (storm_->is_calm()) return;
      installers_->act();
      disturb();
    });
  }

  void audit() {
    world_->executor().after(kBetweenKindAudits, [this] {
      audit_->look();
      audit();
    });
  }

  void calm() {
    storm_->calm();
    line_->set_rates({});
    const Time end = world_->executor().now() + kKindCalm;
    do {
      people_->calm_down();
      installers_->calm_down();
      storm_->run_for(kKindCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    if (storm_->healthy()) audit_->look_at_rest();
  }

  void clear_away() {
    const Time end = world_->executor().now() + kKindFarewell;
    do {
      people_->clear_away();
      storm_->run_for(kKindCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    if (storm_->healthy()) audit_->look_at_the_end();
  }

  KindChaosOptions options_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<KindPeople> people_;
  std::unique_ptr<KindInstallers> installers_;
  std::unique_ptr<Storm> storm_;
  std::unique_ptr<KindAudit> audit_;
  std::unique_ptr<simulate::FaultyClient> line_;
  std::unique_ptr<cluster::Operators> operators_;
  KindChaosResult result_;
};

}  // namespace

KindChaosResult run_kind_chaos(const KindChaosOptions& options) { return KindChaos(options).run(); }

}  // namespace berth::simulation
