#include "embedded/simulate/storm.h"

#include <utility>

namespace berth::simulation {
namespace {

using simulate::FaultRates;

constexpr std::size_t kEnoughComplaints = 5;
// The controller's writes of one object in one minute: far more than faults, users and monkeys can cause.
constexpr std::uint64_t kMostWritesPerMinute = 120;
// Executor tasks in one run_for(): far more than all clients need in a few minutes of a cluster at rest.
constexpr std::uint64_t kMostTasksAtOnce = 1'000'000;

FaultRates rates_of(simulate::Random& random) {
  FaultRates rates;
  if (random.chance(150)) return rates;  // some runs have a good network
  rates.refused = static_cast<int>(random.below(60));
  rates.unknown_outcome = static_cast<int>(random.below(40));
  rates.conflict = static_cast<int>(random.below(40));
  rates.slow = static_cast<int>(random.below(150));
  rates.watch_ends = static_cast<int>(random.below(30));
  rates.watch_expires = static_cast<int>(random.below(15));
  rates.late = static_cast<int>(random.below(100));
  rates.repeated = static_cast<int>(random.below(60));
  return rates;
}

}  // namespace

simulate::WorldOptions storm_world(std::uint64_t seed) {
  simulate::WorldOptions world;
  world.start = parse_time("2026-01-01T00:00:00Z").value();
  world.node_resources = "cpu=8,memory=32Gi";
  world.seed = seed;
  world.controller = false;
  return world;
}

std::unique_ptr<simulate::World> make_world(const simulate::WorldOptions& options, std::vector<std::string>& broken) {
  auto made = simulate::World::make(options);
  if (made) return std::move(*made);
  broken.push_back(made.error().message);
  return nullptr;
}

Storm::Storm(simulate::World& world, std::uint64_t seed, bool pods)
    : world_(world),
      random_(seed * 7919 + 17),
      rates_(rates_of(random_)),
      fair_(seed % 3 == 0),
      by_usage_(seed % 4 == 3),
      pods_(pods),
      meter_(world.client(), world.executor(), kMostWritesPerMinute,
             [this](const std::string& what) { complain(what); }) {}

bool Storm::healthy() const { return log_.broken.size() < kEnoughComplaints; }

void Storm::complain(const std::string& what) {
  if (!healthy()) return;
  log_.broken.push_back(format_time(world_.executor().now()) + " after " + std::to_string(log_.events) +
                        " events: " + what);
}

bool Storm::populate(const std::vector<Json>& objects) {
  for (const Json& object : objects) {
    if (const auto created = world_.create(object); !created) {
      complain(to_string(object) + ": " + created.error().message);
      return false;
    }
  }
  return true;
}

void Storm::begin() { start_controller(); }

void Storm::play_until(std::uint64_t events) {
  while (log_.events < events && world_.executor().step() && healthy()) {
    ++log_.events;
    if (restart_due_) restart();
  }
}

void Storm::run_for(Duration d) {
  auto& executor = world_.executor();
  const Time end = executor.now() + d;
  std::uint64_t tasks = 0;
  while (executor.next_due() && *executor.next_due() <= end && healthy()) {
    executor.step();
    if (restart_due_) restart();
    if (++tasks > kMostTasksAtOnce)
      return complain("hot loop: more than " + std::to_string(kMostTasksAtOnce) + " tasks in " + format_duration(d));
  }
  if (healthy()) executor.run_until(end);
}

void Storm::calm() {
  calm_ = true;
  if (restart_due_) restart();
  client_->set_rates({});
  client_->on_write({});
}

void Storm::blow() {
  calm_ = false;
  client_->set_rates(rates_);
  plan_death();
}

void Storm::start_controller() {
  client_ = std::make_unique<simulate::FaultyClient>(meter_, world_.executor(), random_.next(),
                                                     calm_ ? FaultRates() : rates_);
  if (!calm_) plan_death();
  controller::ControllerOptions options;
  options.seed = random_.next();
  options.engine.fair_sharing.enabled = fair_;
  options.engine.admission_fair_sharing = {by_usage_, std::chrono::minutes(1), std::chrono::seconds(30), {}};
  options.manage_pods = options.manage_deployments = options.manage_stateful_sets = options.manage_leader_worker_sets =
      pods_;
  for (const auto& kind : kinds_) options.kinds.push_back({kind, true});
  options.compare_kinds = true;
  if (recorder_) journal_ = recorder_->journal(world_.executor());
  options.journal = journal_.get();
  controller_ = std::make_unique<controller::Controller>(*client_, world_.executor(), options);
  controller_->on_round([this] { check_round(); });
  controller_->lead();
  controller_->start();
}

void Storm::plan_death() {
  if (random_.chance(300)) return client_->on_write({});
  const std::uint64_t last_write = 1 + random_.below(300);
  const bool before = random_.chance(500);
  client_->on_write([this, last_write, before, writes = std::uint64_t{0}](std::uint64_t) mutable {
    if (++writes != last_write) return true;
    restart_due_ = true;  // the process ends when this task has ended
    return !before;       // true: its last request is still carried out
  });
}

void Storm::restart() {
  restart_due_ = false;
  ++log_.restarts;
  log_.faults += client_->faults();
  client_->cut();
  controller_.reset();
  journal_.reset();
  client_.reset();
  if (restarted_) restarted_();
  start_controller();
}

void Storm::replay() {
  controller_.reset();
  journal_.reset();
  const auto replayed = recorder_->replay();
  log_.segments = replayed.segments;
  log_.replayed = replayed.compared;
  for (const auto& sentence : replayed.broken) complain(sentence);
}

void Storm::check_round() {
  ++log_.rounds;
  for (const auto& sentence : controller_->engine().check_invariants()) complain(sentence);
  if (round_) round_();
}

std::vector<Json> list_all(simulate::World& world, std::string_view api_version, std::string_view kind) {
  auto request = world.request_for(api_version, kind, "", {});
  if (!request) return {};
  request->verb = api::Verb::kList;
  request->ns.clear();
  const auto response = world.call(std::move(*request));
  const auto& items = array_at(response.body, {"items"});
  return {items.begin(), items.end()};
}

}  // namespace berth::simulation
