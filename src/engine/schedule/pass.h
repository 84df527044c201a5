// The scheduling pass over related trees of cohorts: Kueue's cycles (take one head of each queue, nominate all
// against the same state, order them, process them one by one), repeated until nothing changes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/schedule/decision.h"
#include "engine/schedule/nominate.h"
#include "engine/schedule/state.h"
#include "engine/schedule/tournament.h"

namespace berth::engine {

inline constexpr std::string_view kNoLongerFits = "Workload no longer fits after processing another workload";

// More than 40 methods: each step of a cycle and each message has a method.
class Pass {
 public:
  explicit Pass(SchedulerState& state) : state_(state), nominator_(state), tournament_(state) {}

  // Processes all queues below `roots` that have an awake workload. Returns false when it stopped at the limit of
  // cycles and should be called again. Trees whose pods may compete for the same places must be processed together.
  bool run(std::span<const QuotaNodeId> roots, Time now, Decisions& out);

 private:
  struct Word {
    WorkloadId workload;  // invalid: the message was withdrawn
    std::string_view reason;
    std::string_view constant;  // the text, when it is a constant
    std::string text;
    std::uint64_t fingerprint = 0;
    bool preemption_gated = false;
  };

  void collect(QuotaNodeId node);
  bool cycle();  // returns true when anything changed
  std::size_t nominate_heads();
  void count_outranked(std::size_t count);
  void process_in_order(std::size_t count);
  bool before(const Entry& a, const Entry& b) const;
  void process(Entry& entry);

  bool overlaps(const Entry& entry) const;
  bool fits(Entry& entry);
  bool keeps_place(Entry& entry);
  void recompute_without_victims(Entry& entry);
  OverlapCounts& overlap_counts(const Entry& entry);
  bool may_replace(Entry& entry);
  // What it uses in addition to what the slice holds that it replaces. Valid until the next call.
  const Usage& wanted(const Entry& entry);
  void admit(Entry& entry);
  void replace(WorkloadId former, WorkloadId by);
  void preempt(Entry& entry);
  void take_places(Entry& entry, Admit& decision);
  void hold(const Entry& entry, const Usage& usage);  // quota and places, for the rest of the cycle
  void note_preempted_for(const Entry& entry);
  void note_choice(const Entry& entry);
  bool reserves(const Entry& entry) const;
  void reserve(const Entry& entry);
  void fail(Entry& entry, std::string_view reason);     // with the assignment's message
  void give_up(Entry& entry, std::string_view reason);  // parks or blocks
  void try_again(Entry& entry, bool overlaps);          // leaves it awake
  bool let_others_try();
  bool try_those_aside();
  void end_turns_of_others();
  bool scan_moved(Entry& entry);
  bool news(WorkloadId workload, std::uint64_t fingerprint);
  void report(Entry& entry, std::string_view reason, std::size_t victims);
  const std::string& never_fits(Entry& entry);               // to be added to its message; empty: nothing
  std::string words_of_protected(const Entry& entry) const;  // empty: it spares none that it could preempt
  void wait(WorkloadId workload, std::string_view reason, std::string_view text);
  void wait_for_leaving_pods(const Entry& entry);
  void say(Word word);
  void nothing_new(WorkloadId workload);
  bool still_hopeless(const Queue& queue, WorkloadId head) const;
  void report_waits();
  void report_unreported(Queue& queue);
  void moved();
  Tree& tree_of(const Entry& entry) { return state_.tree(state_.ledger.root(entry.queue->node)); }

  SchedulerState& state_;
  Time now_{};
  Decisions* out_ = nullptr;
  Nominator nominator_;
  Tournament tournament_;  // with fair sharing
  std::span<const QuotaNodeId> roots_;
  std::vector<Queue*> all_, live_;  // the queues of the trees, and those with a workload to evaluate
  std::vector<Entry> entries_;      // kept between cycles to reuse memory
  std::vector<std::size_t> order_;
  std::vector<WorkloadId> preempted_;  // in this cycle
  std::vector<Entry*> beaten_;         // in this cycle: they lost to what is held for others
  std::vector<WorkloadId> aside_;      // they lost like that, and those behind them may try for a while
  Usage difference_;                   // of wanted()
  std::vector<Word> words_;            // the last message for each waiting workload
  bool moved_ = false;
  bool moved_after_ = false;     // since somebody was set aside, a workload was admitted or preempted
  bool places_changed_ = false;  // in this cycle, by admissions or holds
};

}  // namespace berth::engine
