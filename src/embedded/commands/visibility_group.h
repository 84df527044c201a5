// The visibility API as a group of the embedded API server.
#pragma once

#include "embedded/apiserver/discovery/virtual_group.h"
#include "serve/visibility.h"

namespace berth::cli {

apiserver::discovery::VirtualGroup visibility_group(serve::PendingSource source);

}  // namespace berth::cli
