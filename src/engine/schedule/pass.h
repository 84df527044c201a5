// The scheduling pass over trees of cohorts that have to do with each other: Kueue's cycles (one head of each
// queue, nominated against the same state, ordered, then processed one by one) repeated until nothing moves
// (kueue.md 3.1-3.4).
#pragma once

#include <span>
#include <vector>

#include "engine/schedule/decision.h"
#include "engine/schedule/nominate.h"
#include "engine/schedule/state.h"
#include "engine/schedule/tournament.h"

namespace berth::engine {

class Pass {
 public:
  explicit Pass(SchedulerState& state) : state_(state), nominator_(state), tournament_(state) {}

  // All queues below `roots` that have somebody awake. False when it stopped at the bound of cycles and
  // should go on. Trees whose pods may want the same places are passed over together.
  bool run(std::span<const NodeId> roots, Time now, Decisions& out);

  // A pending workload of a queue whose cohorts form a cycle: nobody is evaluated there, and it hears why.
  void tell_cut_off(WorkloadId workload, Decisions& out);

 private:
  struct Word {
    WorkloadId workload;  // none: taken back
    std::string_view reason;
    std::string_view constant;  // the text, when it is always the same
    std::string text;
    std::uint64_t fingerprint = 0;
    bool preemption_gated = false;
  };

  void collect(NodeId node);
  bool cycle();  // true when anything moved
  std::size_t nominate_heads();
  void process_in_order(std::size_t count);
  bool before(const Entry& a, const Entry& b) const;
  void process(Entry& entry);

  bool overlaps(const Entry& entry) const;
  bool fits(Entry& entry);
  bool keeps_place(Entry& entry);
  void recompute_without_victims(Entry& entry);
  void admit(Entry& entry);
  void preempt(Entry& entry);
  void take_places(Entry& entry, Admit& decision);
  void hold(const Entry& entry, const Usage& usage);  // quota and places, for the rest of the cycle
  void note_made_way(const Entry& entry);
  bool reserves(const Entry& entry) const;
  void reserve(const Entry& entry);
  void fail(Entry& entry, std::string_view reason);     // with the assignment's message
  void give_up(Entry& entry, std::string_view reason);  // parks or blocks
  void try_again(Entry& entry);                         // stays awake
  bool scan_moved(Entry& entry);
  bool news(WorkloadId workload, std::uint64_t fingerprint);
  void tell(const Entry& entry, std::string_view reason, std::size_t victims);
  void wait(WorkloadId workload, std::string_view reason, std::string_view text);
  void wait_for_leavers(const Entry& entry);
  void say(Word word);
  void nothing_new(WorkloadId workload);
  bool still_hopeless(const Queue& queue, WorkloadId head) const;
  void tell_waits();
  void tell_untold(Queue& queue);
  void moved();
  Tree& tree_of(const Entry& entry) { return state_.tree(state_.ledger.root(entry.queue->node)); }

  SchedulerState& state_;
  Time now_{};
  Decisions* out_ = nullptr;
  Nominator nominator_;
  Tournament tournament_;  // for fair sharing
  std::span<const NodeId> roots_;
  std::vector<Queue*> all_, live_;  // of the tree; with somebody to evaluate
  std::vector<Entry> entries_;      // kept between cycles for their memory
  std::vector<std::size_t> order_;
  std::vector<WorkloadId> preempted_;  // in this cycle
  std::vector<Word> words_;            // the last one for each workload that waits
  bool moved_ = false;
  bool places_changed_ = false;  // in this cycle, by what it admitted or set aside
};

}  // namespace berth::engine
