// Pretends that workloads run which nobody owns: finishes them when they were admitted long enough, and gives
// back the quota of evicted ones. What the controller of a job does, without a job.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/executor.h"

namespace berth::simulate {

class PretendRuns {
 public:
  using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;
  // How long a workload runs, by its key "namespace/name"; none: it is not ours.
  using RunTime = std::function<std::optional<Duration>(const std::string& key)>;
  // Both must outlive it.
  PretendRuns(api::RestClient& client, Executor& executor, RunTime run_time);
  ~PretendRuns();

  // To be told of every change; null: it is gone.
  void workload_changed(const std::string& key, const WorkloadPtr& now);

 private:
  struct Run {
    WorkloadPtr latest;
    TimerId timer = 0;  // of its end, or of the next try to write
    bool over = false;  // ran long enough; its end is to be written
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // answers under way find out that it is gone
};

}  // namespace berth::simulate
