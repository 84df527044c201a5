// Messages: status writes that only say why a workload waits. They are written when decisions leave time (WriteBudget).
// The local queues take turns, and in each the oldest message goes first: nobody waits behind the thousands of another.
// Beside them go first messages about new workloads, also by turns, the newest first.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "engine/tracked.h"
#include "engine/write_budget.h"

namespace berth::engine {

class Messages {
 public:
  Messages() = default;
  // A copy about the same workloads of `workloads`, which is a copy of the other's.
  Messages(const Messages& other, TrackedWorkloads& workloads);

  // The workload has a message; it keeps its turn when it had one already.
  void report_later(Tracked& t, Time now);
  void reported(Tracked& t);  // no message about it is waiting any more
  bool waiting() const { return !turns_.empty(); }
  // Whether a message about this workload must wait for its turn now.
  bool must_wait(const Tracked& t, Time now);
  // What a message about it would be.
  static WriteKind kind_of(const Tracked& t, Time now);
  // The workload whose turn it is now, as told(), and what the message about it is; nullptr: none.
  std::pair<Tracked*, WriteKind> take_next(Time now);
  // The earliest time at which a waiting message may be written, unless a write settles before.
  Time next_time(Time now) { return write_budget_.next(now); }

  // Call when a write begins and when it settles.
  void write_began(WriteKind kind, Time now) { write_budget_.began(kind, now); }
  void write_settled(WriteKind kind, Time now) { write_budget_.settled(kind, now); }

 private:
  // A message is a first one for this long. Then it waits with the others, which are more.
  static constexpr Duration kFresh = std::chrono::seconds(2);

  using Turn = std::pair<Time, Tracked*>;  // when the message came
  struct Earlier {                         // equal times: by key
    bool operator()(const Turn& a, const Turn& b) const {
      return a.first != b.first ? a.first < b.first : a.second->key < b.second->key;
    }
  };
  struct Later {  // equal times: by key
    bool operator()(const Turn& a, const Turn& b) const {
      return a.first != b.first ? a.first > b.first : a.second->key < b.second->key;
    }
  };
  // The messages of one local queue.
  struct Line {
    std::set<Turn, Earlier> all;
    std::set<Turn, Later> fresh;  // those of `all` that were first ones when they came
    std::uint64_t turn = 0, fresh_turn = 0;
  };
  using Turns = std::map<std::uint64_t, const std::string*>;  // local queues by their turn

  void enter(Tracked& t, Time since, bool fresh);
  Tracked* take_fresh(Time now);
  Tracked* take_oldest();

  WriteBudget write_budget_;
  std::map<std::string, Line> lines_;  // by the key of the local queue; only those with messages
  Turns turns_, fresh_turns_;          // of all lines, and of those with first messages
  std::uint64_t last_turn_ = 0;
};

}  // namespace berth::engine
