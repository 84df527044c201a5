#include "embedded/cluster/operators/operator_step.h"

#include <algorithm>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/object_condition.h"
#include "embedded/cluster/operators/described_pods.h"
#include "embedded/cluster/operators/described_status.h"
#include "embedded/cluster/operators/scaling.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "jobs/kinds/field_path.h"

namespace berth::cluster {
namespace {

using jobs::kinds::Scope;

enum class PodState {
  kMissing,
  kActive,
  kReady,  // active, too
  kSucceeded,
  kFailed,
  kLost,  // it ended, but not by itself
};

PodState state_of(const Json& pod) {
  const auto phase = string_at(pod, {"status", "phase"});
  if (phase == "Succeeded") return PodState::kSucceeded;
  if (phase == "Failed")
    return pod_terminating(pod) || api::object_condition_is_true(pod, "DisruptionTarget") ? PodState::kLost
                                                                                          : PodState::kFailed;
  return api::object_condition_is_true(pod, "Ready") && !pod_terminating(pod) ? PodState::kReady : PodState::kActive;
}

struct Slots {
  explicit Slots(const DescribedPodSet& described)
      : set(&described), states(static_cast<std::size_t>(described.count), PodState::kMissing) {}

  const DescribedPodSet* set;
  std::vector<PodState> states;  // by index
  std::int64_t leaving = 0;      // active pods that are not wanted

  std::int64_t count(PodState state) const { return std::ranges::count(states, state); }
};

// Of pods, or of groups of pods.
struct Tally {
  std::int64_t count = 0, active = 0, ready = 0, succeeded = 0, failed = 0;

  JsonObject json() const {
    return {{"count", count}, {"active", active}, {"ready", ready}, {"succeeded", succeeded}, {"failed", failed}};
  }
};

Tally tally_pods(const Slots& slots) {
  Tally out;
  out.count = slots.set->count;
  out.ready = slots.count(PodState::kReady);
  out.active = out.ready + slots.count(PodState::kActive) + slots.leaving;
  out.succeeded = slots.count(PodState::kSucceeded);
  out.failed = slots.count(PodState::kFailed);
  return out;
}

Tally tally_groups(const Slots& slots) {
  Tally out;
  const auto size = static_cast<std::size_t>(slots.set->per_group);
  for (std::size_t at = 0; at < slots.states.size(); at += size) {
    const auto first = slots.states.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(size, slots.states.size() - at));
    const auto any = [&](PodState state) { return std::find(first, last, state) != last; };
    const auto all = [&](auto test) { return std::all_of(first, last, test); };
    const auto good = [](PodState state) { return state == PodState::kReady || state == PodState::kSucceeded; };
    ++out.count;
    if (any(PodState::kActive) || any(PodState::kReady)) ++out.active;
    if (all([](PodState state) { return state == PodState::kSucceeded; })) {
      ++out.succeeded;
    } else if (all(good)) {
      ++out.ready;
    }
    if (any(PodState::kFailed)) ++out.failed;
  }
  if (slots.leaving > 0) out.active = std::max<std::int64_t>(out.active, 1);
  return out;
}

std::string_view word_for(PodState state) {
  switch (state) {
    case PodState::kReady:
      return "RUNNING";
    case PodState::kSucceeded:
      return "COMPLETED";
    case PodState::kFailed:
    case PodState::kLost:
      return "FAILED";
    case PodState::kMissing:
    case PodState::kActive:
      break;
  }
  return "PENDING";
}

class OperatorPlanner {
 public:
  explicit OperatorPlanner(const OperatorView& view) : view_(view) {}

  OperatorStep run() {
    if (pod_terminating(view_.job)) return {};
    sets_ = described_pod_sets(view_.kind, view_.job, view_.get, errors_);
    const bool over = truth(view_.kind.finished);
    const bool waits = !over && suspended();
    if (!errors_.empty()) {
      step_.problem = api::to_string(errors_);
      if (!over && !waits) return std::move(step_);  // its pods stay as they are
    }
    place();
    phase_ = over ? (succeeded() ? "Succeeded" : "Failed") : waits ? "Suspended" : phase_by_pods();
    if (phase_ == "Running") follow_series();
    settle();
    write_status();
    return std::move(step_);
  }

 private:
  bool truth(const jobs::kinds::Expression& expression) const {
    return expression && expression.truth(Scope(view_.job)).value_or(false);
  }
  bool succeeded() const { return !view_.kind.succeeded || truth(view_.kind.succeeded); }
  bool suspended() const {
    const Json* value = jobs::kinds::value_at(view_.job, view_.kind.suspend);
    return value != nullptr && value->is_bool() && value->get_bool();
  }

  void follow_series() {
    auto scaling = scale(view_.kind, view_.job, view_.get, view_.now);
    if (!scaling) {
      step_.problem = scaling.error().message;
      return;
    }
    step_.scaled = std::move(scaling->job);
    step_.look_again = scaling->next;
  }

