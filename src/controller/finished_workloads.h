// Counts the finished workloads that exist, by the queues in which they were: the engine forgets them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/kueue/types.h"
#include "base/string_map.h"

namespace berth::controller {

class FinishedWorkloads {
 public:
  // The workload `key` ("namespace/name") is like this now; null: it is gone.
  void seen(const std::string& key, const api::kueue::Workload* now);

  std::size_t in_cluster_queue(std::string_view name) const { return count(by_cluster_queue_, name); }
  std::size_t in_local_queue(std::string_view key) const { return count(by_local_queue_, key); }

 private:
  using Counts = std::map<std::string, std::size_t, std::less<>>;
  static std::size_t count(const Counts& counts, std::string_view name);
  static void subtract(Counts& counts, Counts::iterator queue);

  // Cluster queue ("": it never had quota) and local queue of each finished workload.
  StringMap<std::pair<Counts::iterator, Counts::iterator>> finished_;
  Counts by_cluster_queue_, by_local_queue_;
};

}  // namespace berth::controller
