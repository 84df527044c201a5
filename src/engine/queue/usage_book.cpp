#include "engine/queue/usage_book.h"

#include <algorithm>
#include <limits>

#include "base/amount.h"

namespace berth::engine {

namespace {

// However short the sampling interval is, samples are not taken more often than this.
constexpr Duration kLeastInterval = std::chrono::seconds(1);

}  // namespace

Quantity to_quantity(const Score& score) {
  return Quantity::of_nano(static_cast<Quantity::Nano>(score.value >> Score::kFractionBits));
}

void UsageBook::add_to(std::vector<Used>& used, const Used& more) {
  const auto it = std::ranges::lower_bound(used, more.resource, {}, &Used::resource);
  if (it != used.end() && it->resource == more.resource) {
    it->amount = sum_of(it->amount, more.amount);
  } else {
    used.insert(it, more);
  }
}

UsageBook::UsageBook(const api::config::AdmissionFairSharing& rules)
    : on_(rules.enabled), half_life_(rules.half_life), interval_(rules.sampling_interval) {
  for (const auto& [name, weight] : rules.resource_weights) weights_[name] = weight.fraction();
  if (half_life_ > Duration(0)) first_interval_ = faded(interval_, half_life_);
}

UsageBook::Resource UsageBook::resource(std::string_view name) {
  if (const auto it = resource_ids_.find(name); it != resource_ids_.end()) return it->second;
  const auto id = static_cast<Resource>(resources_.size());
  const auto weight = weights_.find(name);
  const std::uint64_t billionths = name == "cpu" ? 1'000'000 : 1'000'000'000;
  resources_.push_back(
      {std::string(name), billionths, weight == weights_.end() ? Quantity::Fraction{1, 1} : weight->second});
  resource_ids_.emplace(name, id);
  return id;
}

// --- Local queues.

AccountId UsageBook::open(std::string_view local_queue, std::string_view cluster_queue, Quantity::Fraction weight,
                          Time since) {
  if (const AccountId known = find(local_queue); known.valid()) {
    Account& account = accounts_[known.index()];
    if (account.cluster_queue == cluster_queue) {
      if (account.weight != weight) note_change(known);
      account.weight = weight;
      return known;
    }
    close(known);
  }
  AccountId id(accounts_.size());
  if (free_accounts_.empty()) {
    accounts_.emplace_back();
  } else {
    id = free_accounts_.back();
    free_accounts_.pop_back();
  }
  Account& account = accounts_[id.index()];
  account.in_use = true;
  account.local_queue = local_queue;
  account.cluster_queue = cluster_queue;
  account.weight = weight;
  account.since = std::min(since, now_);
  account.at = account.sample.at = now_;
  by_local_queue_.emplace(local_queue, id);
  const std::size_t next = free_pools_.empty() ? pools_.size() : free_pools_.back();
  const auto [pool, created] = by_cluster_queue_.try_emplace(account.cluster_queue, next);
  if (created && next == pools_.size()) {
    pools_.emplace_back();
  } else if (created) {
    free_pools_.pop_back();
  }
  account.pool = pool->second;
  pools_[account.pool].accounts.push_back(id);
  note_change(id);
  return id;
}

void UsageBook::recall(AccountId id, std::vector<Used> used, Time at) {
  Account& account = accounts_[id.index()];
  at = std::min(at, now_);
  bring_up(account);
  account.since = at;
  account.settled_at.reset();
  for (Line& line : account.lines) line.value = 0;
  std::vector<Used> sample;
  for (const Used& each : used) {
    const Wide amount = std::min(each.amount, kMostUnits * resources_[each.resource].billionths);
    add_to(sample, {each.resource, amount});
    if (half_life_ > Duration(0)) line_of(account, each.resource).value = amount << kFractionBits;
  }
  if (account.claims > 0) {
    count_since(id, at);
  } else {
    account.at = at;  // the claims of then are still to come
  }
  account.sample = {std::move(sample), at, score(id)};
  note_change(id);
}

void UsageBook::close(AccountId id) {
  Account& account = accounts_[id.index()];
  if (account.claims > 0) for_each_claim(claims_, id, [](Claim& claim) { claim.account = AccountId(); });
  by_local_queue_.erase(account.local_queue);
  Pool& pool = pools_[account.pool];
  std::erase(pool.accounts, id);
  if (pool.accounts.empty()) {
    pool.used.clear();
    by_cluster_queue_.erase(account.cluster_queue);
    free_pools_.push_back(account.pool);
  }
  if (account.due) due_.erase({*account.due, id});
  if (account.changed) std::erase(changed_, id);
  account = Account();
  free_accounts_.push_back(id);
}

AccountId UsageBook::find(std::string_view local_queue) const {
  const auto it = by_local_queue_.find(local_queue);
  return it == by_local_queue_.end() ? AccountId() : it->second;
}

std::span<const AccountId> UsageBook::accounts_in(std::string_view cluster_queue) const {
  const auto it = by_cluster_queue_.find(cluster_queue);
  return it == by_cluster_queue_.end() ? std::span<const AccountId>() : pools_[it->second].accounts;
}

// --- Samples.

void UsageBook::note_use(Account& account, Resource resource) {
  Pool& pool = pools_[account.pool];
  const auto it = std::ranges::lower_bound(pool.used, resource);
  if (it != pool.used.end() && *it == resource) return;
  pool.used.insert(it, resource);
  for (const AccountId each : pool.accounts) note_change(each);
}

void UsageBook::note_change(AccountId id) {
  if (!std::exchange(accounts_[id.index()].changed, true)) changed_.push_back(id);
}

void UsageBook::note_claims(AccountId id) {
  accounts_[id.index()].other_claims = true;
  note_change(id);
}

std::optional<Time> UsageBook::next_sample() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

std::vector<UsageBook::Used> UsageBook::shown(const Account& account) const {
  std::vector<Used> out;
  if (half_life_ <= Duration(0)) return out;
  for (const Resource each : pools_[account.pool].used) out.push_back({each, 0});
  for (const Line& line : account.lines) add_to(out, {line.resource, line.value >> kFractionBits});
  return out;
}

// Whether a later sample may differ.
bool UsageBook::moves(const Account& account) const {
  return std::ranges::any_of(account.lines, [&](const Line& line) {
    const Wide running = exact(line.resource, line.running);
    const Wide end = line.value < running ? running - 1 : running;  // from below it is never reached
    return line.value >> kFractionBits != end >> kFractionBits;
  });
}

void UsageBook::plan_sample(AccountId id) {
  Account& account = accounts_[id.index()];
  if (account.due) due_.erase({*account.due, id});
  account.due.reset();
  if (!moves(account)) return;
  account.due = now_ + std::max(interval_, kLeastInterval);
  due_.emplace(*account.due, id);
}

std::vector<AccountId> UsageBook::take_samples() {
  for (const auto& [when, id] : due_) {
    if (when > now_) break;
    note_change(id);
  }
  std::vector<AccountId> differ;
  for (const AccountId id : std::exchange(changed_, {})) {
    Account& account = accounts_[id.index()];
    if (!std::exchange(account.changed, false)) continue;
    bring_up(account);
    account.sample.score = score(id);
    plan_sample(id);
    std::vector<Used> used = shown(account);
    if (!std::exchange(account.other_claims, false) && used == account.sample.used) continue;
    account.sample.used = std::move(used);
    account.sample.at = now_;
    differ.push_back(id);
  }
  return differ;
}

std::vector<std::string> UsageBook::check() const {
  struct Sums {
    std::size_t claims = 0;
    std::map<Resource, std::pair<Wide, Wide>> amounts;  // running, waiting
  };
  std::map<AccountId, Sums> claimed;
  for (const Claim& claim : claims_) {
    if (!claim.account.valid()) continue;
    Sums& sums = claimed[claim.account];
    ++sums.claims;
    for (const Charge& amount : amounts_of(claim))
      (claim.runs_since ? sums.amounts[amount.resource].first : sums.amounts[amount.resource].second) += amount.amount;
  }
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    Sums& sums = claimed[AccountId(i)];
    if (sums.claims != account.claims)
      broken.push_back("the number of claims of local queue " + account.local_queue + " is wrong");
    std::map<Resource, Wide> young;
    for (const auto& [began, amounts] : account.young) {
      for (const Used& each : amounts) young[each.resource] += each.amount;
    }
    for (const Line& line : account.lines) {
      if (sums.amounts[line.resource] != std::pair(line.running, line.waiting) || young[line.resource] != line.young)
        broken.push_back("the usage of local queue " + account.local_queue + " is not that of its claims");
    }
  }
  return broken;
}

}  // namespace berth::engine
