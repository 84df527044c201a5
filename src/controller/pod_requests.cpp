#include "controller/pod_requests.h"

#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "controller/ownerless_workloads.h"
#include "jobs/compose.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

constexpr std::size_t kPodsInFlight = 16;  // requests at a time for the pods of one group
constexpr int kInvalid = 422;

Target target_of(const jobs::ManagedPod& pod) { return {api::kPods, pod.ns, pod.name, pod.uid, pod.version}; }

}  // namespace

// The steps and actions of one look, and the answers that are still out.
struct PodRequests::Batch {
  PodUnit unit;
  jobs::PodPlan plan;
  std::size_t next = 0, running = 0;
  bool ok = true;
  WorkQueue::Finish finish;
};

PodRequests::PodRequests(Shell& shell, MetricsFeed& metrics, PodEvents& events, AwaitedWorkloads& awaited, Learn learn)
    : shell_(shell), metrics_(metrics), events_(events), awaited_(awaited), learn_(std::move(learn)) {}

void PodRequests::carry_out(const PodUnit& unit, jobs::PodPlan plan, WorkQueue::Finish finish) {
  auto batch = std::make_shared<Batch>();
  batch->unit = unit;
  batch->plan = std::move(plan);
  batch->finish = std::move(finish);
  take_steps(batch, 0);
}

void PodRequests::create_workload(const std::shared_ptr<Batch>& batch, std::size_t next, Json object) {
  const std::string ns(string_at(object, {"metadata", "namespace"})), name = api::object_key(object);
  if (batch->unit.what == PodUnit::What::kSingle) awaited_.wait_for(name, batch->unit.key);
  shell_.writes.create(api::kWorkloads, ns, std::move(object),
                       lifetime_.guard([this, batch, next, name](const api::RestResponse& answer) {
                         workload_answered(batch, next, name, answer);
                       }));
}

void PodRequests::workload_answered(const std::shared_ptr<Batch>& batch, std::size_t next, const std::string& name,
                                    const api::RestResponse& answer) {
  // Either ours, which the cache does not show yet, or another client's: the pods are looked at again when that
  // workload changes.
  if (api::status_reason(answer) == "AlreadyExists") return batch->finish(true);
  if (answer.ok()) awaited_.created(batch->unit, std::string(string_at(answer.body, {"metadata", "resourceVersion"})));
  const bool never = refused_by_terminating_namespace(answer);
  if (answer.ok() || never) awaited_.stop_waiting(name);
  if (never) return batch->finish(true);
  if (answer.ok()) return take_steps(batch, next + 1);
  if (answer.code == kInvalid) {  // for example a role that is no name; only another pod helps
    events_.tell(jobs::cannot_compose(std::string(api::status_message(answer))), batch->plan);
    return batch->finish(true);
  }
  log::warn("a workload could not be created",
            {{"name", name}, {"code", answer.code}, {"why", std::string(api::status_message(answer))}});
  batch->finish(false);
}

void PodRequests::take_steps(const std::shared_ptr<Batch>& batch, std::size_t next) {
  for (; next < batch->plan.steps.size(); ++next) {
    if (take_step(batch, next)) return;
  }
  pump(batch);
}

bool PodRequests::take_step(const std::shared_ptr<Batch>& batch, std::size_t next) {
  // `gone_is_fine`: a 404 is a success, because the object to delete is already gone.
  const auto then = [this, batch, next](bool gone_is_fine) {
    return lifetime_.guard([this, batch, next, gone_is_fine](const api::RestResponse& answer) {
      if (answer.ok() || (gone_is_fine && answer.code == 404)) return take_steps(batch, next + 1);
      batch->finish(false);
    });
  };
  return std::visit(Overloaded{
                        [&](jobs::CreateWorkload& s) {
                          create_workload(batch, next, std::move(s.object));
                          return true;
                        },
                        [&](jobs::DeleteWorkload& s) {
                          shell_.writes.remove(Target::of(api::kWorkloads, s.workload->meta), then(true));
                          return true;
                        },
                        [&](jobs::DropWorkloadFinalizer& s) {
                          drop_workload_finalizer(shell_.writes, *s.workload, then(true));
                          return true;
                        },
                        [&](jobs::UpdateWorkload& s) {
                          shell_.writes.patch(Target::of(api::kWorkloads, s.workload->meta), "", std::move(s.patch),
                                              then(false));
                          return true;
                        },
                        [&](jobs::ReportJob& s) {
                          shell_.feed(engine::JobReported{s.workload->meta.ns, s.workload->meta.name, s.report});
                          return false;
                        },
                        [&](jobs::PatchJob&) { return false; },  // plans for pods have actions instead
                        [&](jobs::JobEvent& s) {
                          events_.tell(s, batch->plan);
                          return false;
                        },
                    },
                    batch->plan.steps[next]);
}

void PodRequests::pump(const std::shared_ptr<Batch>& batch) {
  const auto& actions = batch->plan.actions;
  while (batch->next < actions.size() && batch->running < kPodsInFlight) {
    ++batch->running;
    act(batch, actions[batch->next++]);
  }
  if (batch->running == 0 && batch->finish) std::exchange(batch->finish, {})(batch->ok);
}

void PodRequests::act(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action) {
  if (!action.patch) return remove_pod(batch, action);
  shell_.writes.patch(target_of(*action.pod), action.patch->subresource, action.patch->body,
                      lifetime_.guard([this, batch, &action](const api::RestResponse& answer) {
                        if (!answer.ok()) return done(batch, action, &answer);
                        if (action.admitted_by)
                          metrics_.gate_removed(api::kueue::kAdmissionGate, *action.admitted_by,
                                                !action.pod->group.empty());
                        if (!action.remove) learn_(action.pod, answer);
                        remove_pod(batch, action);
                      }));
}

void PodRequests::remove_pod(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action) {
  if (!action.remove)
    return shell_.executor.post(lifetime_.guard([this, batch, &action] { done(batch, action, nullptr); }));
  shell_.writes.remove(target_of(*action.pod), lifetime_.guard([this, batch, &action](const api::RestResponse& answer) {
    if (answer.ok()) learn_(action.pod, answer);
    done(batch, action, answer.ok() ? nullptr : &answer);
  }));
}

// `failed`: the answer that refused a request. 404: the pod is gone.
void PodRequests::done(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action,
                       const api::RestResponse* failed) {
  --batch->running;
  if (failed == nullptr) {
    if (action.event) events_.tell(*action.event, action.pod);
  } else if (failed->code != 404) {
    batch->ok = false;
    if (failed->code != 409) {
      log::warn("a pod could not be changed", {{"pod", api::object_key(action.pod->ns, action.pod->name)},
                                               {"code", failed->code},
                                               {"why", std::string(api::status_message(*failed))}});
    }
  }
  pump(batch);
}

}  // namespace berth::controller
