// Plays recordings of Kueue on a whole cluster: repeats the recorded requests, and compares workloads, jobs, queues
// and events after them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/player.h"
#include "conformance/site.h"

namespace berth::conformance {

// Whether a step has its expected result. A look is repeated until it has, or until the time has passed, because the
// site may be slower than the recorder's.
using Satisfied = std::function<bool(const StepResult&)>;

Json load_kueue_recording(const std::string& name);

// Plays one recording of tests/conformance/recordings/kueue on a new site. Returns a result for each look, and for
// each action whose answers are known. A failed action differs at the path "action".
std::vector<StepResult> play_kueue(Site& site, const std::string& name, const Satisfied& satisfied);

}  // namespace berth::conformance
