// A pod of a workload, as the page shows it.
#pragma once

#include "base/json.h"

namespace berth::console {

// "name", "phase", "ready"; "node" and "domains" (what it selects); "message": why it does not run, where its status
// says so.
JsonObject pod_row(const Json& pod);

}  // namespace berth::console
