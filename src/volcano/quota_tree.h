// Volcano's queues on the engine's quota tree: every queue is a cluster queue; root and every queue with children are
// cohorts as well. The tree is updated one change at a time, and only what a change affects becomes engine events.
//
// With G = guarantee, D = max(deserved, guarantee), C = capability, per resource:
//   leaf    nominal D            borrowing limit C - D   lending limit D - G
//   parent  nominal D - sum of its children's D          and the same limits
//   root    nominal C - sum of its children's D; what its capability does not name is unlimited
// So a leaf can use at most C, always keeps G, and can reclaim up to D. A resource that a queue does not name has
// nominal quota 0 and the limits of the ancestors. A capability of 0 is a limit of 0.
//
// The cluster queue of a parent has no quota and admits nothing. Workloads that ran when the first child was created
// stay in it and are counted. A queue admits nothing while it or a queue above it is not open, or while its parents
// do not lead to root; queues outside that subtree are not affected.
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

// The prefix of the cluster queue and cohort of a queue, so that Volcano's names do not collide with Kueue's. A Kueue
// ClusterQueue or Cohort joins this tree by naming a cohort with the prefix (docs/adr/0013).
inline constexpr std::string_view kNodePrefix = "volcano.";
std::string node_name(std::string_view queue);
// The namespace of the workloads of PodGroups and of their local queues, one per Volcano queue and with its name. No
// namespace in a cluster can have this name. A PodGroup may name a queue from any namespace.
inline constexpr std::string_view kGroupNamespace = "volcano:podgroups";
// The queue of a cluster queue or cohort; "" when it is not one of Volcano's.
std::string_view queue_of_node(std::string_view node_name);
// The priority of what runs above the minimum of a group: below all others. Any waiting workload may preempt it, even
// to use more than its queue deserves, because Volcano also admits a group against what others use above their
// minimums.
inline constexpr std::int32_t kFirstToGo = std::numeric_limits<std::int32_t>::min();

using TreeOptions = api::config::VolcanoTree;

class QuotaTree {
 public:
  using Events = std::vector<engine::Event>;
  explicit QuotaTree(TreeOptions options = {});

  Events start();  // root and the flavor; call before all others
  Events set(QueuePtr queue);
  Events remove(std::string_view name);

  const QueueForest& forest() const { return forest_; }
  // Why a queue admits nothing, as a message for workloads that wait in it; "" when it may admit.
  std::string obstacle(std::string_view queue) const;

  // status.allocated: the usage of the queue and of all queues below it. `used_in`: the usage of one cluster queue.
  using UsedIn = std::function<api::ResourceList(std::string_view cluster_queue)>;
  api::ResourceList allocated(std::string_view queue, const UsedIn& used_in) const;

 private:
  enum class Hold : std::uint8_t { kNone, kNotOpen, kBroken };
  struct Limits {
    Amount nominal;
    std::optional<Amount> borrowing, lending;  // nullopt: no limit
    bool operator==(const Limits&) const = default;
  };
  using Quotas = std::map<std::string, Limits, std::less<>>;  // by resource
  // What the engine knows of a queue.
  struct Compiled {
    bool parent = false;
    std::string above;  // the parent cohort; "": root
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
  void report_gone(const std::string& name, Events& out);
  std::vector<api::kueue::ResourceGroup> groups_of(const Quotas& quotas) const;
  engine::Event cluster_queue_of(const QueueNode& node, const Compiled& compiled) const;
  engine::Event cohort_of(const QueueNode& node, const Compiled& compiled) const;

  TreeOptions options_;
  QueueForest forest_;
  std::map<std::string, Compiled, std::less<>> reported_;  // by queue: what the engine was told
  std::map<std::string, Hold, std::less<>> holds_;         // by queue; only queues that exist
};

}  // namespace berth::volcano
