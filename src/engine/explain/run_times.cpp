#include "engine/explain/run_times.h"

#include <algorithm>

#include "base/json.h"

namespace berth::engine {
namespace {

using api::kueue::WorkloadRef;

constexpr std::string_view kAsLongAgain =
    "assumed to run for as long again in half of the futures: it already runs longer than all similar workloads";

// The most that a workload may run from its admission on; nullopt: there is no limit. Pods have deadlines, too.
std::optional<Duration> limit_of(const WorkloadRef& w, std::string_view& what) {
  std::optional<Duration> most;
  if (w.maximum_execution_time_seconds) {
    const std::int64_t past = w.status.accumulated_past_execution_time_seconds.value_or(0);
    most = std::chrono::seconds(std::max<std::int64_t>(0, *w.maximum_execution_time_seconds - past));
    what = "its maximum execution time";
  }
  std::int64_t deadline = 0;
  for (const auto& pod_set : w.pod_sets) {
    const std::int64_t seconds =
        pod_set.template_ ? int_at(*pod_set.template_, {"spec", "activeDeadlineSeconds"}, 0) : 0;
    if (seconds <= 0) return most;
    deadline = std::max(deadline, seconds);
  }
  constexpr std::int64_t kMost = 1'000'000'000;
  if (deadline > 0 && (!most || std::chrono::seconds(std::min(deadline, kMost)) < *most)) {
    most = std::chrono::seconds(std::min(deadline, kMost));
    what = "the deadline of its pods";
  }
  return most;
}

std::string_view words_of(RunGroup group) {
  switch (group) {
    case RunGroup::kShape:
      return "finished workloads of the same LocalQueue, kind and requests";
    case RunGroup::kKind:
      return "finished workloads of the same LocalQueue and kind";
    case RunGroup::kLocalQueue:
      return "finished workloads of the same LocalQueue";
    case RunGroup::kAll:
      break;
  }
  return "all finished workloads";
}

}  // namespace

void RunTimes::note_running(const WorkloadRef& w, Duration elapsed) {
  const Known& known = times_of(w, w.meta.uid);
  if (!known.times.sorted.empty()) running_[known.times.name].push_back(elapsed);
}

RunTimes::Drawn RunTimes::draw(const WorkloadRef& w, Duration elapsed, int future, const std::string& like) {
  Drawn out;
  const auto most = limit_of(w, out.basis);
  Known& known = times_of(w, like);
  const auto& finished = known.times.sorted;
  if (finished.empty()) {
    out.time = most;
    return out;
  }
  if (known.future != future) draw_all(known, future);
  const std::uint64_t place = stratum(w.meta.uid, future);
  Duration time{}, longest{};
  if (finished.back() <= elapsed) {
    // In a tenth of the futures it runs for another tenth of that time, in half of them for as long again.
    time = elapsed * static_cast<std::int64_t>(2 * futures_) / static_cast<std::int64_t>(2 * (futures_ - place) - 1);
    longest = most ? *most : Duration::max();
    if (!most || time < *most) out.basis = kAsLongAgain;
    varied_ = varied_ || longest > elapsed;
  } else {
    const auto& times = known.drawn.back() > elapsed ? known.drawn : finished;
    const auto first = std::ranges::upper_bound(times, elapsed);
    const auto count = static_cast<std::uint64_t>(times.end() - first);
    time = first[static_cast<std::ptrdiff_t>(place * count / futures_)];
    const Duration shortest = std::max(finished.front(), elapsed);
    longest = most ? std::min(finished.back(), *most) : finished.back();
    if (!most || shortest < *most) out.basis = words_of(known.times.group);
    varied_ = varied_ || shortest < longest;
  }
  out.time = most ? std::min(time, *most) : time;
  return out;
}

RunTimes::Known& RunTimes::times_of(const WorkloadRef& w, const std::string& like) {
  const auto [it, fresh] = known_.try_emplace(like);
  if (fresh) it->second.times = history_.times_of(w);
  return it->second;
}

// The next workloads run as long as some of the known ones, but which of them are typical is not known either: each
// future takes its own, some of them several times. One time is longer than all that were seen.
void RunTimes::draw_all(Known& known, int future) const {
  known.future = future;
  known.drawn.clear();
  std::vector<Duration> all = known.times.sorted;
  const std::string seed = known.times.name + "/" + std::to_string(future) + "/";
  if (all.front() != all.back()) all.push_back(all.back() + all.back() / 2);
  const auto& finished = known.times.sorted;
  if (const auto running = running_.find(known.times.name); running != running_.end()) {
    for (const Duration elapsed : running->second) {
      const auto longer = std::ranges::upper_bound(finished, elapsed);
      const auto count = static_cast<std::uint64_t>(finished.end() - longer);
      if (count > 0) {
        all.push_back(longer[static_cast<std::ptrdiff_t>(spread(seed + std::to_string(all.size()) + "r") % count)]);
      } else {
        all.push_back(2 * elapsed);
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    known.drawn.push_back(all[spread(seed + std::to_string(i)) % all.size()]);
  std::ranges::sort(known.drawn);
}

// A permutation of the futures for each workload.
std::uint64_t RunTimes::stratum(const std::string& uid, int future) const {
  if (futures_ < 2) return 0;
  const std::uint64_t number = spread(uid), step = 1 + number % (futures_ - 1);
  return (step * static_cast<std::uint64_t>(future) + (number >> 32) % futures_) % futures_;
}

}  // namespace berth::engine
