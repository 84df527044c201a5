// Pretends that workloads run which nobody owns: finishes them when they were admitted long enough, and gives
// back the quota of evicted ones. What the controller of a job does, without a job.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/kueue/types.h"
#include "base/executor.h"
#include "kube/informer.h"

namespace berth::simulate {

class PretendRuns {
 public:
  // How long a workload runs, by its key "namespace/name"; none: it is not ours.
  using RunTime = std::function<std::optional<Duration>(const std::string& key)>;
  PretendRuns(api::RestClient& client, Executor& executor, RunTime run_time);
  ~PretendRuns();
  void start();

 private:
  struct Run {
    TimerId timer = 0;
    bool over = false;  // ran long enough; its end is to be written
  };
  void changed(const std::string& key, const JsonPtr& now);
  void write(const api::kueue::Workload& workload, Json status);
  void finish(const std::string& key);
  void forget(const std::string& key);

  api::RestClient& client_;
  Executor& executor_;
  RunTime run_time_;
  kube::Informer workloads_;
  std::map<std::string, Run> runs_;  // of admitted workloads
};

}  // namespace berth::simulate
