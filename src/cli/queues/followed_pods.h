// From an admitted workload to its pods: what keeps them from running.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/queues/flags.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

// Adds to the explanation or prediction of a workload that is admitted: "podWaits" (see pod_waits.h), "noPods" (it has
// none, and what its owner says about that) or "podsUnknown" (why its pods cannot be read). Nothing when all its pods
// run. `document`: with metadata.namespace and metadata.name.
void follow_pods(const Session& session, Opened& opened, Json& document);

// The pods of an admitted workload that have not ended, and what keeps some of them from running. nullopt: they cannot
// be read.
struct LivePods {
  JsonArray pods;
  std::vector<std::string> waits;  // one line each
};
std::optional<LivePods> live_pods(const Session& session, Opened& opened, const Json& workload);

// What follow_pods() added, as lines; "": nothing.
std::string followed_pods_text(const Json& document);

}  // namespace berth::cli::queues