  std::string_view job_name() const { return string_at(view_.job, {"metadata", "name"}); }

  void place() {
    for (const auto& set : sets_) slots_.emplace_back(set);
    for (const JsonPtr& pod : view_.pods) {
      Slots* home = nullptr;
      for (auto& slots : slots_) {
        const auto index = index_in(*slots.set, job_name(), string_at(*pod, {"metadata", "name"}));
        if (!index) continue;
        home = &slots;
        slots.states[static_cast<std::size_t>(*index)] = state_of(*pod);
        break;
      }
      if (home != nullptr) continue;
      leave(*pod);
      remove(pod);
    }
    for (auto& slots : slots_) remember_done(slots);
  }

  // A pod that is not wanted counts as active until it is gone.
  void leave(const Json& pod) {
    if (api::pod_ended(pod) || slots_.empty()) return;
    const auto label = string_at(pod, {"metadata", "labels", kPodSetLabel});
    const auto named = std::ranges::find_if(slots_, [&](const Slots& slots) { return slots.set->name == label; });
    ++(named == slots_.end() ? slots_.front() : *named).leaving;
  }

  // The quota of pods that the status calls done may be in use: they are not made again when they are deleted.
  static void remember_done(Slots& slots) {
    std::int64_t gone = slots.set->done - slots.count(PodState::kSucceeded);
    for (auto& state : slots.states) {
      if (gone <= 0) return;
      if (state != PodState::kMissing) continue;
      state = PodState::kSucceeded;
      --gone;
    }
  }

  std::string_view phase_by_pods() const {
    if (view_.kind.pretend.serves) return "Running";
    const bool done = std::ranges::all_of(slots_, [](const Slots& slots) {
      return !slots.set->decides || slots.count(PodState::kSucceeded) == slots.set->count;
    });
    if (done) return "Succeeded";
    const auto failed = [](const Slots& slots) { return slots.count(PodState::kFailed) > 0; };
    return std::ranges::any_of(slots_, failed) ? "Failed" : "Running";
  }

  void settle() {
    if (phase_ == "Running") {
      for (const auto& slots : slots_) grow(slots);
    }
    for (const JsonPtr& pod : view_.pods) {
      const PodState state = state_of(*pod);
      const bool again = state == PodState::kLost || (view_.kind.pretend.serves && api::pod_ended(*pod));
      if (phase_ == "Suspended" ? !is_done(*pod) : phase_ == "Running" ? again : !api::pod_ended(*pod)) remove(pod);
    }
  }

  // A job that is suspended and resumed does not repeat what the status calls done, as JobSets keep their finished
  // Jobs.
  bool is_done(const Json& pod) const {
    return state_of(pod) == PodState::kSucceeded && std::ranges::any_of(slots_, [&](const Slots& slots) {
             return slots.set->done > 0 && index_in(*slots.set, job_name(), string_at(pod, {"metadata", "name"}));
           });
  }

  void remove(const JsonPtr& pod) {
    if (pod_terminating(*pod) || std::ranges::find(step_.remove, pod) != step_.remove.end()) return;
    step_.remove.push_back(pod);
  }

  void grow(const Slots& slots) {
    for (std::size_t i = 0; i < slots.states.size() && step_.create.size() < kMaxOperatorStep; ++i) {
      if (slots.states[i] == PodState::kMissing)
        step_.create.push_back(make_described_pod(view_.kind, view_.job, *slots.set, static_cast<std::int64_t>(i)));
    }
  }

  void write_status() {
    JsonObject pods;
    for (const auto& slots : slots_) {
      JsonObject one = tally_pods(slots).json();
      one["groups"] = tally_groups(slots).json();
      JsonObject states;
      for (std::size_t i = 0; i < slots.states.size(); ++i) {
        if (slots.states[i] != PodState::kMissing)
          states[pod_name(job_name(), slots.set->name, static_cast<std::int64_t>(i))] = word_for(slots.states[i]);
      }
      one["states"] = std::move(states);
      pods[slots.set->name] = std::move(one);
    }
    auto status = described_status(view_.kind, view_.job, Json(std::move(pods)), phase_, view_.now);
    if (!status) {
      step_.problem = status.error().message;
    } else if (const Json* old = find_path(view_.job, {"status"}); old == nullptr || !json_equal(*old, *status)) {
      step_.status = std::move(*status);
    }
  }

  const OperatorView& view_;
  api::FieldErrors errors_;
  std::vector<DescribedPodSet> sets_;
  std::vector<Slots> slots_;  // of each of them
  std::string_view phase_;
  OperatorStep step_;
};

}  // namespace

OperatorStep next_step(const OperatorView& view) { return OperatorPlanner(view).run(); }

}  // namespace berth::cluster
