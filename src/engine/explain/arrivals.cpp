#include "engine/explain/arrivals.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "engine/explain/rehearsal.h"
#include "engine/explain/run_history.h"

namespace berth::engine {
namespace {

using api::kueue::Workload;
using api::kueue::WorkloadRef;

constexpr std::size_t kMostCounted = 16'384;  // UIDs that are remembered

Workload as_submitted(const WorkloadRef& w) {
  Workload out;
  out.meta.name = w.meta.name;
  out.meta.ns = w.meta.ns;
  out.meta.uid = w.meta.uid;
  out.meta.creation = w.meta.creation;
  out.meta.generation = 1;
  out.meta.owners = w.meta.owners;
  out.pod_sets = w.pod_sets;
  out.queue_name = w.queue_name;
  out.priority_class_ref = w.priority_class_ref;
  out.priority = w.priority;
  out.maximum_execution_time_seconds = w.maximum_execution_time_seconds;
  return out;
}

bool older(const Ptr<Workload>& a, const Ptr<Workload>& b) {
  return std::tie(a->meta.creation, a->meta.uid) < std::tie(b->meta.creation, b->meta.uid);
}

}  // namespace

void ArrivalHistory::see(const WorkloadRef& w) {
  const std::uint64_t uid = spread(w.meta.uid);
  if (counted_.contains(uid)) return;
  counted_.insert(uid);
  counted_order_.push_back(uid);
  if (counted_order_.size() > kMostCounted) {
    counted_.erase(counted_order_.front());
    counted_order_.pop_front();
  }
  if (w.queue_name.empty() || w.meta.annotations.contains(std::string(api::kueue::kSliceReplacementFor))) return;
  Queue& queue = queues_[api::object_key(w.meta.ns, w.queue_name)];
  auto arrived = std::make_shared<const Workload>(as_submitted(w));
  if (queue.size() == kMostOfQueue) {
    if (older(arrived, queue.front())) return;
    queue.erase(queue.begin());
  }
  queue.insert(std::ranges::upper_bound(queue, arrived, older), std::move(arrived));
  if (queues_.size() > kMostQueues) forget_old_queues();
}

void ArrivalHistory::forget_queue(std::string_view ns, std::string_view name) {
  queues_.erase(api::object_key(ns, name));
}

void ArrivalHistory::forget_old_queues() {
  std::vector<Time> last;
  for (const auto& [name, queue] : queues_) last.push_back(queue.back()->meta.creation);
  const auto quarter = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 4);
  std::ranges::nth_element(last, quarter);
  std::erase_if(queues_, [limit = *quarter](const auto& entry) { return entry.second.back()->meta.creation <= limit; });
}

Arrivals::Arrivals(const ArrivalHistory& history, Time now, int future) : future_(future) {
  for (const auto& [name, seen] : history.queues()) {
    if (seen.size() < ArrivalHistory::kEnough) continue;
    Stream stream;
    stream.seen = &seen;
    for (std::size_t i = 1; i < seen.size(); ++i)
      stream.gaps.push_back(std::max(Duration(), seen[i]->meta.creation - seen[i - 1]->meta.creation));
    // The present gap is at least as long as this.
    stream.gaps.push_back(std::max(Duration(), now - seen.back()->meta.creation));
    // How fast they come is not known exactly: each future takes its own gaps, some of them several times.
    const auto gaps = stream.gaps;
    for (std::size_t i = 0; i < gaps.size(); ++i)
      stream.gaps[i] = gaps[spread(name + "/" + std::to_string(future) + "/gap/" + std::to_string(i)) % gaps.size()];
    if (std::ranges::all_of(stream.gaps, [](Duration gap) { return gap <= Duration(); })) continue;
    stream.next = now + gap(name, stream);
    streams_.emplace(name, std::move(stream));
  }
}

Duration Arrivals::gap(const std::string& queue, Stream& stream) const {
  const auto number = spread(queue + "/" + std::to_string(future_) + "/" + std::to_string(stream.number));
  return stream.gaps[number % stream.gaps.size()];
}

std::optional<Time> Arrivals::next() const {
  std::optional<Time> out;
  for (const auto& [name, stream] : streams_) out = out ? std::min(*out, stream.next) : stream.next;
  return out;
}

Arrivals::Arrival Arrivals::take() {
  const auto first = std::ranges::min_element(streams_, {}, [](const auto& each) { return each.second.next; });
  auto& [name, stream] = *first;
  ++stream.number;
  const std::string unique = name + "/arrival/" + std::to_string(future_) + "/" + std::to_string(stream.number);
  const Ptr<Workload>& like = (*stream.seen)[spread(unique) % stream.seen->size()];
  Arrival out{*like, like.get()};
  out.workload.meta.uid = unique;
  out.workload.meta.name = like->meta.name + "-arrival-" + std::to_string(stream.number);
  out.workload.meta.creation = stream.next;
  out.workload.meta.resource_version = std::to_string(Rehearsal::kNewest);
  stream.next += gap(name, stream);
  return out;
}

std::vector<std::string> Arrivals::queues() const {
  std::vector<std::string> out;
  for (const auto& [name, stream] : streams_) out.push_back(name);
  return out;
}

}  // namespace berth::engine
