// The message of a workload that was not evaluated because an equivalent one was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::engine {

// Kueue's whole message, and the start of Berth's.
inline constexpr std::string_view kBypassed =
    "Bypassed scheduling evaluation because an equivalent workload recently failed";

// So many bytes of the other's verdict are repeated at most: there may be as many such messages as workloads.
inline constexpr std::size_t kMostBypassedText = 1024;

// Example: "Bypassed scheduling evaluation because an equivalent workload recently failed: team/first: couldn't assign
// ...". `to`, `evaluated`: "namespace/name" of who reads it and of who was evaluated; a workload of another namespace
// is named by its UID only. `verdict`: the message of the evaluated one.
std::string bypassed_text(std::string_view to, std::string_view evaluated, std::string_view uid,
                          std::string_view verdict);

// What the evaluated workload lacked, of a message of bypassed_text(); other messages as they are.
std::string_view verdict_in(std::string_view message);

// Whether the message says what the evaluated workload lacked. Kueue's text alone does not.
bool reports_verdict(std::string_view message);

}  // namespace berth::engine
