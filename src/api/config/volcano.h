// The part `volcano` of the configuration, which Kueue's file does not have: Volcano's queues, PodGroups and jobs.
// Defaults are those of a file without the part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace berth::api::config {

// volcano.admission: which changes of queues, and which new jobs and PodGroups, admission allows.
struct VolcanoAdmission {
  // Volcano's flags, with its defaults.
  std::int32_t max_depth = 5;            // maxQueueDepth: a queue directly below root is at level 1
  bool protect_root = true;              // rootQueueProtection: the amounts of queue root cannot be changed
  bool delete_only_unallocated = false;  // queueAllocatedPodsCheck: a queue with allocated pods cannot be deleted
  // Only in Berth. Off: as in Volcano.
  // cycleCheck: a queue cannot be moved below itself; off: only a queue as its own parent is refused.
  bool refuse_circles = true;
  // subtreeDepthCheck: the depth limit also holds for the descendants of a moved queue; off: only for the queue
  // itself.
  bool measure_moved_subtree = true;
  // reservationsCheck: reserved quota counts as allocated before the pods run; off: only status.allocated counts.
  bool count_reservations = true;
  // podGroupLeafCheck: a PodGroup cannot name root or a queue that has children.
  bool pod_groups_in_leaves_only = true;
  bool operator==(const VolcanoAdmission&) const = default;
};

// Quota of Volcano's queues.
struct VolcanoTree {
  // flavor: the name of the flavor of all amounts. A ResourceFlavor of this name may exist; else the flavor means all
  // nodes.
  std::string flavor = "volcano";
  // ancestorReclaimLevel: how many ancestors of a victim's queue must also exceed their deserved amount. None: all
  // below the common ancestor. Volcano's default is 0.
  std::optional<std::int32_t> reclaim_levels;
  bool operator==(const VolcanoTree&) const = default;
};

struct Volcano {
  bool enabled = true;  // false: Berth does not read, validate or write Volcano's kinds
  VolcanoTree tree;
  VolcanoAdmission admission;
  bool operator==(const Volcano&) const = default;
};

}  // namespace berth::api::config
