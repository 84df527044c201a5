// A workload with topology assignments, and its moves.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/next.h"
#include "engine/lifecycle/topology.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::topology_moves {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using test::at;

inline api::kueue::Admission delayed_admission() {
  auto out = test::admission("cq", "f", 4, "4");
  out.pod_set_assignments[0].delayed_topology = api::kueue::DelayedTopology::kPending;
  return out;
}

class TopologyMoves : public testing::Test {
 protected:
  TopologyMoves() {
    s.local_queue_name = "q";
    s.cluster_queue_name = "cq";
    s.local_queue = s.cluster_queue = {true, false, true, StopPolicy::kNone};
  }
  void take(const Result<Change>& change) {
    ASSERT_TRUE(change.has_value()) << change.error().message;
    w.status = change->status;
    notes = change->notes;
  }
  // Reserved, with a Ready check and delayed places.
  void delay(CheckState state = CheckState::kReady) {
    s.checks = {"prov"};
    take(reserve(w, delayed_admission(), s.checks, "", at(0)));
    w.status.admission_checks.at(0).state = state;
  }
  void admit_on(const std::vector<std::pair<std::string, int>>& nodes) {
    auto admission = test::admission("cq", "f", 4, "4");
    admission.pod_set_assignments[0].topology_assignment = test::on_nodes(nodes);
    take(reserve(w, admission, {}, "", at(0)));
  }
  SecondPassNeed need() { return second_pass_need(w, s); }
  // Makes the moves that need no scheduling decision; returns the name of the last one.
  std::string follow(Time now) {
    std::string last;
    for (int i = 0; i < 8; ++i) {
      auto n = next(w, s, now);
      if (!n.change) return last;
      EXPECT_TRUE(n.change->has_value()) << n.change->error().message;
      if (!*n.change) return "error";
      w.status = (*n.change)->status;
      notes = (*n.change)->notes;
      last = name((*n.change)->move);
    }
    ADD_FAILURE() << "does not come to rest";
    return last;
  }

  Workload w = test::WorkloadBuilder("w").pods(4, "1").build();
  Situation s;
  std::vector<Note> notes;
};

}  // namespace berth::engine::lifecycle::topology_moves
