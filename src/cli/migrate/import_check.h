// Judges each pod of an import: which workload it would get, or why it gets none. Writes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "cli/migrate/import_facts.h"

namespace berth::cli::migrate {

enum class PodVerdict : std::uint8_t { kReady, kImported, kSkipped, kRefused };
// "ready", "imported", "skipped", "refused"
std::string_view word(PodVerdict verdict);

struct PodFinding {
  std::string ns, name;
  PodVerdict verdict = PodVerdict::kRefused;
  std::string reason;                      // of kSkipped and kRefused
  std::string local_queue, cluster_queue;  // as far as they are known
  api::kueue::Workload workload;           // of kReady and kImported: with its admission, without conditions
  bool exists = false, admitted = false;   // the workload: on the server
  bool labelled = false;                   // the pod has all labels
};

// Pods that do not run are not listed at all: those that ended or are being deleted. The order is that of the facts.
// Error: an owner of a pod cannot be read.
Result<std::vector<PodFinding>> check_pods(const ImportFacts& facts, const ImportTerms& terms, QueuedOwners& owners);

// A line for each flavor of a cluster queue that would hold more than its nominal quota with these pods.
std::vector<std::string> over_quota(const ImportFacts& facts, const std::vector<PodFinding>& findings);

// The labels of an imported pod.
api::StringMap labels_of_imported(const ImportTerms& terms, const std::string& local_queue);

// While a workload has this as its gate, no controller admits it.
inline constexpr std::string_view kImportGate = "berth.dev/import";

}  // namespace berth::cli::migrate
