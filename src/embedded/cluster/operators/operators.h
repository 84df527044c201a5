// The pretend operators: they make the pods of jobs of described kinds and write the statuses of the jobs.
// operator_step.h decides what to do.
#pragma once

#include <memory>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

class Operators {
 public:
  // Both must outlive the operators. Kinds without an operator in their description are left alone. A kind that the
  // server does not serve is waited for.
  Operators(api::RestClient& client, Executor& executor, const std::vector<jobs::kinds::JobKindPtr>& kinds);
  ~Operators();

  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with pending callbacks, which hold it weakly
};

}  // namespace berth::cluster
