// Predictions from a journal: the run times that it holds, and how often its predictions would have held.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "engine/explain/run_history.h"

namespace berth::journal {

// How long the workloads ran that had finished by `until`. `path`: a journal's directory or one of its files. What
// cannot be read is left out. Error: there is no journal.
Result<engine::RunHistory> run_history(const std::string& path, Time until);

struct CalibrationOptions {
  std::size_t moments = 8;     // at which predictions are made; each replays a segment
  std::size_t workloads = 20;  // predicted at each of them, at most
};

// At some moments of the journal, predictions were made for the workloads that waited and later started. They knew
// only what the journal held until then.
struct Calibration {
  std::size_t moments = 0, predictions = 0;
  std::size_t without = 0;  // of the predictions: nothing could be said
  std::size_t by_p50 = 0;   // started by p50, two seconds allowed for writes; half of them should
  std::size_t by_p90 = 0;   // started by p90; nine of ten should
  std::size_t between = 0;  // started from p10 to p90; eight of ten should
  std::size_t exact = 0;    // started at p10 = p90
};
// `directory`: of a journal. Error: there is none, or a segment could not be replayed.
Result<Calibration> calibrate(const std::string& directory, const CalibrationOptions& options = {});

}  // namespace berth::journal
