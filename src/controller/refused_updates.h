// What the API server answered to updates of jobs that it refused: a schema, a rule or somebody's webhook forbids them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/rest.h"
#include "base/json.h"
#include "base/time.h"
#include "jobs/reconcile.h"

namespace berth::controller {

// Whether the same update would be refused again: the job or what forbids the update must change first.
bool refused_for_good(const api::RestResponse& response);

class RefusedUpdates {
 public:
  using Aim = jobs::PatchJob::Aim;
  // A stop that is refused for a shorter time gets no event: the API server refuses a change of the template of a
  // batch/v1 Job until the Job controller has suspended the Job.
  static constexpr Duration kLongestWait = std::chrono::seconds(5);
  // The event for the job; nullopt: nothing to tell yet. While the job does not change, the text is that of the first
  // refusal with this aim: a webhook may give another text each time.
  std::optional<jobs::JobEvent> add(const Json& job, Aim aim, const api::RestResponse& response, Time now);
  // Why the last update of this job that would have started it was refused; "": it was not.
  std::string start_refused(const Json& job) const;
  // The update succeeded, is not wanted any more, or the job is gone.
  void forget(const std::string& key) { refusals_.erase(key); }

 private:
  struct Refusal {
    std::string version;  // uid and resourceVersion of the job
    Aim aim = Aim::kStop;
    std::string why;
    Time since{};  // of this aim
    bool logged = false;
  };
  static bool is_of(const Refusal& refusal, const Json& job);
  std::map<std::string, Refusal> refusals_;  // by "namespace/name"; at most one for each job
};

}  // namespace berth::controller
