// Runs a controller under faults that are drawn from a seed: network faults, and crashes at random writes. After each
// decision round it checks the engine's invariants and calls on_round(), which reports violations with complain().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/controller.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/recorder.h"
#include "embedded/simulate/world.h"
#include "embedded/simulate/write_meter.h"
#include "jobs/kinds/job_kind.h"

namespace berth::simulation {

struct StormLog {
  std::vector<std::string> broken;  // what did not hold, with the virtual time; empty when all is well
  std::uint64_t events = 0;         // executor tasks run by play_until(): deliveries, answers, timers
  std::uint64_t restarts = 0, rounds = 0;
  std::uint64_t faults = 0;  // network faults
  // Of replay(): segments of the journals, and decision rounds and answers to events that came again.
  std::uint64_t segments = 0, replayed = 0;
};

// A world for a storm, which starts its controller by itself.
simulate::WorldOptions storm_world(std::uint64_t seed);
// Null with the reason in `broken`.
std::unique_ptr<simulate::World> make_world(const simulate::WorldOptions& options, std::vector<std::string>& broken);

class Storm {
 public:
  // The world must outlive it. `pods`: the controller manages pods and their owners (Deployments and others), too.
  Storm(simulate::World& world, std::uint64_t seed, bool pods = false);

  // The controller manages jobs of these kinds, too. Before begin().
  void manage(std::vector<jobs::kinds::JobKindPtr> kinds) { kinds_ = std::move(kinds); }
  void on_round(std::function<void()> handler) { round_ = std::move(handler); }        // before begin()
  void on_restart(std::function<void()> handler) { restarted_ = std::move(handler); }  // before begin()
  // Every controller records a journal with segments of about this many bytes. Before begin().
  void record(std::uint64_t segment_size) { recorder_ = std::make_unique<Recorder>(segment_size); }
  // Replays what was recorded. Complains about each difference.
  void replay();
  // Called for each write of the controller, before the server carries it out. Before begin().
  void on_write(std::function<void(const api::RestRequest&)> handler) { meter_.on_write(std::move(handler)); }
  // Creates the objects in this order. Complains about the first one that is refused, and returns false.
  bool populate(const std::vector<Json>& objects);
  void begin();
  // Runs until log().events has this value, nothing is left to run, or there are too many complaints.
  void play_until(std::uint64_t events);
  // Runs for this virtual time. Complains and stops when more than 1,000,000 tasks become due in it (a hot loop).
  void run_for(Duration d);
  // No network faults and no crashes until blow() is called.
  void calm();
  // Turns faults and crashes on again.
  void blow();
  // Kills the controller and starts a new one on the same objects.
  void restart();

  bool is_calm() const { return calm_; }
  bool healthy() const;  // fewer than 5 complaints; further ones are dropped
  void complain(const std::string& what);
  simulate::World& world() { return world_; }
  simulate::Random& random() { return random_; }
  const simulate::FaultRates& rates() const { return rates_; }  // of the controller's network while it is not calm
  const controller::Controller& controller() const { return *controller_; }
  const WriteMeter& writes() const { return meter_; }
  StormLog& log() { return log_; }
  std::uint64_t faults() const { return log_.faults + client_->faults(); }

 private:
  void start_controller();
  void plan_death();
  void check_round();

  simulate::World& world_;
  simulate::Random random_;
  simulate::FaultRates rates_;
  bool fair_;      // fair sharing is on, for each third seed
  bool by_usage_;  // admission fair sharing is on, for each fourth seed
  bool pods_;
  std::vector<jobs::kinds::JobKindPtr> kinds_;
  std::function<void()> round_, restarted_;
  WriteMeter meter_;
  std::unique_ptr<simulate::FaultyClient> client_;
  std::unique_ptr<Recorder> recorder_;         // null: nothing is recorded
  std::unique_ptr<journal::Journal> journal_;  // of the controller
  std::unique_ptr<controller::Controller> controller_;
  bool restart_due_ = false, calm_ = false;
  StormLog log_;
};

// The objects of all namespaces as the server stores them now. Empty when the kind is not served.
std::vector<Json> list_all(simulate::World& world, std::string_view api_version, std::string_view kind);

}  // namespace berth::simulation
