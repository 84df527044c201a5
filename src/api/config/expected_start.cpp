// Reads the part `expectedStart`.
#include "api/config/parts.h"

namespace berth::api::config {

void read_expected_start(Fields& top, Configuration& out) {
  Fields fields = top.object("expectedStart");
  fields.flag("events", out.expected_start_events);
  fields.done();
}

}  // namespace berth::api::config
