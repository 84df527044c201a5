// Volcano's queues on the engine's quota tree: every queue is a cluster queue, and one that has children, and root, is
// a cohort as well. Compiled one change at a time: what a change of a queue does to others is told as engine events,
// nothing else is.
//
// With G = guarantee, D = max(deserved, guarantee), C = capability, per resource:
//   leaf    nominal D            borrowing limit C - D   lending limit D - G
//   parent  nominal D - sum of its children's D          and the same limits
//   root    nominal C - sum of its children's D; what its capability does not name is unlimited
// so that a leaf may use at most C, keeps G whatever others do, and takes back up to D. What a queue does not name has
// nominal quota 0 and the limits of its ancestors. A capability of 0 is a limit of 0.
//
// The cluster queue of a parent is hidden: it has no quota and admits nothing, but what ran when the first child came
// stays in it and is counted. A queue admits nothing while it or a queue above it is not open, or while its parents do
// not lead to root; queues outside that subtree notice nothing of it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/volcano.h"
#include "engine/engine.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

// Cluster queue and cohort of a queue carry this prefix: Volcano's names do not meet Kueue's by chance. A Kueue
// ClusterQueue or Cohort comes into the tree by naming a cohort with the prefix (docs/adr/0013).
inline constexpr std::string_view kNodePrefix = "volcano.";
std::string node_name(std::string_view queue);
// The namespace of the local queues of Volcano's queues, each of its queue's name, and of what waits in them: none that
// can exist. Whoever may name a queue may do so from any namespace.
inline constexpr std::string_view kGroupNamespace = "volcano:podgroups";
// The queue of a cluster queue or cohort; "" when it is none of Volcano's.
std::string_view queue_of_node(std::string_view node_name);
// The priority of what runs above the minimum of a group: below all others. Whoever waits may take it, also to use more than it
// deserves, as Volcano lets a group in against what others use above their minimums.
inline constexpr std::int32_t kFirstToGo = std::numeric_limits<std::int32_t>::min();

using TreeOptions = api::config::VolcanoTree;

class QuotaTree {
 public:
  using Events = std::vector<engine::Event>;
  explicit QuotaTree(TreeOptions options = {});

  Events start();  // root and the flavor; before all others
  Events set(QueuePtr queue);
  Events remove(std::string_view name);

  const QueueForest& forest() const { return forest_; }
  // Why a queue admits nothing, in words for whoever waits in it; "" when it may admit.
  std::string obstacle(std::string_view queue) const;

  // status.allocated: what is counted in the queue and in all below it. `used_in`: of one cluster queue.
  using UsedIn = std::function<api::ResourceList(std::string_view cluster_queue)>;
  api::ResourceList allocated(std::string_view queue, const UsedIn& used_in) const;

 private:
  enum class Hold : std::uint8_t { kNone, kNotOpen, kBroken };
  struct Limits {
    Amount nominal;
    std::optional<Amount> borrowing, lending;  // none: no limit
    bool operator==(const Limits&) const = default;
  };
  using Quotas = std::map<std::string, Limits, std::less<>>;  // by resource
  // What the engine knows of a queue.
  struct Compiled {
    bool parent = false;
    std::string above;  // the cohort it is in; "": root
    Quotas quotas;
    bool held = false;
    bool fifo = false, reclaimable = true;
    std::int32_t priority = 0, weight = 1;
    bool operator==(const Compiled&) const = default;
  };

  Hold hold_of(const QueueNode& node) const;
  void look_at_holds(const QueueNode& node, std::set<const QueueNode*>& changed);
  Compiled compile(const QueueNode& node) const;
  Quotas quotas_of(const QueueNode& node) const;
  void bring_up_to_date(const QueueNode& node, Events& out);
  void tell_gone(const std::string& name, Events& out);
  std::vector<api::kueue::ResourceGroup> groups_of(const Quotas& quotas) const;
  engine::Event cluster_queue_of(const QueueNode& node, const Compiled& compiled) const;
  engine::Event cohort_of(const QueueNode& node, const Compiled& compiled) const;

  TreeOptions options_;
  QueueForest forest_;
  std::map<std::string, Compiled, std::less<>> told_;  // by queue
  std::map<std::string, Hold, std::less<>> holds_;     // by queue; of those that exist
};

}  // namespace berth::volcano
