// Pretends to run workloads without an owner. Finishes a workload when it has been admitted for its run time, and
// releases the quota of evicted ones. This is what the controller of a job does, but without a job.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/lifetime.h"

namespace berth::simulate {

class PretendRuns {
 public:
  using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;
  // The run time of a workload by its key "namespace/name"; none: not a workload of this object.
  using RunTime = std::function<std::optional<Duration>(const std::string& key)>;
  // Both must outlive this object.
  PretendRuns(api::RestClient& client, Executor& executor, RunTime run_time);
  ~PretendRuns();

  // Call it for each change of a workload; null: the workload was deleted.
  void workload_changed(const std::string& key, const WorkloadPtr& now);

 private:
  struct Run {
    WorkloadPtr latest;
    TimerId timer = 0;  // fires at the end of the run, or at the next attempt to write
    bool over = false;  // ran long enough; the Finished condition is still to be written
  };
  void look(const std::string& key);
  void look_after(const std::string& key, Duration wait, bool over);
  void release(const std::string& key);
  void finish(const std::string& key);
  void write(const std::string& key, const api::kueue::WorkloadStatus& status);
  void forget(const std::string& key);

  api::RestClient& client_;
  Executor& executor_;
  RunTime run_time_;
  std::map<std::string, Run> runs_;  // of workloads that hold quota
  // lets answers that arrive late see that this object was destroyed
  Lifetime lifetime_;
};

}  // namespace berth::simulate
