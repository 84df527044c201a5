// Computes what a LeaderWorkerSet needs next, as its controller does: leaders and workers, groups that are replaced or
// created anew, and its status. Pure: call it again with the result of the step until there is nothing to do.
//
// Differences to the real controller: it creates the pods without StatefulSets. A group below the partition of a
// rolling update that lost its leader gets the new templates, because old revisions are not stored. A replaced group
// is not available from its deletion on. Not supported: subgroups, volume claims, services, and the node affinity of
// exclusive placement (the annotation is copied to the pods).
// https://lws.sigs.k8s.io/docs/concepts/
#pragma once

#include <optional>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/lws_pods.h"

namespace berth::cluster {

struct LwsView {
  const LwsSpec& set;
  const std::vector<LwsPod>& leaders;  // pods that the set controls
  const std::vector<LwsPod>& workers;  // pods that one of these leaders controls
  Time now;
};

struct LwsStep {
  std::optional<Json> status;  // to write
  std::vector<Json> create;
  std::vector<JsonPtr> remove;
};

// The largest number of pods that one step creates.
inline constexpr std::size_t kMaxLwsPods = 500;

LwsStep next_step(const LwsView& view);

}  // namespace berth::cluster
