#include "controller/pod_requests.h"

#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "controller/workload_requests.h"
#include "jobs/compose.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

constexpr std::size_t kPodsInFlight = 16;  // requests at a time for the pods of one group
constexpr int kInvalid = 422;

Target target_of(const jobs::ManagedPod& pod) { return {api::kPods, pod.ns, pod.name, pod.uid, pod.version}; }

}  // namespace

PodRequests::PodRequests(Shell& shell, MetricsFeed& metrics, PodEvents& events, AwaitedWorkloads& awaited, Learn learn)
    : shell_(shell), metrics_(metrics), events_(events), awaited_(awaited), learn_(std::move(learn)) {}

void PodRequests::carry_out(const PodUnit& unit, jobs::PodPlan plan, WorkQueue::Finish finish) {
  const auto shared = std::make_shared<const jobs::PodPlan>(std::move(plan));
  // A workload that is there already ends the plan before the actions.
  runner_.in_order(steps_of(unit, shared), [this, shared, finish = std::move(finish)](Outcome outcome) {
    if (outcome != Outcome::kGoOn) return finish(outcome == Outcome::kEnough);
    runner_.side_by_side(actions_of(shared), kPodsInFlight, PlanRunner::ends(finish));
  });
}

PlanRunner::Plan PodRequests::steps_of(const PodUnit& unit, const PlanPtr& plan) {
  PlanRunner::Plan all;
  for (const auto& step : plan->steps) {
    if (const auto* create = std::get_if<jobs::CreateWorkload>(&step)) {
      all.push_back(request_to_create(unit, plan, *create));
    } else if (const auto* event = std::get_if<jobs::JobEvent>(&step)) {
      all.push_back(PlannedRequest::without([this, plan, event] { events_.report(*event, *plan); }));
    } else if (auto request = request_for(shell_, step)) {
      all.push_back(std::move(*request));
    }
  }
  return all;
}

PlannedRequest PodRequests::request_to_create(const PodUnit& unit, const PlanPtr& plan,
                                              const jobs::CreateWorkload& step) {
  const std::string name = api::object_key(step.object);
  return {
      .send =
          [this, unit, plan, &step, name](Writes::Done answered) {
            if (unit.what == PodUnit::What::kSingle) awaited_.wait_for(name, unit.key);
            const std::string ns(string_at(step.object, {"metadata", "namespace"}));
            shell_.writes.create(api::kWorkloads, ns, step.object, std::move(answered));
          },
      .there = Outcome::kEnough,
      .done =
          [this, unit, plan, &step, name](const api::RestResponse& answer) {
            awaited_.created(unit, std::string(string_at(answer.body, {"metadata", "resourceVersion"})));
            awaited_.stop_waiting(name);
            events_.report(step.event, *plan);
          },
      .refused = [this, plan, name](const api::RestResponse& answer) { return refused_workload(name, plan, answer); }};
}

Outcome PodRequests::refused_workload(const std::string& name, const PlanPtr& plan, const api::RestResponse& answer) {
  if (refused_by_terminating_namespace(answer)) {
    awaited_.stop_waiting(name);
    return Outcome::kEnough;
  }
  if (answer.code == kInvalid) {  // for example a role that is no name; only another pod helps
    events_.report(jobs::cannot_compose(std::string(api::status_message(answer))), *plan);
    return Outcome::kEnough;
  }
  log::warn("a workload could not be created",
            {{"name", name}, {"code", answer.code}, {"why", std::string(api::status_message(answer))}});
  return Outcome::kFailed;
}

PlanRunner::Plan PodRequests::actions_of(const PlanPtr& plan) {
  PlanRunner::Plan all;
  for (const auto& action : plan->actions) {
    all.push_back({.send = [this, plan, &action](Writes::Done answered) { patch_pod(action, std::move(answered)); },
                   .gone = Outcome::kGoOn,
                   .done =
                       [this, plan, &action](const api::RestResponse&) {
                         if (action.event) events_.report(*action.event, action.pod);
                       },
                   .refused =
                       [plan, &action](const api::RestResponse& answer) {
                         if (answer.code != 409)
                           log::warn("a pod could not be changed",
                                     {{"pod", api::object_key(action.pod->ns, action.pod->name)},
                                      {"code", answer.code},
                                      {"why", std::string(api::status_message(answer))}});
                         return Outcome::kFailed;
                       }});
  }
  return all;
}

void PodRequests::patch_pod(const jobs::PodAction& action, Writes::Done answered) {
  if (!action.patch) return remove_pod(action, std::move(answered));
  shell_.writes.patch(target_of(*action.pod), action.patch->subresource, action.patch->body,
                      lifetime_.guard([this, &action, answered = std::move(answered)](const api::RestResponse& answer) {
                        if (!answer.ok()) return answered(answer);
                        if (action.admitted_by)
                          metrics_.gate_removed(api::kueue::kAdmissionGate, *action.admitted_by,
                                                !action.pod->group.empty());
                        if (!action.remove) learn_(action.pod, answer);
                        remove_pod(action, answered);
                      }));
}

void PodRequests::remove_pod(const jobs::PodAction& action, Writes::Done answered) {
  if (!action.remove) return answered({});
  shell_.writes.remove(
      target_of(*action.pod),
      lifetime_.guard([this, &action, answered = std::move(answered)](const api::RestResponse& answer) {
        if (answer.ok()) learn_(action.pod, answer);
        answered(answer);
      }));
}

}  // namespace berth::controller
