// MultiKueue's dispatch of one workload: from what is seen of the manager's workload and of its copies on the worker
// clusters follow the next steps. A pure function: it keeps nothing, so a restart at any write changes nothing.
// docs/multikueue.md has the table of states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/time.h"

namespace berth::multikueue {

enum class Dispatcher : std::uint8_t {
  kAllAtOnce,
  kIncremental,
  kExternal  // another client writes nominatedClusterNames
};

struct Settings {
  Dispatcher dispatcher = Dispatcher::kAllAtOnce;
  std::int32_t step_size = 3;                        // clusters per round of the incremental dispatcher, at least 1
  Duration round = std::chrono::minutes(5);          // of the incremental dispatcher, positive
  Duration lost_timeout = std::chrono::minutes(15);  // workerLostTimeout, not negative
};

enum class CopyState : std::uint8_t {
  kNone,         // there is none
  kForeign,      // the workload of that name there has another origin or none: it is never touched
  kDiffers,      // its spec differs from the original's, or it belongs to an earlier workload of this name
  kPending,      // waits for quota there
  kReserved,     // has quota there, checks are not ready
  kAdmitted,     // may run there
  kEvicted,      // stops or has stopped there, and may be admitted there again
  kDeactivated,  // stops or has stopped there, and stays so
  kGivenUp,      // finished there without an end of the job: OutOfSync, OwnerNotFound
  kFinished,     // its job ended there
};

struct Cluster {
  std::string name{};
  bool configured = true;  // named by the check's MultiKueueConfig
  bool connected = false;
  Time lost_since{};                  // meaningful when not connected, and with no_kind
  CopyState copy = CopyState::kNone;  // as last seen; meaningful when connected
  Time admitted_since{};              // by the worker's clock; meaningful for kAdmitted and kFinished
  bool job = false;                   // a job of this origin is there; meaningful when connected
  bool foreign_job = false;           // a job of that name with another origin or none: it is never touched
  bool job_active = false;            // the job of this origin has pods that have not ended
  // The job of this origin is Complete or Failed, or its status can not be used. Jobs and copies are seen apart: the
  // end of a copy may be seen first.
  bool job_ended = true;
  bool job_outdated = false;  // what is brought to the job there has changed on the manager
  // The cluster does not serve the kind of the job, or does not let the manager list it: no job can be there.
  bool no_kind = false;
  bool closed = false;  // the manager lacks rights there: the cluster gets no new jobs, and keeps those that it has
};

struct Local {
  bool deleted = false;  // gone, or being deleted
  bool finished = false;
  bool quota_reserved = false;
  bool evicted = false;
  bool job_active = false;  // the job's status tells of pods that have not ended
  bool other_checks_ready = false;
  // Since when the workload may be dispatched: the last of quota reservation, the other checks' readiness and this
  // check's return to Pending.
  Time dispatch_since{};
  api::kueue::CheckState check = api::kueue::CheckState::kPending;
  std::string cluster_name{};            // status.clusterName; empty: none
  std::vector<std::string> nominated{};  // status.nominatedClusterNames
  std::string refusal{};  // why the job can not be dispatched: no adapter, not managed by MultiKueue. Empty: it can
};

struct Step {
  enum class Kind : std::uint8_t {
    kNominate,    // write nominatedClusterNames = names
    kChoose,      // in one write: clusterName = cluster, no nominations, the check Ready with the message
    kSetCheck,    // write the check's state and message
    kCreateCopy,  // create the workload's copy on the cluster
    kDeleteCopy,  // delete the job, then the copy, on the cluster; with the origin's label and the versions that were
                  // seen
    kDeactivate,  // make the copy on the cluster stop its job, since the manager evicts the workload
    kCreateJob,   // create the job on the cluster, suspended, bound to the copy there
    kSyncStatus,  // copy the job's status from the cluster to the manager
    kUpdateJob,   // write to the job on the cluster what has changed on the manager
    kFinish,      // finish the workload with the reason and message of the copy on the cluster
    kRelease,     // nothing reachable runs the job: the local job counts as inactive, so that its quota is released
    kRequeue,     // look again at the time `at` at the latest
  };
  Kind kind{};
  std::string cluster{};
  std::string message{};
  std::vector<std::string> names{};
  api::kueue::CheckState check = api::kueue::CheckState::kPending;  // of kSetCheck
  Time at{};                                                        // of kRequeue
  bool operator==(const Step&) const = default;
};

// The steps in the order in which they are carried out; the first that fails ends the pass. `clusters` are in the
// order of the configuration, names are unique; one that was removed from it stays in the list (not configured) while
// it is connected. Each step may be repeated.
std::vector<Step> next_steps(const Settings& settings, const Local& local, const std::vector<Cluster>& clusters,
                             Time now);

}  // namespace berth::multikueue
