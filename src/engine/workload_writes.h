// Versions of workloads: what the API holds, what was decided, and the writes between the two.
//
// At most one write per workload is in flight. Until it settles, quota stays claimed if the status before or after
// the write holds it: so an unknown outcome can never let two workloads use the same quota.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/census.h"
#include "engine/effects.h"
#include "engine/events.h"
#include "engine/messages.h"
#include "engine/tracked.h"

namespace berth::engine {

class WorkloadWrites {
 public:
  WorkloadWrites(TrackedWorkloads& workloads, Census& census, Messages& messages)
      : workloads_(workloads), census_(census), messages_(messages) {}
  // A copy about the same workloads of `workloads`, which is a copy of the other's.
  WorkloadWrites(const WorkloadWrites& other, TrackedWorkloads& workloads, Census& census, Messages& messages);

  // Another client's version, or the echo of a write. An older version than the one known, or one that comes while a
  // write is in flight, is kept until the write settles or dropped.
  void see(Tracked& t, const Ptr<api::kueue::Workload>& seen);
  void accept(Tracked& t, const Ptr<api::kueue::Workload>& seen);
  // The outcome of a write. Returns its workload when it does not exist any more, else nullptr.
  Tracked* settle(const WriteSettled& outcome, Time now, Effects& out);
  void forget(Tracked& t, Time now);

  // The workload may have something to write: flush() it at the end of the pass.
  void want(Tracked& t) { wanted_.insert(&t); }
  TrackedWorkloads::Set take_wanted() { return std::exchange(wanted_, {}); }
  // Writes what was decided, unless the workload is busy. Messages wait for their turn; `its_turn`: it came, for a
  // message of this kind.
  void flush(Tracked& t, Time now, Effects& out, std::optional<WriteKind> its_turn = std::nullopt);
  void stop_awaiting(Tracked& t, Time now);

  // No write may start now: one is in flight, or a version or a retry time is awaited.
  static bool busy(const Tracked& t, Time now);
  // Nothing is decided that the API may or may not hold already.
  static bool settled(const Tracked& t);

  bool any_in_flight() const { return !in_flight_.empty(); }
  const std::map<std::uint64_t, Tracked*>& in_flight() const { return in_flight_; }  // by number

 private:
  void done(Tracked& t, const InFlight& write, const std::string& version, Time now, Effects& out);
  void conflicted(Tracked& t, Time now);
  void failed(Tracked& t, Time now);
  void await(Tracked& t, const std::string& version, bool newer, Time now);
  void begin(Tracked& t, WriteKind kind, bool changed, Effects& out);

  TrackedWorkloads& workloads_;
  Census& census_;
  Messages& messages_;
  std::map<std::uint64_t, Tracked*> in_flight_;  // by number
  std::uint64_t last_write_ = 0;
  TrackedWorkloads::Set wanted_;  // workloads that may have something to write
};

}  // namespace berth::engine
