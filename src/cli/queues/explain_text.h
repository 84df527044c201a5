// An explanation of the visibility API as text for people.
#pragma once

#include <string>

#include "base/json.h"

namespace berth::cli::queues {

// `explanation`: a WorkloadExplanation document. `colour`: for a terminal.
std::string explanation_text(const Json& explanation, bool colour);

}  // namespace berth::cli::queues
