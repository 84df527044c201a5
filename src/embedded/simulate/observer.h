// Watches a cluster and records what users care about: how long each workload waited and why, borrowing, and
// evictions with their reasons.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/amount.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/simulate/history.h"
#include "embedded/simulate/placement_words.h"

namespace berth::simulate {

// One event, described in words.
struct Moment {
  Time when{};
  std::string who;   // "language/large-model"
  std::string what;  // "is admitted to language: 16 nvidia.com/gpu of a100, 8 of them borrowed"
};

struct Eviction {
  Time when{};
  std::string reason, message;
};

// The history of one workload. Times are absent until the event happens.
struct Life {
  std::string ns, name;  // of the job, or of the workload when no job owns it
  std::string queue, cluster_queue;
  std::int32_t priority = 0;
  Time submitted{};
  std::optional<Time> admitted;  // of the first admission
  std::optional<Time> last_admitted;
  std::optional<Time> finished;
  bool succeeded = false;
  bool replaced = false;    // an elastic job went on with another workload
  std::string waiting_for;  // message of the condition QuotaReserved=False while the workload waits
  std::vector<Eviction> evictions;
  Duration waited{};                  // all waits that have ended: until an admission, after evictions too, or its end
  std::optional<Time> waits_since{};  // the present wait
  Duration waited_until(Time end) const { return waited + (waits_since ? end - *waits_since : Duration()); }
};

struct Utilisation {
  std::string flavor, resource;
  Amount nominal;  // sum over all ClusterQueues and Cohorts
  Amount peak;
  double used_seconds = 0;  // integral over time, in units times seconds
};

// Replaces the UID of a workload in a message by its name ("namespace/job").
std::string with_names(std::string message, const std::map<std::string, std::string>& by_uid);

class Observer {
 public:
  Observer(api::RestClient& client, Executor& executor);
  ~Observer();
  // Called for each moment when it happens.
  void on_moment(std::function<void(const Moment&)> handler);
  // Called for each change of a workload ("namespace/name"); null when it is deleted. A caller that needs workloads
  // can use this instead of its own watch.
  using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;
  void on_workload(std::function<void(const std::string& key, const WorkloadPtr& now)> handler);
  // Makes moments name the places of a workload and their changes. `rack_of` returns the rack of a hostname.
  void report_places(RackOf rack_of);
  void keep_history();  // history() records from now on
  // Before start(): what is in other namespaces, and the quotas of other objects ("ClusterQueue/name", "Cohort/name"),
  // do not exist for this observer.
  void ignore_others(std::set<std::string> namespaces, std::set<std::string> quotas);
  void start();

  const History& history() const;
  std::vector<Life> lives() const;               // ordered by submission, then name
  std::vector<Utilisation> utilisation() const;  // up to now, ordered by flavor and resource
  bool all_finished() const;                     // true when at least one workload was seen and all have finished
  // Number of workloads seen so far, and how many of them were admitted at least once, have finished (or were deleted)
  // and have succeeded.
  struct Counts {
    std::size_t seen = 0, admitted = 0, finished = 0, succeeded = 0;
  };
  Counts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::simulate
