#include "journal/predictions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <variant>
#include <vector>

#include "engine/explain/predict.h"
#include "journal/reader.h"
#include "journal/replay.h"
#include "journal/segment_files.h"
#include "journal/strips.h"

namespace berth::journal {
namespace {

constexpr Duration kOfWrites = std::chrono::seconds(2);  // between a decision and the times in the API
constexpr std::size_t kPredictionSteps = 20'000;

void read_runs(const std::string& file, Time until, engine::RunHistory& history) {
  std::ifstream in(file, std::ios::binary);
  SegmentReader reader(in, file);
  const auto header = reader.open();
  if (!header || !*header) return;
  for (auto record = reader.next(); record && *record != nullptr && (*record)->now <= until; record = reader.next()) {
    if ((*record)->kind != Record::Kind::kEvent) continue;
    history.note((*record)->event);
  }
}

// When a workload first waited for long enough to be asked about, and when it started.
struct Wait {
  std::string key;
  Time from{}, to{};
  Time middle() const { return from + (to - from) / 2; }
};

Result<std::vector<Wait>> waits_in(const std::string& directory) {
  StripReader reader(directory);
  StripQuestion question;
  question.to = Time::max();
  for (;;) {
    const auto answer = reader.ask(question);
    if (!answer) return tl::unexpected(answer.error());
    if (!*answer) continue;
    std::vector<Wait> out;
    for (const Strip& strip : (*answer)->strips) {
      for (std::size_t i = 0; i + 1 < strip.spans.size(); ++i) {
        const StripSpan& span = strip.spans[i];
        const bool started = strip.spans[i + 1].state == StripSpan::State::kAdmitted;
        if (span.state != StripSpan::State::kWaiting || !started || *span.to - span.from < kOfWrites) continue;
        out.push_back({strip.ns + "/" + strip.name, std::max(span.from, (*answer)->kept_from), *span.to});
      }
    }
    std::ranges::sort(out, {}, &Wait::middle);
    return out;
  }
}

Result<void> predict_at(const std::string& directory, Time moment, const std::vector<Wait>& waits,
                        const CalibrationOptions& options, Calibration& out) {
  const auto replayed = replay_until(directory, moment);
  if (!replayed) return tl::unexpected(replayed.error());
  const auto history = run_history(directory, moment);
  if (!history) return tl::unexpected(history.error());
  std::vector<std::string> keys;
  std::map<std::string, Time> started;
  for (const Wait& wait : waits) {
    if (wait.from > moment || wait.to <= moment || keys.size() == options.workloads) continue;
    if (started.emplace(wait.key, wait.to).second) keys.push_back(wait.key);
  }
  engine::PredictLimits limits;
  limits.steps = kPredictionSteps;
  ++out.moments;
  for (const auto& p : engine::predict(*replayed->engine, *history, moment, keys, limits)) {
    if (!p.found || p.admitted) continue;
    ++out.predictions;
    const Time came = started.at(p.ns + "/" + p.name);
    if (!p.p10 && !p.p50 && !p.p90) {
      ++out.without;
      continue;
    }
    // Later than any known time is a statement, too.
    const auto by = [&](const std::optional<Time>& time) { return !time || came <= *time + kOfWrites; };
    out.by_p50 += by(p.p50) ? 1 : 0;
    out.by_p90 += by(p.p90) ? 1 : 0;
    out.between += by(p.p90) && p.p10 && came >= *p.p10 - kOfWrites ? 1 : 0;
    out.exact += p.p90 && p.p10 == p.p90 && by(p.p90) && came >= *p.p10 - kOfWrites ? 1 : 0;
  }
  return {};
}

}  // namespace

Result<engine::RunHistory> run_history(const std::string& path, Time until) {
  std::error_code error;
  engine::RunHistory out;
  if (std::filesystem::is_regular_file(path, error)) {
    read_runs(path, until, out);
    return out;
  }
  const auto segments = list_segments(path);
  if (!segments) return tl::unexpected(segments.error());
  for (const auto& segment : *segments) {
    if (segment.began <= until) read_runs(segment.path, until, out);
  }
  return out;
}

Result<Calibration> calibrate(const std::string& directory, const CalibrationOptions& options) {
  const auto waits = waits_in(directory);
  if (!waits) return tl::unexpected(waits.error());
  Calibration out;
  const std::size_t moments = std::min(options.moments, waits->size());
  for (std::size_t i = 0; i < moments; ++i) {
    const Time moment = (*waits)[(2 * i + 1) * waits->size() / (2 * moments)].middle();
    if (auto done = predict_at(directory, moment, *waits, options, out); !done) return tl::unexpected(done.error());
  }
  return out;
}

}  // namespace berth::journal
