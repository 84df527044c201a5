// The scheduling pass over one tree of cohorts: Kueue's cycles (one head of each queue, nominated against the
// same state, ordered, then processed one by one) repeated until nothing moves (kueue.md 3.1-3.4).
#pragma once

#include <vector>

#include "engine/schedule/decision.h"
#include "engine/schedule/nominate.h"
#include "engine/schedule/state.h"

namespace berth::engine {

class Pass {
 public:
  explicit Pass(State& state) : state_(state), nominator_(state) {}

  // All queues below `root` that have somebody awake. False when it stopped at the bound of cycles and should
  // go on.
  bool run(NodeId root, Time now, Decisions& out);

 private:
  struct Word {
    WorkloadId workload;  // none: taken back
    std::string_view reason;
    std::string_view constant;  // the text, when it is always the same
    std::string text;
    std::uint64_t fingerprint = 0;
  };

  void collect(NodeId node);
  bool cycle();  // true when anything moved
  std::size_t nominate_heads();
  bool before(const Entry& a, const Entry& b) const;
  void process(Entry& entry);

  bool overlaps(const Entry& entry) const;
  bool fits(const Entry& entry);
  void recompute_without_victims(Entry& entry);
  void admit(Entry& entry);
  void preempt(Entry& entry);
  void reserve(const Entry& entry);
  void fail(Entry& entry, std::string_view reason);     // with the assignment's message
  void give_up(Entry& entry, std::string_view reason);  // parks or blocks
  void try_again(Entry& entry);                         // stays awake
  bool scan_moved(Entry& entry);
  bool news(WorkloadId workload, std::uint64_t fingerprint);
  void wait(WorkloadId workload, std::string_view reason, std::string_view text);
  void say(Word word);
  void nothing_new(WorkloadId workload);
  bool still_hopeless(const Queue& queue, WorkloadId head) const;
  std::string message_of(const Entry& entry) const;
  std::string preemption_message(const Entry& entry, const Target& target) const;
  void tell_waits();
  void tell_untold(Queue& queue);
  void moved();

  State& state_;
  Time now_{};
  Decisions* out_ = nullptr;
  Nominator nominator_;
  Tree* tree_ = nullptr;
  std::vector<Queue*> all_, live_;  // of the tree; with somebody to evaluate
  std::vector<Entry> entries_;      // kept between cycles for their memory
  std::vector<std::size_t> order_;
  std::vector<WorkloadId> preempted_;  // in this cycle
  std::vector<Word> words_;            // the last one for each workload that waits
  bool moved_ = false;
};

}  // namespace berth::engine
