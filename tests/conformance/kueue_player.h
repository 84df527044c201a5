// Plays recordings of Kueue on a whole cluster: what was created and patched is created and patched, and after it
// workloads, jobs, queues and events are looked at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/player.h"
#include "conformance/site.h"

namespace berth::conformance {

// Whether a look showed what it should: on real time it is looked at again until it does, or time is up.
using Satisfied = std::function<bool(const StepResult&)>;

// One recording of tests/conformance/recordings/kueue on a site on which nothing happened yet.
std::vector<StepResult> play_kueue(Site& site, const std::string& name, const Satisfied& satisfied);

}  // namespace berth::conformance
