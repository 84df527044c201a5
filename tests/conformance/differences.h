// The known differences from the recorded behaviour, with their reasons: of Berth in
// tests/conformance/differences.yaml, of real API servers in real_differences.yaml.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "conformance/match.h"

namespace berth::conformance {

struct KnownDifference {
  std::string recording, step;
  std::vector<std::string> paths;  // paths in the answer; a path may end in *
  std::string reason;              // one sentence for readers
  bool embedded = false;           // a difference of the embedded API server
  // On a real API server two writes may be seen together or one after the other.
  bool maybe = false;             // the difference occurs in some runs only
  bool events_may_agree = false;  // the same, for its events
};
std::vector<KnownDifference> load_known_differences();
// The differences of a real API server with these traits (see RealServer); with no traits, all of them.
std::vector<KnownDifference> load_real_differences(const std::set<std::string>& traits);

// The name of the step before the first one: the server for the recording starts.
inline constexpr const char* kStart = "start";
// The titles of the steps of a recording ("crud", "kueue/tas"), including kStart.
std::vector<std::string> steps_of(const std::string& recording);

// Lines that describe what is wrong: differences that are not listed, and listed differences that do not occur. A path
// that one entry lists as `maybe` need not occur, whatever other entries list it. Empty: exactly the known differences
// occur.
std::string judge(const std::string& recording, const std::string& step, const std::vector<Difference>& found,
                  const std::vector<KnownDifference>& known);

// The list as a section of docs/compatibility.md, grouped by reason.
std::string compatibility_section(const std::vector<KnownDifference>& known);

}  // namespace berth::conformance
