// The options of the pretend cluster that berth up and berth cluster share.
#pragma once

#include <string>

#include "base/result.h"
#include "embedded/cluster/cluster.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct ClusterFlags {
  std::string nodes = "1x2x4";  // a shape (see embedded/cluster/nodes.h), a file of Node manifests, or "none"
  bool nodes_given = false;     // on the command line
  std::string node_resources = {};
  std::string devices = {};                // of each node (see embedded/cluster/devices/driver.h)
  std::string scale_up = "2x4";            // RACKSxNODES that the autoscaler may add, or "none"
  std::string provisioning_delay = "30s";  // until those nodes exist
};
void add_cluster_flags(CLI::App& app, ClusterFlags& flags);

// What is wrong with the values, without reading a file. An error names the option.
Result<void> check_cluster_flags(const ClusterFlags& flags);

// An error names the option, or the file of nodes.
Result<cluster::ClusterOptions> cluster_options(const ClusterFlags& flags);

// Describes the annotations of pods and nodes, for the end of a help text.
extern const char* const kClusterHelp;

}  // namespace berth::cli
