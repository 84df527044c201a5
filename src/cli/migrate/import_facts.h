// What berth import reads of a cluster before it judges pods.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/config/configuration.h"
#include "api/kueue/types.h"
#include "base/result.h"
#include "cli/migrate/mapping.h"
#include "cli/queues/discovery.h"
#include "cli/queues/session.h"

namespace berth::cli::migrate {

// What the flags say.
struct ImportTerms {
  std::vector<std::string> namespaces;  // at least one
  Mapping mapping;
  api::StringMap add_labels;  // on imported pods and their workloads
  // Its resources (what counts), its integrations.labelKeysToCopy and its annotations to copy.
  api::config::Configuration configuration;
};

struct SeenQueue {
  api::kueue::ClusterQueue queue;
  Json reserved;  // status.flavorsReservation
};

struct ImportFacts {
  std::map<std::string, SeenQueue> cluster_queues;
  std::map<std::string, api::kueue::LocalQueue> local_queues;  // "namespace/name"
  std::map<std::string, api::kueue::ResourceFlavor> flavors;
  std::map<std::string, std::int32_t> priority_classes, workload_priority_classes;
  std::optional<std::pair<std::string, std::int32_t>> default_priority_class;
  std::map<std::string, Json> namespaces;       // by name
  std::map<std::string, api::StringMap> nodes;  // labels by name
  std::map<std::string, Json> workloads;        // "namespace/name", of the namespaces
  std::vector<Json> pods;                       // of the namespaces, ordered by namespace and name
};

// Error: a namespace does not exist, or something cannot be read.
Result<ImportFacts> read_import_facts(const queues::Session& session, queues::Server& server, const ImportTerms& terms);

// Whether an owner of a pod is queued itself: its workload counts the pod already.
class QueuedOwners {
 public:
  explicit QueuedOwners(queues::Server& server) : server_(server), discovery_(server) {}

  // "Job team-a/train"; "" when none is. Each owner is asked for once. Error: an owner cannot be read.
  Result<std::string> queued_owner(const Json& pod);

 private:
  Result<std::string> look(const Json& object, const std::string& ns, int depth);

  queues::Server& server_;
  queues::Discovery discovery_;
  std::map<std::string, Result<std::string>> known_;  // by uid
};

}  // namespace berth::cli::migrate
