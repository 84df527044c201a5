// The part of the configuration that Kueue's file does not have: what is done about Volcano's queues, PodGroups and
// jobs. Defaults are those of a file that leaves it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace berth::api::config {

// volcano.admission: which changes of queues, and which new jobs and PodGroups, are let in.
struct VolcanoAdmission {
  // Volcano's flags, with its defaults.
  std::int32_t max_depth = 5;            // maxQueueDepth: a queue directly below root is at level 1
  bool protect_root = true;              // rootQueueProtection: root's amounts cannot be changed
  bool delete_only_unallocated = false;  // queueAllocatedPodsCheck: a queue with something in it cannot be deleted
  // Berth's own. Off is Volcano's way.
  // cycleCheck: a queue cannot be moved below itself; off: it is only not its own parent.
  bool refuse_circles = true;
  // subtreeDepthCheck: the depth limit holds for all that moves along; off: for the queue itself.
  bool measure_moved_subtree = true;
  // reservationsCheck: who holds quota counts before its pods run; off: status.allocated alone.
  bool count_reservations = true;
  // podGroupLeafCheck: a PodGroup cannot name root or a queue that has children.
  bool pod_groups_in_leaves_only = true;
  bool operator==(const VolcanoAdmission&) const = default;
};

// How Volcano's queues are counted.
struct VolcanoTree {
  // flavor: in which all amounts are counted: a ResourceFlavor of this name may exist; else it stands for all nodes.
  std::string flavor = "volcano";
  // ancestorReclaimLevel: how many ancestors of a victim's queue must be above what they deserve, too. None: all below
  // the common ancestor. Volcano's default is 0.
  std::optional<std::int32_t> reclaim_levels;
  bool operator==(const VolcanoTree&) const = default;
};

struct Volcano {
  bool enabled = true;  // false: Volcano's kinds are somebody else's: nothing of theirs is read, judged or written
  VolcanoTree tree;
  VolcanoAdmission admission;
  bool operator==(const Volcano&) const = default;
};

}  // namespace berth::api::config
