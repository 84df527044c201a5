// Simulated users of Volcano's objects: they submit vcjobs and PodGroups, create, delete, close and open queues, and
// change the amounts of queues. A seeded random generator chooses what they do.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/simulate/hands.h"

namespace berth::simulation {

// A ClusterQueue of Kueue next to the top-level Volcano queues. It shares with them what is not guaranteed to them.
inline constexpr std::string_view kSharedQueue = "shared";

// A namespace whose annotation names another queue than default for its PodGroups, and that queue.
inline constexpr std::string_view kNamespaceWithQueue = "b", kQueueOfNamespace = "q0";

class VolcanoPeople {
 public:
  // `lawful`: admission rules apply. Otherwise the server accepts all amounts, parents and queues, and the amounts
  // written may break the order of amounts().
  VolcanoPeople(api::RestClient& client, std::uint64_t seed, bool lawful);

  // Returns the objects to start with: namespaces, priority classes and queues.
  std::vector<Json> estate();
  // Does one random action, and tend().
  void act();
  // Removes what blocks jobs: opens queues and deletes PodGroups whose pods are lost. If not `lawful`, also moves
  // each queue directly below root and removes its limits. Call it repeatedly, because requests are asynchronous.
  void calm_down();
  // Plays the owners of bare PodGroups (without a vcjob): creates the pods of those that were admitted (phase
  // Inqueue).
  void tend();

  std::uint64_t jobs() const { return jobs_; }

 private:
  // Random members of a queue's spec. If lawful_: guarantee <= deserved <= capability <= most.
  Json amounts(std::uint64_t most);
  std::string some_queue();
  void look_for_leaves();
  Json pod_spec();
  void submit_job();
  void submit_group();
  void submit_shared();
  void plant();
  void change_amounts();
  void change_manners();
  void move();
  void fell();
  void scale_job();
  void order_queue();
  void order_job();
  void order(const std::string& ns, const std::string& action, Json target);
  void scribble();
  void lose_pod();
  void give_up_lost();

  simulate::Random random_;
  Hands hands_;
  bool lawful_;
  std::vector<std::string> leaves_;  // open queues without children, as of the last look_for_leaves()
  std::set<std::string> tended_;     // uids of PodGroups whose pods were created
  std::uint64_t jobs_ = 0, orders_ = 0, members_ = 0;
};

// The names that users give to queues; root and default exist besides.
std::vector<std::string> possible_queues();

}  // namespace berth::simulation
