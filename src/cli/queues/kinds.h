// The kinds that the commands on queues create, list, stop and delete.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "api/rest.h"

namespace berth::cli::queues {

struct Kind {
  std::string_view name;                  // "ClusterQueue"
  std::string_view singular, plural;      // "clusterqueue", "clusterqueues"
  std::vector<std::string_view> aliases;  // "cq"
  bool namespaced = false;

  api::GroupVersionResource resource() const {
    return {std::string(api::kueue::kGroup), std::string(api::kueue::kVersion), std::string(plural)};
  }
  std::string api_version() const { return std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion); }
};

inline const Kind kClusterQueue{"ClusterQueue", "clusterqueue", "clusterqueues", {"cq", "clusterqueues"}, false};
inline const Kind kLocalQueue{"LocalQueue", "localqueue", "localqueues", {"lq", "localqueues", "queue"}, true};
inline const Kind kResourceFlavor{
    "ResourceFlavor", "resourceflavor", "resourceflavors", {"rf", "resourceflavors"}, false};
inline const Kind kWorkload{"Workload", "workload", "workloads", {"wl", "kwl", "workloads"}, true};

}  // namespace berth::cli::queues
