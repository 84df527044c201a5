// Reads the part `volcano`.
#include "api/config/volcano.h"

#include "api/config/parts.h"
#include "api/field_error.h"

namespace berth::api::config {
namespace {

void read_admission(Fields fields, VolcanoAdmission& out) {
  fields.number("maxQueueDepth", out.max_depth, 1);
  fields.flag("rootQueueProtection", out.protect_root);
  fields.flag("queueAllocatedPodsCheck", out.delete_only_unallocated);
  fields.flag("cycleCheck", out.refuse_circles);
  fields.flag("subtreeDepthCheck", out.measure_moved_subtree);
  fields.flag("reservationsCheck", out.count_reservations);
  fields.flag("podGroupLeafCheck", out.pod_groups_in_leaves_only);
  fields.done();
}

}  // namespace

void read_volcano(Fields& top, Configuration& out) {
  Fields fields = top.object("volcano");
  fields.flag("enabled", out.volcano.enabled);
  VolcanoTree& tree = out.volcano.tree;
  fields.text("flavor", tree.flavor);
  if (const std::string broken = check_dns_subdomain(tree.flavor); !broken.empty())
    fields.expected("flavor", Json(tree.flavor), "the name of a ResourceFlavor: " + broken);
  fields.number("ancestorReclaimLevel", tree.reclaim_levels, 0);
  read_admission(fields.object("admission"), out.volcano.admission);
  fields.done();
}

}  // namespace berth::api::config
