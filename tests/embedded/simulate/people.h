// Simulated users of a cluster: they submit, change and delete jobs, edit queues and break nodes. A seeded random
// generator chooses what they do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/lab_names.h"

namespace berth::simulation {

class People {
 public:
  // `topology`: the cluster has a Topology, jobs request placement in it, and nodes fail.
  People(api::RestClient& client, Executor& executor, std::uint64_t seed, bool topology);
  // Sets the callback for each node that these users delete, fail, taint or cordon. It is called before the request
  // is sent. Required with `topology`.
  void on_node_failed(std::function<void(const std::string& name)> reported) { node_failed_ = std::move(reported); }

  // Returns the objects to start with: queues, flavors, priority classes, checks and namespaces.
  std::vector<Json> estate();
  // Does one random action. Errors are ignored: a user's command may fail.
  void act();
  void submit();  // submits one job
  // Gives flavor "first" a node label that all nodes have.
  void label_flavor();
  // Removes what blocks jobs: resumes queues, activates workloads, repairs nodes, sets checks ready. Call it
  // repeatedly, because requests are asynchronous and new blocks may appear.
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
  bool topology_;
  std::function<void(const std::string&)> node_failed_;
  std::vector<Json> gone_nodes_;  // deleted nodes, as they are to be created again
  int queues_ = 0;
  std::uint64_t jobs_ = 0;
};

}  // namespace berth::simulation
