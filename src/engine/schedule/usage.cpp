// The scheduler and the past usage of local queues: what is charged, and how local queues are compared.
#include <algorithm>
#include <ranges>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

void SchedulerState::book_resources(ResourceId last) {
  for (std::size_t i = booked_resources.size(); i <= last.index(); ++i)
    booked_resources.push_back(book.resource(names.name(ResourceId(i))));
}

[[gnu::flatten]] void SchedulerState::charge(Slot& holder, std::span<const FlavorResourceAmount> amounts,
                                             std::optional<Time> runs_since) {
  if (!book.on()) return;
  const auto charge_of = [this](const FlavorResourceAmount& each) {
    const auto amount = static_cast<std::uint64_t>(std::max<std::int64_t>(each.amount.count(), 0));
    return UsageBook::Charge{booked(names.resource_of(each.id)), amount};
  };
  const AccountId payer = account(holder.local_queue);
  book.charge(holder.use, payer, amounts | std::views::transform(charge_of), runs_since);
  if (payer.valid()) slots.set_score(holder.local_queue, book.score(payer));
}

void SchedulerState::link(LocalQueueId local_queue, AccountId account) {
  if (accounts.size() <= local_queue.index()) accounts.resize(local_queue.index() + 1);
  accounts[local_queue.index()] = account;
  if (payers.size() <= account.index()) payers.resize(account.index() + 1);
  payers[account.index()] = local_queue;
}

void SchedulerState::rank(Queue& queue) {
  for (const AccountId each : book.accounts_in(ledger.name(queue.node)))
    slots.set_score(payers[each.index()], book.score(each));
  queue.pending.rank();
}

void Scheduler::set_time(Time now) { impl_->state.book.set_time(now); }

void Scheduler::set_local_queue(const LocalQueueUsage& queue) {
  SchedulerState& state = impl_->state;
  if (!state.book.on()) return;
  const bool known = state.book.find(queue.local_queue).valid();
  const AccountId account = state.book.open(queue.local_queue, queue.cluster_queue, queue.weight, queue.since);
  const LocalQueueId id =
      known ? state.local_queues.find(queue.local_queue) : state.local_queues.acquire(queue.local_queue);
  state.link(id, account);
  if (queue.past) {
    std::vector<UsageBook::Used> used;
    for (const auto& [resource, quantity] : queue.past->used) {
      const auto amount = static_cast<Wide>(std::max<Quantity::Nano>(quantity.nano_value(), 0));
      used.push_back({state.book.resource(resource), amount});
    }
    state.book.recall(account, std::move(used), queue.past->at);
  }
  state.slots.set_score(id, state.book.score(account));
}

// Workloads that hold quota through it are nobody's use until they are held again.
void Scheduler::remove_local_queue(std::string_view local_queue) {
  SchedulerState& state = impl_->state;
  const AccountId account = state.book.find(local_queue);
  if (!account.valid()) return;
  state.book.close(account);
  const LocalQueueId id = state.local_queues.find(local_queue);
  state.accounts[id.index()] = AccountId();
  state.slots.set_score(id, Score());
  state.local_queues.release(id);
}

void Scheduler::adopt_usage(const Scheduler& former) {
  SchedulerState& state = impl_->state;
  const SchedulerState& other = former.impl_->state;
  if (!state.book.on()) return;
  state.book = other.book;
  for (std::size_t i = 0; i < other.accounts.size(); ++i) {
    if (!other.accounts[i].valid()) continue;
    const LocalQueueId id = state.local_queues.acquire(other.local_queues[LocalQueueId(i)]);
    state.link(id, other.accounts[i]);
    state.slots.set_score(id, other.slots.score(LocalQueueId(i)));
  }
  for (auto& [uid, use] : former.impl_->uses()) impl_->adopted.emplace(std::move(uid), use);
}

// All claims in the book, by the UIDs of their workloads.
std::vector<std::pair<std::string, UseId>> Scheduler::Impl::uses() const {
  std::vector<std::pair<std::string, UseId>> out(adopted.begin(), adopted.end());
  for (std::size_t i = 0; i < state.slots.size(); ++i) {
    const WorkloadId id(i);
    if (state.slots.known(id) && state.slots[id].use.valid())
      out.emplace_back(state.slots[id].who->uid, state.slots[id].use);
  }
  return out;
}

std::vector<UsageRecord> Scheduler::usage_records() const {
  if (!impl_->state.book.on()) return {};
  return impl_->state.book.records(impl_->uses());
}

void Scheduler::recall_usage(const UsageRecord& record) {
  SchedulerState& state = impl_->state;
  if (!state.book.on()) return;
  for (auto& [uid, use] : state.book.restore(record)) {
    if (!impl_->adopted.emplace(uid, use).second) state.book.discharge(use);
  }
  const LocalQueueId id = state.local_queues.find(record.local_queue);
  if (id.valid()) state.slots.set_score(id, state.book.score(state.book.find(record.local_queue)));
}

void Scheduler::end_adoption() {
  for (const auto& [uid, use] : std::exchange(impl_->adopted, {})) {
    UseId ended = use;
    impl_->state.book.discharge(ended);
  }
}

// Time alone may put another workload at the head of a queue. A StrictFIFO queue evaluates nothing behind its head, so
// it must look again; elsewhere all workloads that may fit are evaluated anyway.
void Scheduler::Impl::rank_again() {
  if (!state.book.sample_due()) return;
  for (auto& queue : state.queues) {
    if (queue == nullptr || !queue->pending.by_usage()) continue;
    state.rank(*queue);
    if (queue->config.strict() && queue->pending.head().valid()) mark(*queue);
  }
}

std::vector<std::string> Scheduler::take_usage_samples() {
  std::vector<std::string> out;
  for (const AccountId each : impl_->state.book.take_samples()) out.push_back(impl_->state.book.local_queue(each));
  return out;
}

const UsageBook::Sample* Scheduler::usage_sample(std::string_view local_queue) const {
  const AccountId account = impl_->state.book.find(local_queue);
  return account.valid() ? &impl_->state.book.sample(account) : nullptr;
}

const UsageBook& Scheduler::usage() const { return impl_->state.book; }

}  // namespace berth::engine
