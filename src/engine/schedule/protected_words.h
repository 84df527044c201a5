// The end of the message of a workload that would preempt others if they had not preempted each other before
// (Precedence). It names whom the workload spares, so it also tells a scheduler after a restart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::engine {

// How many workloads the message names at most: their UIDs are some 2,500 bytes then.
inline constexpr std::size_t kMostProtectedNamed = 64;

// `victims`: how many it would preempt. `uids`: those that it spares, sorted.
std::string protected_text(std::size_t victims, const std::vector<std::string>& uids);
// The UIDs that a message with this end names; empty for any other message.
std::vector<std::string> protected_uids(std::string_view message);

}  // namespace berth::engine
