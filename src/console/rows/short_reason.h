// Why a workload waits, in a few words.
#pragma once

#include <string>
#include <string_view>

namespace berth::console {

// For a workload that waits, with the reason and message of its condition. Numbers and names of workloads are left out,
// so that workloads which lack the same thing have the same words, such as "quota: cpu in default". Never empty.
std::string short_reason(std::string_view reason, std::string_view message);

}  // namespace berth::console
