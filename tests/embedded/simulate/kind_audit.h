// What must hold for jobs of described kinds, their pods and their workloads: while people and faults go on, and at
// rest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "embedded/simulate/storm.h"
#include "jobs/kinds/described_job.h"

namespace berth::simulation {

class KindAudit {
 public:
  explicit KindAudit(Storm& storm);

  // While people and faults go on.
  void look();
  // Nothing happens any more.
  void look_at_rest();
  // Somebody deleted all jobs, and time has passed.
  void look_at_the_end();

  std::uint64_t ran() const { return ran_.size(); }  // pods seen with quota
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t finished() const { return finished_; }

 private:
  struct Kind {
    jobs::kinds::JobKindPtr spec;
    jobs::kinds::DescribedJob adapter;
  };
  void check_job(const Kind& kind, const Json& job, const Json* workload, const std::vector<const Json*>& pods);
  void check_owners();
  void check_quota(const std::vector<Json>& workloads);

  Storm& storm_;
  std::vector<Kind> kinds_;
  std::map<std::string, Time> without_quota_since_;  // by the uid of a pod that runs
  std::set<std::string> ran_;                        // uids
  std::uint64_t evictions_ = 0, finished_ = 0;
};

}  // namespace berth::simulation
