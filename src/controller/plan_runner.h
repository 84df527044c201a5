// Carries out plans: requests to the API server and what is done without one, in order or side by side. What an answer
// means for the rest of the plan stands with each request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "api/rest.h"
#include "base/lifetime.h"
#include "controller/work_queue.h"
#include "controller/writes.h"

namespace berth::controller {

enum class Outcome : std::uint8_t {
  kGoOn,    // done, or not needed any more
  kEnough,  // the rest of the plan is not needed: what follows depends on a change that the caches will show
  kFailed,  // the plan is tried again
};

struct PlannedRequest {
  // Sends the request and passes its answer on. It is called once, when it is the request's turn.
  std::function<void(Writes::Done answered)> send;
  Outcome there = Outcome::kFailed;                               // after AlreadyExists
  Outcome gone = Outcome::kFailed;                                // after NotFound
  std::function<void(const api::RestResponse&)> done = {};        // after a success
  std::function<Outcome(const api::RestResponse&)> refused = {};  // after any other answer; empty: kFailed
  // What needs no request.
  static PlannedRequest without(std::function<void()> action);
  // Ends the plan, which is tried again.
  static PlannedRequest failing();
};

class PlanRunner {
 public:
  using Plan = std::vector<PlannedRequest>;

  // Gets kGoOn when the whole plan is done.
  using Finish = std::function<void(Outcome)>;

  // One after the other. kEnough and kFailed end the plan.
  void in_order(Plan plan, Finish finish);
  // At most `at_a_time` at a time. Nothing ends the others; one failure and the plan has failed.
  void side_by_side(Plan plan, std::size_t at_a_time, Finish finish);
  // The end of a plan as the end of a look: a failed one is looked at again.
  static Finish ends(WorkQueue::Finish look);

 private:
  struct Run;
  void pump(const std::shared_ptr<Run>& run);
  void answered(const std::shared_ptr<Run>& run, std::size_t which, const api::RestResponse& answer);

  Lifetime lifetime_;
};

}  // namespace berth::controller
