// Reads the part `ownerlessWorkloads`.
#include "api/config/parts.h"

namespace berth::api::config {

void read_ownerless_workloads(Fields& top, Configuration& out) {
  Fields fields = top.object("ownerlessWorkloads");
  fields.duration("evictionTimeout", out.ownerless_workloads.eviction_timeout);
  fields.done();
}

}  // namespace berth::api::config
