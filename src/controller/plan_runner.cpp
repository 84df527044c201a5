#include "controller/plan_runner.h"

#include <utility>

#include "api/status.h"

namespace berth::controller {
namespace {

Outcome outcome_of(const PlannedRequest& request, const api::RestResponse& answer) {
  if (answer.ok()) {
    if (request.done) request.done(answer);
    return Outcome::kGoOn;
  }
  if (request.there != Outcome::kFailed && api::status_reason(answer) == "AlreadyExists") return request.there;
  if (request.gone != Outcome::kFailed && answer.code == 404) return request.gone;
  return request.refused ? request.refused(answer) : Outcome::kFailed;
}

}  // namespace

PlannedRequest PlannedRequest::without(std::function<void()> action) {
  return {.send = [action = std::move(action)](const Writes::Done& answered) {
    action();
    answered({});
  }};
}

PlannedRequest PlannedRequest::failing() {
  return {.send = [](const Writes::Done& answered) { answered({0, Json(), {}}); }};
}

struct PlanRunner::Run {
  Plan plan;
  std::size_t at_a_time = 1;
  bool in_order = true;
  Finish finish;  // empty: called
  std::size_t next = 0, open = 0;
  Outcome outcome = Outcome::kGoOn;
  bool pumping = false;
};

void PlanRunner::in_order(Plan plan, Finish finish) {
  pump(std::make_shared<Run>(Run{.plan = std::move(plan), .finish = std::move(finish)}));
}

void PlanRunner::side_by_side(Plan plan, std::size_t at_a_time, Finish finish) {
  pump(std::make_shared<Run>(
      Run{.plan = std::move(plan), .at_a_time = at_a_time, .in_order = false, .finish = std::move(finish)}));
}

PlanRunner::Finish PlanRunner::ends(WorkQueue::Finish look) {
  return [look = std::move(look)](Outcome outcome) { look(outcome != Outcome::kFailed); };
}

// An answer that comes at once is dealt with by the loop that asked: a long plan does not nest.
void PlanRunner::pump(const std::shared_ptr<Run>& run) {
  if (run->pumping) return;
  run->pumping = true;
  while (run->next < run->plan.size() && run->open < run->at_a_time) {
    const std::size_t which = run->next++;
    ++run->open;
    run->plan[which].send(
        lifetime_.guard([this, run, which](const api::RestResponse& answer) { answered(run, which, answer); }));
  }
  run->pumping = false;
  if (run->open == 0 && run->finish) std::exchange(run->finish, {})(run->outcome);
}

void PlanRunner::answered(const std::shared_ptr<Run>& run, std::size_t which, const api::RestResponse& answer) {
  const Outcome outcome = outcome_of(run->plan[which], answer);
  --run->open;
  if (outcome == Outcome::kFailed || (run->in_order && outcome == Outcome::kEnough)) run->outcome = outcome;
  if (run->in_order && outcome != Outcome::kGoOn) run->next = run->plan.size();
  pump(run);
}

}  // namespace berth::controller
