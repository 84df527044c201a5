// What the controllers of Jobs and of pods share.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/executor.h"
#include "base/lifetime.h"
#include "base/time.h"
#include "jobs/job_facts.h"

namespace berth::controller {

// Orders workloads by creation, then by uid.
struct OlderWorkload {
  bool operator()(const jobs::WorkloadPtr& a, const jobs::WorkloadPtr& b) const;
};

// The checks that an eviction reset, for an event on the job; empty when there are none. As in Kueue, only for an
// active workload.
std::string reset_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);

// Owners that were deleted less than kGarbageCollection ago. The garbage collector deletes their workloads in this
// time. A workload that remains after it is an orphan.
template <typename Owner>
class DeletedOwners {
 public:
  explicit DeletedOwners(Executor& executor) : executor_(executor) {}
  DeletedOwners(const DeletedOwners&) = delete;
  DeletedOwners& operator=(const DeletedOwners&) = delete;

  // `then` is called when the time has passed. Does nothing for an owner that is known already.
  void add(const Owner& owner, std::function<void()> then) {
    if (!owners_.insert(owner).second) return;
    executor_.after(kGarbageCollection, lifetime_.guard([this, owner, then = std::move(then)] {
      owners_.erase(owner);
      then();
    }));
  }
  bool contains(const Owner& owner) const { return owners_.contains(owner); }

 private:
  // kube-controller-manager deletes what a deleted object owned within about a second.
  static constexpr Duration kGarbageCollection = std::chrono::seconds(2);

  Executor& executor_;
  std::set<Owner> owners_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
