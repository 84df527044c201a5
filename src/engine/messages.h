// Messages: status writes that only say why a workload waits. They are written when decisions leave time (Leisure),
// the oldest first.
#pragma once

#include <set>
#include <utility>

#include "base/time.h"
#include "engine/leisure.h"
#include "engine/tracked.h"

namespace berth::engine {

class Messages {
 public:
  Messages() = default;
  // A copy about the same workloads of `workloads`, which is a copy of the other's.
  Messages(const Messages& other, TrackedWorkloads& workloads);

  // The workload has a message; it keeps its turn when it had one already.
  void tell_later(Tracked& t, Time now);
  void told(Tracked& t);  // no message about it is waiting any more
  bool waiting() const { return !untold_.empty(); }
  // Whether a message must wait for its turn now.
  bool must_wait(Time now) { return waiting() || !leisure_.may(now); }
  // The workload whose turn it is now, as told(); nullptr: none.
  Tracked* take_next(Time now);
  // The earliest time at which a waiting message may be written, unless a write settles before.
  Time next_time(Time now) { return leisure_.next(now); }

  // Call when a write begins and when it settles. `message`: it is only a message.
  void write_began(bool message, Time now) { leisure_.began(message, now); }
  void write_settled(bool message, Time now) { leisure_.settled(message, now); }

 private:
  using Turn = std::pair<Time, Tracked*>;  // when the message came
  struct Earlier {                         // equal times: by key
    bool operator()(const Turn& a, const Turn& b) const {
      return a.first != b.first ? a.first < b.first : a.second->key < b.second->key;
    }
  };

  Leisure leisure_;
  std::set<Turn, Earlier> untold_;
};

}  // namespace berth::engine
