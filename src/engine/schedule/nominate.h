// What can be done for the head of a queue in the present state of quota and places: assign flavors and places, find
// victims.
#pragma once

#include <vector>

#include "engine/schedule/entry.h"
#include "engine/schedule/placer.h"
#include "engine/schedule/state.h"

namespace berth::engine {

class Trial;

class Nominator {
 public:
  explicit Nominator(SchedulerState& state) : state_(state), placer_(state.places, state.names) {}
  // Fills everything except the workload and the queue. `resume`: continue after the flavors that were tried before.
  void nominate(Entry& entry, bool resume);
  // The same from the first flavor on, as if all cycles that continue the walk over the flavors came at once.
  void nominate_in_all_walks(Entry& entry);
  // Assigns again, only with the flavors of the entry's assignment, in the present trial.
  void renominate(Entry& entry);
  Placer& placer() { return placer_; }

 private:
  void assign(Entry& entry, std::span<const std::int32_t> counts, std::span<const std::int32_t> tried,
              std::span<const std::int32_t> nominated);
  void walk_and_more(Entry& entry, std::span<const std::int32_t> counts, std::span<const std::int32_t> tried,
                     bool last_walk);
  void try_other_flavors(Entry& entry, std::span<const std::int32_t> counts);
  void try_combinations(Entry& entry, std::span<const std::int32_t> counts, bool together);
  void evaluate(Entry& entry, std::span<const std::int32_t> tried, bool last_walk);
  void walk_and_reduce(Entry& entry, std::span<const std::int32_t> tried, bool last_walk);
  void take_what_fits(Entry& entry);
  std::vector<Assigner::Kept> kept_flavors(const Entry& entry) const;
  void find_targets(Entry& entry);
  void count_protected(Entry& entry);
  bool walk(Entry& entry);
  Preemptor preemptor_of(const Entry& entry) const;
  void note_debts(Entry& entry, const Preemptor& who) const;
  void keep_choice(Entry& entry);
  void wait_for_victims(Entry& entry);
  // Takes those out that are being evicted. Returns whether there are any.
  bool take_out_evicted(Trial& trial, std::span<const WorkloadId> victims) const;
  bool waits_for_the_evicted(Entry& entry);
  bool needs_no_more_victims(Entry& entry);
  bool fits_without_the_evicted(Entry& entry);
  bool comes_free(Entry& entry);
  void take_over(Entry& entry, Entry& from);
  void reduce(Entry& entry, std::span<const std::int32_t> tried, bool last_walk);

  SchedulerState& state_;
  Placer placer_;
  std::vector<Assigner::Kept> kept_;  // of the entry that is evaluated; kept to reuse memory
  std::vector<std::int32_t> counts_;
  bool spares_ = true;  // false while it tries what would be without the history of preemptions
  std::vector<FlavorResourceId> short_ids_;
};

}  // namespace berth::engine
