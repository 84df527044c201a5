// Carries out the plan of one look at a pod or a group: first the steps about workloads, one after the other, then the
// actions on pods, several at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/lifetime.h"
#include "controller/awaited_workloads.h"
#include "controller/metrics_feed.h"
#include "controller/pod_events.h"
#include "controller/pod_index.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/pods/pod_plan.h"

namespace berth::controller {

class PodRequests {
 public:
  // `learn` gets the answers to requests about pods. The others must outlive it.
  using Learn = std::function<void(const jobs::ManagedPodPtr& before, const api::RestResponse& response)>;
  PodRequests(Shell& shell, MetricsFeed& metrics, PodEvents& events, AwaitedWorkloads& awaited, Learn learn);

  void carry_out(const PodUnit& unit, jobs::PodPlan plan, WorkQueue::Finish finish);

 private:
  struct Batch;

  void take_steps(const std::shared_ptr<Batch>& batch, std::size_t next);
  // Whether the rest waits for an answer.
  bool take_step(const std::shared_ptr<Batch>& batch, std::size_t next);
  void create_workload(const std::shared_ptr<Batch>& batch, std::size_t next, Json object);
  void workload_answered(const std::shared_ptr<Batch>& batch, std::size_t next, const std::string& name,
                         const api::RestResponse& answer);
  void pump(const std::shared_ptr<Batch>& batch);
  void act(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action);
  void remove_pod(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action);
  void done(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action, const api::RestResponse* failed);

  Shell& shell_;
  MetricsFeed& metrics_;
  PodEvents& events_;
  AwaitedWorkloads& awaited_;
  const Learn learn_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
