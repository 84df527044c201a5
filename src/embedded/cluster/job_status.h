// The status of a Job while the next status is computed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/job_indexes.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

class JobStatus {
 public:
  JobStatus(const Json& job, const JobSpec& spec);
  Json encode() const;

  bool has(std::string_view condition) const;  // with status True
  // The reason and message of a condition with status True; nullptr when there is none.
  const Json* get(std::string_view condition) const;
  // Sets the condition. Returns true when its status changed. A condition that does not exist is not added with
  // status False.
  bool set(std::string_view condition, bool status, std::string_view reason, std::string_view message, Time now);
  // Whether the status accounts for the terminated pod, in its list of uncounted pods or its completed indexes.
  bool records(const JobPod& pod) const;
  bool finished() const { return has("Complete") || has("Failed"); }

  std::optional<Time> start_time, completion_time;
  std::int64_t active = 0, ready = 0, terminating = 0, succeeded = 0, failed = 0;
  IndexSet completed_indexes, failed_indexes;
  bool tracks_failed_indexes = false;
  // UIDs of terminated pods that are recorded in the status but not yet added to the counts
  // (status.uncountedTerminatedPods).
  std::set<std::string, std::less<>> uncounted_succeeded, uncounted_failed;

 private:
  Json base_;  // the old status, with the members that this class does not know
  JsonArray conditions_;
  bool indexed_ = false;
};

}  // namespace berth::cluster
