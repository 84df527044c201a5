// Plays the recorded command lines of `kubectl kueue` as `berth`, in this process and on the site's API server.
#pragma once

#include "base/json.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

// What a command said, to compare by meaning: {"exit": 0, "stdout": ..., "stderr": [line, ...]}. A table is a list of
// rows with their cells by column, a YAML document is its value, other texts are their lines.
Json recorded_command(const Json& step);
Json run_command(Stage& stage, const Json& step);

bool only_reads(const Json& step);

}  // namespace berth::conformance
