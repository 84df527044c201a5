// Pending workloads of an engine, for the servers of the visibility API.
#pragma once

#include <functional>

#include "embedded/apiserver/discovery/virtual_group.h"
#include "engine/engine.h"
#include "engine/explain/run_history.h"
#include "serve/visibility.h"

namespace berth::cli {

// Calls its arguments on the executor that owns the engine.
serve::PendingSource pending_source(std::function<const engine::Engine&()> engine,
                                    std::function<const engine::RunHistory&()> history, std::function<Time()> now);

// The visibility API as a group of the embedded API server.
apiserver::discovery::VirtualGroup visibility_group(serve::PendingSource source);

}  // namespace berth::cli
