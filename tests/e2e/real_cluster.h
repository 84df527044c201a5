// A real API server with Berth installed: its definitions, `berth controller` and `berth cluster`.
#pragma once

#include <memory>
#include <string>

#include "e2e/server.h"

namespace berth::e2e {

// See make_cluster().
std::unique_ptr<Cluster> make_real_cluster(const std::string& nodes);

}  // namespace berth::e2e
