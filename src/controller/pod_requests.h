// Carries out the plan of one look at a pod or a group: first the steps about workloads, one after the other, then the
// actions on pods, several at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "controller/awaited_workloads.h"
#include "controller/metrics_feed.h"
#include "controller/plan_runner.h"
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
  using PlanPtr = std::shared_ptr<const jobs::PodPlan>;
  PlanRunner::Plan steps_of(const PodUnit& unit, const PlanPtr& plan);
  PlannedRequest request_to_create(const PodUnit& unit, const PlanPtr& plan, const jobs::CreateWorkload& step);
  Outcome refused_workload(const std::string& name, const PlanPtr& plan, const api::RestResponse& answer);
  PlanRunner::Plan actions_of(const PlanPtr& plan);
  void patch_pod(const jobs::PodAction& action, Writes::Done answered);
  void remove_pod(const jobs::PodAction& action, Writes::Done answered);

  Shell& shell_;
  MetricsFeed& metrics_;
  PodEvents& events_;
  AwaitedWorkloads& awaited_;
  const Learn learn_;
  PlanRunner runner_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
