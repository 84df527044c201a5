#include "engine/held_sums.h"

#include <algorithm>
#include <limits>

namespace berth::engine {

namespace {

auto find_total(std::vector<HeldSums::Total>& totals, const Holding::Amount& amount) {
  return std::ranges::find_if(totals, [&](const HeldSums::Total& each) {
    return each.resource == amount.resource && each.flavor == amount.flavor;
  });
}

}  // namespace

void HeldSums::add(const std::string& queue, const HeldAmounts& held) {
  if (queue.empty()) return;
  OfQueue& sums = queues_[queue];
  ++sums.reserving;
  sums.admitted += held.admitted ? 1 : 0;
  for (const auto& each : held.amounts) {
    auto total = find_total(sums.totals, each);
    if (total == sums.totals.end()) total = sums.totals.insert(total, {each.flavor, each.resource});
    total->reserved += each.amount.count();
    total->used += held.admitted ? each.amount.count() : 0;
    ++total->holders;
  }
}

void HeldSums::subtract(const std::string& queue, const HeldAmounts& held) {
  const auto at = queues_.find(queue);
  if (at == queues_.end()) return;
  OfQueue& sums = at->second;
  sums.admitted -= held.admitted ? 1 : 0;
  for (const auto& each : held.amounts) {
    const auto total = find_total(sums.totals, each);
    total->reserved -= each.amount.count();
    total->used -= held.admitted ? each.amount.count() : 0;
    if (--total->holders == 0) sums.totals.erase(total);
  }
  if (--sums.reserving == 0) queues_.erase(at);
}

const HeldSums::OfQueue& HeldSums::of(std::string_view queue) const {
  static const OfQueue kNone;
  const auto it = queues_.find(queue);
  return it == queues_.end() ? kNone : it->second;
}

bool HeldSums::same(const OfQueue& a, const OfQueue& b) {
  const auto equal = [](const Total& x, const Total& y) {
    return x.flavor == y.flavor && x.resource == y.resource && x.reserved == y.reserved && x.used == y.used;
  };
  return a.reserving == b.reserving && a.admitted == b.admitted &&
         std::ranges::is_permutation(a.totals, b.totals, equal);
}

namespace {

template <typename Visit>
void for_each_request(const std::vector<PodSetRequest>& pod_sets, Visit visit) {
  for (const auto& pod_set : pod_sets) {
    for (const auto& [resource, quantity] : pod_set.counted ? *pod_set.counted : pod_set.per_pod)
      visit(resource, HeldSums::Sum{to_amount(resource, quantity).count()} * pod_set.count);
  }
}

}  // namespace

void AskedSums::add(const std::string& queue, const std::vector<PodSetRequest>& pod_sets) {
  if (queue.empty()) return;
  OfQueue& totals = queues_[queue];
  for_each_request(pod_sets, [&](const std::string& resource, HeldSums::Sum amount) {
    Total& total = totals[resource];
    total.sum += amount;
    ++total.workloads;
  });
}

void AskedSums::subtract(const std::string& queue, const std::vector<PodSetRequest>& pod_sets) {
  const auto at = queues_.find(queue);
  if (at == queues_.end()) return;
  for_each_request(pod_sets, [&](const std::string& resource, HeldSums::Sum amount) {
    const auto total = at->second.find(resource);
    total->second.sum -= amount;
    if (--total->second.workloads == 0) at->second.erase(total);
  });
  if (at->second.empty()) queues_.erase(at);
}

const AskedSums::OfQueue& AskedSums::of(std::string_view queue) const {
  static const OfQueue kNone;
  const auto it = queues_.find(queue);
  return it == queues_.end() ? kNone : it->second;
}

Amount to_amount(HeldSums::Sum sum) {
  constexpr HeldSums::Sum kMost = std::numeric_limits<std::int64_t>::max(),
                          kLeast = std::numeric_limits<std::int64_t>::min();
  return Amount::of(static_cast<std::int64_t>(std::clamp(sum, kLeast, kMost)));
}

}  // namespace berth::engine
