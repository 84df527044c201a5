// A controller in bad weather: a network that fails and deaths at random writes, from a seed. Whoever plays
// in it is asked after each of the controller's rounds, and complains about what does not hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/controller.h"
#include "simulate/faults.h"
#include "simulate/world.h"
#include "simulation/write_meter.h"

namespace berth::simulation {

struct StormLog {
  std::vector<std::string> broken;  // what did not hold, with the virtual time; empty when all is well
  std::uint64_t events = 0;         // tasks of the executor: deliveries, answers, timers
  std::uint64_t restarts = 0, rounds = 0;
  std::uint64_t faults = 0;  // that the network made
};

class Storm {
 public:
  Storm(simulate::World& world, std::uint64_t seed);  // the world must outlive it

  void on_round(std::function<void()> handler) { round_ = std::move(handler); }        // before begin()
  void on_restart(std::function<void()> handler) { restarted_ = std::move(handler); }  // before begin()
  void begin();
  // Goes on until so many events were counted since the beginning, or too much is broken.
  void play_until(std::uint64_t events);
  // So long; complains when there is no end of tasks that are due.
  void run_for(Duration d);
  // The network is good and nobody dies, until it blows again.
  void calm();
  void blow();
  // Another controller takes over what the last one left.
  void restart();

  bool is_calm() const { return calm_; }
  bool healthy() const;  // there is no use in more complaints
  void complain(const std::string& what);
  simulate::World& world() { return world_; }
  simulate::Random& random() { return random_; }
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
  bool fair_;  // fair sharing is on: with every third seed
  std::function<void()> round_, restarted_;
  WriteMeter meter_;
  std::unique_ptr<simulate::FaultyClient> client_;
  std::unique_ptr<controller::Controller> controller_;
  bool restart_due_ = false, calm_ = false;
  StormLog log_;
};

// Objects of every namespace, as the server has them at this moment; none of a kind that is not served.
std::vector<Json> list_all(simulate::World& world, std::string_view api_version, std::string_view kind);

}  // namespace berth::simulation
