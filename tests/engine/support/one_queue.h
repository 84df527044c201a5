// The setup of engine scenarios with one queue, and usage as text.
#pragma once

#include <string>
#include <vector>

#include "engine/support/scenario.h"

namespace berth::engine::test {

// One local queue "q" of a cluster queue "cq" with 4 cpu in the flavor "f".
struct OneQueue : Scenario {
  OneQueue() {
    give(test::flavor("f"));
    give(queue());
    give(test::local_queue("q", "cq"));
  }
  static ClusterQueueBuilder queue() { return ClusterQueueBuilder("cq").cpu({{"f", "4"}}); }
};

// "flavor/resource=total(borrowed some)" of each.
inline std::string totals(const std::vector<FlavorUsageStatus>& usage) {
  std::string out;
  for (const auto& f : usage) {
    for (const auto& r : f.resources) {
      out += (out.empty() ? "" : " ") + f.flavor + "/" + r.name + "=" + format_amount(r.name, r.total);
      if (!r.borrowed.is_zero()) out += "(borrowed " + format_amount(r.name, r.borrowed) + ")";
    }
  }
  return out;
}

}  // namespace berth::engine::test
