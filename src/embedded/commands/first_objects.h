// The objects that berth up applies before it does anything else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/result.h"
#include "cli/object_files.h"

namespace berth::cli {

// The definitions of Kueue's and Volcano's kinds, and of the kinds of jobs. Another project owns the latter: a
// definition that somebody put in the place of ours stays. Without `volcano` Volcano's are left out: "queues" are
// Kueue's then.
Result<std::vector<ObjectToApply>> definitions_at_start(std::span<const embedded::File> external_kinds, bool volcano);

// The ConfigMap in which extension servers that delegate authentication find the CA of client certificates, as in
// other clusters. `authority`: PEM.
ObjectToApply client_authority_map(const std::string& authority);

}  // namespace berth::cli
