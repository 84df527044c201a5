// Pending workloads of a controller, for the servers of the visibility API.
#pragma once

#include <functional>

#include "base/time.h"
#include "controller/controller.h"
#include "serve/visibility.h"

namespace berth::cli {

// Calls its arguments on the executor that owns the controller.
serve::PendingSource pending_source(std::function<const controller::Controller&()> controller,
                                    std::function<Time()> now);

}  // namespace berth::cli
