// Watches a cluster and remembers what matters to people: who waited for what, who borrowed, who was evicted
// and why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/amount.h"
#include "base/executor.h"
#include "base/json.h"
#include "simulate/placement_words.h"

namespace berth::simulate {

// One thing that happened, in words.
struct Moment {
  Time when{};
  std::string who;   // "language/large-model"
  std::string what;  // "is admitted to language: 16 nvidia.com/gpu of a100, 8 of them borrowed"
};

struct Eviction {
  Time when{};
  std::string reason, message;
};

// The life of one workload. Times are absent while they did not come.
struct Life {
  std::string ns, name;  // of the job, or of the workload when it has no job
  std::string queue, cluster_queue;
  std::int32_t priority = 0;
  Time submitted{};
  std::optional<Time> admitted;  // first admission
  std::optional<Time> last_admitted;
  std::optional<Time> finished;
  bool succeeded = false;
  std::string waiting_for;  // message of QuotaReserved=False, while it waits
  std::vector<Eviction> evictions;
};

struct Utilisation {
  std::string flavor, resource;
  Amount nominal;  // of all ClusterQueues and Cohorts together
  Amount peak;
  double used_seconds = 0;  // integral over time: units times seconds
};

// Messages name workloads by uid; people know them by these names.
std::string with_names(std::string message, const std::map<std::string, std::string>& by_uid);

class Observer {
 public:
  Observer(api::RestClient& client, Executor& executor);
  ~Observer();
  // Called for every moment as it happens.
  void on_moment(std::function<void(const Moment&)> handler);
  // Called for every change of a workload ("namespace/name"), null when it is gone: who looks at them too need not watch.
  using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;
  void on_workload(std::function<void(const std::string& key, const WorkloadPtr& now)> handler);
  // Moments say where workloads are placed, and when places change; `rack_of` names the rack of a host.
  void tell_places(RackOf rack_of);
  void start();

  std::vector<Life> lives() const;               // in order of submission, then name
  std::vector<Utilisation> utilisation() const;  // up to now, in order of flavor and resource
  bool all_finished() const;                     // at least one workload was seen, and all are done
  // How many workloads were seen so far, and how many of them were admitted at least once and are done.
  struct Counts {
    std::size_t seen = 0, admitted = 0, finished = 0;
  };
  Counts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::simulate
