// The differences from the recorded behaviour that are known, with their reasons: of Berth in
// tests/conformance/differences.yaml, of real API servers in real_differences.yaml.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "conformance/match.h"

namespace berth::conformance {

struct KnownDifference {
  std::string recording, step;
  std::vector<std::string> paths;  // where; a path may end in *
  std::string reason;              // one sentence for people
};
std::vector<KnownDifference> load_known_differences();
// Those of a real API server with these traits (see RealServer); none: of all.
std::vector<KnownDifference> load_real_differences(const std::set<std::string>& traits);

// The step before the first one: that what is to be played can be started.
inline constexpr const char* kStart = "start";
// The steps of a recording ("crud", "kueue/tas") by their titles, the start among them.
std::vector<std::string> steps_of(const std::string& recording);

// What is wrong, in lines: differences that are not listed, and listed ones that do not show. Empty: all as
// known.
std::string judge(const std::string& recording, const std::string& step, const std::vector<Difference>& found,
                  const std::vector<KnownDifference>& known);

// The list as a section of docs/compatibility.md, grouped by reason.
std::string compatibility_section(const std::vector<KnownDifference>& known);

}  // namespace berth::conformance
