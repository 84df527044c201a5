// Plays recordings of Kueue on a whole cluster: what was created and patched is created and patched, and after it
// workloads, jobs, queues and events are looked at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/player.h"
#include "conformance/site.h"

namespace berth::conformance {

// Whether a step went as it should: on a site that is slower than the recorder's it is looked at again until it does, or time is up.
using Satisfied = std::function<bool(const StepResult&)>;

Json load_kueue_recording(const std::string& name);

// One recording of tests/conformance/recordings/kueue on a site on which nothing happened yet: the looks, and the actions of which
// it is known what came back. An action that cannot be done differs at the path "action".
std::vector<StepResult> play_kueue(Site& site, const std::string& name, const Satisfied& satisfied);

}  // namespace berth::conformance
