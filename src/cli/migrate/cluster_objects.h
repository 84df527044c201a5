// What berth migrate check reads of a cluster.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/queues/configuration_check.h"
#include "cli/queues/session.h"

namespace berth::cli::migrate {

struct ClusterObjects {
  std::vector<Json> definitions;                     // CustomResourceDefinitions of Kueue's groups
  std::map<std::string, std::vector<Json>> objects;  // of Kueue's kinds that Berth serves, by kind
  std::map<std::string, std::vector<Json>> foreign;  // of those that it does not serve, by kind
  std::vector<Json> jobs;
  std::vector<Json> webhooks;  // Kueue's webhook configurations
  std::optional<queues::ConfigurationSource> configuration;
  std::string config_map;          // where it was looked for
  std::optional<Json> deployment;  // Kueue's controller
  bool populator = false;          // kueue-populator runs

  const std::vector<Json>& of(const std::string& kind) const;
};

// Error: something cannot be read. What the cluster does not serve counts as empty.
Result<ClusterObjects> read_cluster(const queues::Session& session, queues::Server& server,
                                    const std::string& config_map);

}  // namespace berth::cli::migrate
