// Plays recordings of Kueue on a whole cluster in virtual time: what was created and patched is created and
// patched, and after it workloads, jobs, queues and events are looked at.
#pragma once

#include <string>
#include <vector>

#include "conformance/player.h"

namespace berth::conformance {

// One recording of tests/conformance/recordings/kueue on a cluster of its own.
std::vector<StepResult> play_kueue(const std::string& name);

}  // namespace berth::conformance
