// Reads the part `topology`.
#include "api/config/parts.h"

namespace berth::api::config {

void read_topology(Fields& top, Configuration& out) {
  Fields fields = top.object("topology");
  fields.duration("placesTimeout", out.topology.places_timeout);
  fields.done();
}

}  // namespace berth::api::config
