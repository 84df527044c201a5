// What could be done for one head of a queue in the present state of the ledger (kueue.md 3.2).
#pragma once

#include <vector>

#include "engine/schedule/state.h"

namespace berth::engine {

struct Entry {
  WorkloadId workload;
  Queue* queue = nullptr;
  const Plan* plan = nullptr;  // null: a barrier stands before it
  const Shape* shape = nullptr;
  Assignment assignment;
  std::vector<Target> targets;
  // The walk over flavors went on from where a former one stopped: nobody is put to sleep on such a verdict.
  bool partial_view = false;
};

// The flavors of an entry's assignment, by pod set.
std::vector<PodSetFlavors> flavors_of(const Entry& entry);

class Nominator {
 public:
  explicit Nominator(State& state) : state_(state) {}
  // Fills everything but the workload and the queue. `resume`: goes on with the flavors after those tried
  // before.
  void nominate(Entry& entry, bool resume);
  // Anew, with the flavors of the entry's assignment only, in the present trial.
  void renominate(Entry& entry);

 private:
  void assign(Entry& entry, std::span<const std::int32_t> counts, std::span<const std::int32_t> tried,
              std::span<const std::int32_t> nominated);
  void find_targets(Entry& entry);
  bool promising(const Entry& entry) const;
  void reduce(Entry& entry, std::span<const std::int32_t> tried);

  State& state_;
  std::vector<std::int32_t> counts_;
  std::vector<FlavorResourceId> short_ids_;
};

}  // namespace berth::engine
