// What people do to a cluster with Volcano's objects: they submit vcjobs and PodGroups, plant and fell
// queues, change what these are entitled to, close and open them. Chosen by a seeded random number.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/hands.h"

namespace berth::simulation {

// A ClusterQueue of Kueue's beside the topmost queues, which shares with them what they are not guaranteed.
inline constexpr std::string_view kSharedQueue = "shared";

// A namespace whose PodGroups wait in another queue than default.
inline constexpr std::string_view kNamespaceWithQueue = "b", kQueueOfNamespace = "q0";

class VolcanoPeople {
 public:
  // `lawful`: somebody keeps watch at the doors. Otherwise amounts, parents and queues are written as they
  // come.
  VolcanoPeople(api::RestClient& client, std::uint64_t seed, bool lawful);

  // Namespaces, classes and queues: the objects to start with.
  std::vector<Json> estate();
  // One random deed, and what owners of bare PodGroups do: those that were let in get their pods.
  void act();
  // Undoes what blocks: queues open; without law every queue directly below root and without limits. Called
  // until nothing is left to undo.
  void calm_down();
  // Owners of bare PodGroups make pods for those that were let in.
  void tend();

  std::uint64_t jobs() const { return jobs_; }

 private:
  Json amounts(
      std::uint64_t most);  // spec members: guarantee <= deserved <= capability <= most, where there is law
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
  std::vector<std::string> leaves_;  // that were open when somebody looked
  std::set<std::string> tended_;     // uids of PodGroups that have their pods
  std::uint64_t jobs_ = 0, orders_ = 0, members_ = 0;
};

// Names that queues may have besides root and default.
std::vector<std::string> possible_queues();

}  // namespace berth::simulation
