// The workloads of the cluster as values. Equal pod templates are one document.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/meta.h"
#include "base/json.h"
#include "base/string_map.h"
#include "controller/shared_templates.h"
#include "controller/shell.h"
#include "jobs/job_facts.h"
#include "kube/informer.h"

namespace berth::controller {

// Finished workloads that no job ever owned are not kept, others without what led to their end.
class DecodedWorkloads {
 public:
  // Called for each change. `before` and `now` are null when there is no version; both are null when a workload that is
  // not kept is gone. `kept` is what find() returns from now on, and what users keep: `now`, or a part of it when it is
  // finished.
  using Handler = std::function<void(const std::string& key, const jobs::WorkloadPtr& before,
                                     const jobs::WorkloadPtr& now, const jobs::WorkloadPtr& kept)>;

  // Feeds the engine with the workloads of the cache, then calls `handler`. Both arguments must outlive it.
  DecodedWorkloads(Shell& shell, kube::Informer& cache, Handler handler);

  jobs::WorkloadPtr find(const std::string& key) const;  // "namespace/name"; null when it is not kept
  // Whether the cache has reached this resourceVersion.
  bool seen(std::string_view version) const;
  SharedTemplates& templates() { return templates_; }

 private:
  void changed(const JsonPtr& old, const JsonPtr& now);
  void gone(const std::string& key, const jobs::WorkloadPtr& before, const api::ObjectMeta& meta);
  jobs::WorkloadPtr decode(const jobs::WorkloadPtr& before, const Json& now);

  Shell& shell_;
  kube::Informer& cache_;
  Handler handler_;
  StringMap<jobs::WorkloadPtr> workloads_;  // by key
  SharedTemplates templates_;
};

}  // namespace berth::controller
