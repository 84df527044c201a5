// A workload and its situation, and the moves that follow.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/next.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::next_moves {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using test::condition;

inline constexpr int kMaxMoves = 8;

class World : public testing::Test {
 protected:
  World() {
    s.local_queue_name = "q";
    s.cluster_queue_name = "cq";
    s.local_queue = s.cluster_queue = {true, false, true, StopPolicy::kNone};
  }
  // Makes all moves that follow, and returns whether spec.active=false is requested.
  bool run(Time now) {
    bool deactivate = false;
    for (int i = 0; i < kMaxMoves; ++i) {
      auto n = next(w, s, now);
      deactivate = n.deactivate;
      if (!n.change) return deactivate;
      EXPECT_TRUE(n.change->has_value()) << (*n.change ? "" : n.change->error().message);
      if (!*n.change) return deactivate;
      w.status = (*n.change)->status;
      for (auto& note : (*n.change)->notes) notes.push_back(note.reason);
    }
    ADD_FAILURE() << "does not come to rest";
    return deactivate;
  }
  void reserve_now(Time now, std::vector<std::string> checks = {}) {
    s.checks = checks;
    auto change = reserve(w, test::admission("cq", "f", 1, "1"), checks, "", now);
    ASSERT_TRUE(change.has_value()) << change.error().message;
    w.status = change->status;
  }
  void stop_job(Time now) {
    s.job_stopped = true;
    run(now);
    s.job_stopped = false;
  }
  void check_says(CheckState state, std::optional<int> requeue_after, Time now) {
    auto& c = w.status.admission_checks.at(0);
    c.state = state;
    c.message = "said so";
    c.requeue_after_seconds = requeue_after;
    c.last_transition = now;
  }
  std::string quota() const { return condition(w.status, "QuotaReserved"); }
  std::string evicted() const { return condition(w.status, "Evicted"); }
  std::string requeued() const { return condition(w.status, "Requeued"); }

  Workload w = test::WorkloadBuilder("w");
  Situation s;
  std::vector<std::string> notes;
};

}  // namespace berth::engine::lifecycle::next_moves
