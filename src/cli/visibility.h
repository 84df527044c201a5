// Who waits, as an engine tells it, for what serves the visibility API.
#pragma once

#include <functional>

#include "apiserver/discovery/virtual_group.h"
#include "engine/engine.h"
#include "serve/visibility.h"

namespace berth::cli {

// `engine` is asked on the executor that owns it.
serve::PendingSource pending_source(std::function<const engine::Engine&()> engine);

// The group for the embedded API server.
apiserver::discovery::VirtualGroup visibility_group(serve::PendingSource source);

}  // namespace berth::cli
