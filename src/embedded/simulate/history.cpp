#include "embedded/simulate/history.h"

#include <algorithm>
#include <tuple>

namespace berth::simulate {

void History::add(PhaseChange change) {
  if (changes.size() == kMostChanges) {
    complete = false;
    return;
  }
  changes.push_back(std::move(change));
}

void History::add(NominalChange change) {
  if (nominal.size() == kMostChanges) {
    complete = false;
    return;
  }
  if (!nominal.empty() && nominal.back().when == change.when) nominal.pop_back();
  nominal.push_back(std::move(change));
}

Periods::Periods(Time start, Time end, std::size_t count)
    : start_(start), end_(std::max(end, start + Duration(1))), count_(std::max<std::size_t>(count, 1)) {}

Time Periods::begin(std::size_t period) const {
  const double part = static_cast<double>(period) / static_cast<double>(count_);
  return start_ + std::chrono::duration_cast<Duration>((end_ - start_) * part);
}

void Periods::add(std::vector<double>& averages, Time from, Time to, double amount) const {
  const double length = in_seconds(end_ - start_) / static_cast<double>(count_);
  const double first = std::max(0.0, in_seconds(from - start_) / length);
  const double last = std::min(static_cast<double>(count_), in_seconds(to - start_) / length);
  for (auto i = static_cast<std::size_t>(first); i < count_ && static_cast<double>(i) < last; ++i) {
    const double begins = std::max(first, static_cast<double>(i)), ends = std::min(last, static_cast<double>(i + 1));
    averages[i] += amount * (ends - begins);
  }
}

std::vector<Stay> stays(const History& history, Time end) {
  std::vector<Stay> out;
  out.reserve(history.changes.size());
  for (const auto& change : history.changes) out.push_back({change.workload, change.phase, change.when, end, &change});
  std::ranges::stable_sort(out, {}, &Stay::workload);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i].workload == out[i + 1].workload) out[i].to = out[i + 1].from;
  }
  std::erase_if(out, [](const Stay& stay) { return stay.phase == Phase::kGone; });
  return out;
}

std::vector<QueueShare> queue_shares(const History& history, Time end, const std::vector<std::string>& queue_of) {
  using Key = std::tuple<std::string, std::string, std::string>;  // ClusterQueue, resource, LocalQueue
  std::map<Key, double> used;
  std::map<std::pair<std::string, std::string>, double> all;
  for (const Stay& stay : stays(history, end)) {
    if (stay.workload >= queue_of.size()) continue;
    for (const auto& [what, amount] : stay.change->usage) {
      const double seconds = static_cast<double>(amount.count()) * in_seconds(stay.to - stay.from);
      used[{stay.change->cluster_queue, what.second, queue_of[stay.workload]}] += seconds;
      all[{stay.change->cluster_queue, what.second}] += seconds;
    }
  }
  std::vector<QueueShare> out;
  for (const auto& [key, seconds] : used) {
    const auto& [cluster_queue, resource, local_queue] = key;
    const double total = all[{cluster_queue, resource}];
    out.push_back({cluster_queue, local_queue, resource, seconds, total > 0 ? seconds / total : 0});
  }
  return out;
}

}  // namespace berth::simulate
