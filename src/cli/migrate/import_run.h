// The writes of berth import.
#pragma once

#include <string>
#include <vector>

#include "cli/migrate/import_check.h"
#include "cli/queues/session.h"
#include "kube/rate_limit.h"

namespace berth::cli::migrate {

// Whether the server would take the first writes of each namespace: nothing is stored. Error: why it refuses them, and
// what to do.
Result<void> try_writes(queues::Server& server, const ImportTerms& terms, const std::vector<PodFinding>& findings);

struct Imported {
  std::size_t pods = 0;  // imported now
  std::size_t gone = 0;  // the pod was deleted meanwhile
  std::string error;     // why the import stopped; "": it did not
};
// Imports the pods that are ready, one after the other, at most at this rate of writes. Before a pod gets its labels,
// its workload is admitted: whatever happens in between, nothing stops the pod.
Imported import_pods(const queues::Session& session, queues::Server& server, const ImportTerms& terms,
                     const std::vector<PodFinding>& findings, const kube::RateLimitOptions& rate);

}  // namespace berth::cli::migrate
