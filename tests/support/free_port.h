// Ports of 127.0.0.1 for servers that a test starts.
#pragma once

#include <cstdint>

namespace berth::testing_support {

// A free port that no other test of this machine gets until this process ends. It lies below the range from which the
// kernel chooses ports of clients. Throws std::runtime_error when all are taken.
std::uint16_t free_port();

}  // namespace berth::testing_support
