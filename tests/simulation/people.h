// What people do to a cluster: they submit jobs, change their minds, edit queues. Chosen by a seeded random
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "simulate/faults.h"
#include "simulation/hands.h"

namespace berth::simulation {

class People {
 public:
  // `machine_room`: there is a topology, jobs ask for places in it, and nodes fail.
  People(api::RestClient& client, Executor& executor, std::uint64_t seed, bool machine_room);
  // Told of every node that somebody makes unfit.
  void on_node_failed(std::function<void(const std::string& name)> told) { node_failed_ = std::move(told); }

  // Queues, flavors, classes and namespaces: the objects to start with.
  std::vector<Json> estate();
  // One random deed. Failures are ignored, as people's commands may fail.
  void act();
  void submit();  // one job
  // A flavor gets a label that all nodes have.
  void label_flavor();
  // Undoes what blocks: queues open, workloads active, nodes usable, checks ready. Called until nothing is
  // left to undo.
  void calm_down();

  std::uint64_t jobs() const { return jobs_; }

 private:
  void edit_cluster_queue();
  void edit_local_queue();
  void edit_job();
  void edit_workload();
  void edit_node();
  void ask_for_places(Json& job);
  void break_node();
  void bring_back_nodes(std::size_t most);
  void answer_checks();
  void keep_check_active();

  api::RestClient& client_;
  Executor& executor_;
  simulate::Random random_;
  Hands hands_;
  bool machine_room_;
  std::function<void(const std::string&)> node_failed_;
  std::vector<Json> gone_nodes_;  // as they were when they were deleted
  int queues_ = 0;
  std::uint64_t jobs_ = 0;
};

}  // namespace berth::simulation
