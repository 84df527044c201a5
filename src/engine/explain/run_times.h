// How long workloads run in futures that are played: drawn from what similar ones took, and at most their maximum.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/workload_ref.h"
#include "base/time.h"
#include "engine/explain/run_history.h"

namespace berth::engine {

class RunTimes {
 public:
  // `futures`: a prime number. `history` must outlive it.
  RunTimes(const RunHistory& history, int futures) : history_(history), futures_(static_cast<std::uint64_t>(futures)) {}

  struct Drawn {
    std::optional<Duration> time;  // from the admission on; nullopt: nothing is known
    std::string_view basis;        // what the time rests on
  };
  // A workload that runs now, since `elapsed`: it is one that runs for longer than that, which finished ones alone do
  // not show. Before the first draw.
  void note_running(const api::kueue::WorkloadRef& workload, Duration elapsed);

  // `elapsed`: since its admission. The times of one workload in all futures together are spread as those of the
  // history; different workloads do not run long in the same futures. `like`: the UID of a workload with the same
  // queue, kind and requests, about which this may have been asked before.
  Drawn draw(const api::kueue::WorkloadRef& workload, Duration elapsed, int future, const std::string& like);

  const RunHistory& history() const { return history_; }
  bool varied() const { return varied_; }  // a time that was drawn differs between the futures

 private:
  struct Known {
    RunHistory::Times times;
    int future = -1;              // of `drawn`
    std::vector<Duration> drawn;  // the times of one future, in order
  };
  Known& times_of(const api::kueue::WorkloadRef& workload, const std::string& like);
  void draw_all(Known& known, int future) const;
  std::uint64_t stratum(const std::string& uid, int future) const;

  const RunHistory& history_;
  const std::uint64_t futures_;
  std::map<std::string, Known> known_;                    // by UID
  std::map<std::string, std::vector<Duration>> running_;  // by the name of the group
  bool varied_ = false;
};

}  // namespace berth::engine
