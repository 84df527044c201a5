#include "engine/queue/usage_book.h"

#include <algorithm>
#include <limits>

#include "base/amount.h"

namespace berth::engine {

namespace {

// However short the sampling interval is, samples are not taken more often than this.
constexpr Duration kLeastInterval = std::chrono::seconds(1);

constexpr int kFractionBits = 32;  // bits of an amount below a billionth
// Larger amounts count as this: no product overflows then.
constexpr Wide kMostUnits = std::numeric_limits<std::int64_t>::max();

Wide grown(Wide value, Wide towards, std::uint64_t part) {
  return value < towards ? value + part_of(towards - value, part) : value - part_of_rounded_up(value - towards, part);
}

std::vector<UsageBook::Used>::iterator at_resource(std::vector<UsageBook::Used>& used, UsageBook::Resource resource) {
  return std::ranges::lower_bound(used, resource, {}, &UsageBook::Used::resource);
}

void add_to(std::vector<UsageBook::Used>& used, const UsageBook::Used& more) {
  const auto it = at_resource(used, more.resource);
  if (it != used.end() && it->resource == more.resource) {
    it->amount = sum_of(it->amount, more.amount);
  } else {
    used.insert(it, more);
  }
}

}  // namespace

Quantity to_quantity(const Score& score) {
  return Quantity::of_nano(static_cast<Quantity::Nano>(score.value >> kFractionBits));
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
  for (Line& line : account.lines) line.value = 0;
  std::vector<Used> sample;
  for (const Used& each : used) {
    const Wide amount = std::min(each.amount, kMostUnits * resources_[each.resource].billionths);
    add_to(sample, {each.resource, amount});
    if (half_life_ > Duration(0)) line_of(account, each.resource).value = amount << kFractionBits;
  }
  if (account.first_claim.valid()) {
    count_since(account, at);
  } else {
    account.at = at;  // the claims of then are still to come
  }
  account.sample = {std::move(sample), at, score_of(account, lines_now(account))};
  note_change(id);
}

// The values of the account's lines are those of an earlier time. Brings them to now, as its claims have it.
void UsageBook::count_since(Account& account, Time at) {
  std::map<Resource, Wide> running;  // then
  for_each_claim(account, [&](const Claim& claim) {
    if (!claim.runs_since || *claim.runs_since > at) return;
    for (const Charge& each : claim.amounts) running[each.resource] += each.amount;
  });
  const std::uint64_t gone = faded(now_ - at, half_life_);
  for (Line& line : account.lines) line.value = grown(line.value, exact(line.resource, running[line.resource]), gone);
  for_each_claim(account, [&](const Claim& claim) {
    if (!claim.runs_since || *claim.runs_since <= at) return;
    const std::uint64_t part = faded(now_ - *claim.runs_since, half_life_);
    for (const Charge& each : claim.amounts) {
      Line& line = line_of(account, each.resource);
      line.value = sum_of(line.value, part_of(exact(each.resource, each.amount), part));
    }
  });
}

void UsageBook::close(AccountId id) {
  Account& account = accounts_[id.index()];
  while (account.first_claim.valid()) {
    const UseId use = account.first_claim;
    unlist(use);
    claims_[use.index()].account = AccountId();
  }
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

Score UsageBook::score(AccountId id) const {
  if (!id.valid()) return {};
  const Account& account = accounts_[id.index()];
  return account.at == now_ ? score_of(account, account.lines) : score_of(account, lines_now(account));
}

Score UsageBook::score_of(const Account& account, const std::vector<Line>& lines) const {
  Wide sum = 0;
  for (const Line& line : lines) {
    const auto& weight = resources_[line.resource].weight;
    const Wide billionths = sum_of(line.value, in_advance(line)) >> kFractionBits;
    sum = sum_of(sum, scaled(billionths << kFractionBits, weight.numerator, weight.denominator));
  }
  if (account.weight.numerator == 0) return {true, sum};
  return {false, scaled(sum, account.weight.denominator, account.weight.numerator)};
}

// --- Claims.

Wide UsageBook::exact(Resource resource, Wide amount) const {
  return (std::min(amount, kMostUnits) * resources_[resource].billionths) << kFractionBits;
}

// The entry penalty: what one sampling interval charges, less what was already charged.
Wide UsageBook::in_advance(const Line& line) const {
  return part_of(exact(line.resource, line.waiting), first_interval_) +
         difference_of(part_of(exact(line.resource, line.young), first_interval_), line.young_value);
}

UsageBook::Line& UsageBook::line_of(Account& account, Resource resource) {
  const auto it = std::ranges::lower_bound(account.lines, resource, {}, &Line::resource);
  if (it != account.lines.end() && it->resource == resource) return *it;
  note_use(account, resource);
  return *account.lines.insert(it, Line{resource});
}

// As of now. Claims that are older than one sampling interval are young no more.
std::vector<UsageBook::Line> UsageBook::lines_now(const Account& account) const {
  std::vector<Line> lines = account.lines;
  if (account.at < now_ && half_life_ > Duration(0)) {
    const std::uint64_t part = faded(now_ - account.at, half_life_);
    for (Line& line : lines) {
      line.value = grown(line.value, exact(line.resource, line.running), part);
      if (line.young != 0) line.young_value = grown(line.young_value, exact(line.resource, line.young), part);
    }
  }
  for (const auto& [began, amounts] : account.young) {
    if (began + interval_ > now_) break;
    const std::uint64_t part = faded(now_ - began, half_life_);
    for (const Used& each : amounts) {
      Line& line = *std::ranges::lower_bound(lines, each.resource, {}, &Line::resource);
      line.young -= each.amount;
      line.young_value =
          line.young == 0 ? 0 : difference_of(line.young_value, part_of(exact(each.resource, each.amount), part));
    }
  }
  return lines;
}

void UsageBook::bring_up(Account& account) {
  if (account.at == now_) return;
  account.lines = lines_now(account);
  account.at = now_;
  while (!account.young.empty() && account.young.begin()->first + interval_ <= now_)
    account.young.erase(account.young.begin());
}

// `from`: since when the claim's use counts. An account that was recalled stays at the time of its sample until
// something happens after that: so what ran then and still runs is counted as if there had been no restart.
void UsageBook::add(AccountId id, const Claim& claim, Time from) {
  Account& account = accounts_[id.index()];
  if (claim.runs_since && from > account.at) bring_up(account);
  // A reader of the last sample and of this claim gets the same usage.
  const bool follows = !claim.runs_since || from == std::max(*claim.runs_since, account.sample.at);
  follows ? note_change(id) : note_claims(id);
  const std::uint64_t part = claim.runs_since ? faded(account.at - from, half_life_) : 0;
  const bool young = claim.runs_since && account.at < *claim.runs_since + interval_;
  const std::uint64_t young_part = young ? faded(account.at - *claim.runs_since, half_life_) : 0;
  for (const Charge& each : claim.amounts) {
    Line& line = line_of(account, each.resource);
    count_in(account, line, claim, each, young);
    const Wide amount = exact(each.resource, each.amount);
    line.value = sum_of(line.value, part_of(amount, part));
    if (young) line.young_value = sum_of(line.young_value, part_of(amount, young_part));
  }
}

// The sums of a line, without what was used already.
void UsageBook::count_in(Account& account, Line& line, const Claim& claim, const Charge& charge, bool young) {
  (claim.runs_since ? line.running : line.waiting) += charge.amount;
  if (!young) return;
  line.young += charge.amount;
  add_to(account.young[*claim.runs_since], {charge.resource, charge.amount});
}

void UsageBook::remove(const Claim& claim) {
  if (!claim.account.valid()) return;
  Account& account = accounts_[claim.account.index()];
  bring_up(account);
  note_claims(claim.account);
  const auto young = claim.runs_since ? account.young.find(*claim.runs_since) : account.young.end();
  const std::uint64_t part = young != account.young.end() ? faded(now_ - *claim.runs_since, half_life_) : 0;
  for (const Charge& each : claim.amounts) {
    Line& line = line_of(account, each.resource);
    (claim.runs_since ? line.running : line.waiting) -= each.amount;
    if (young == account.young.end()) continue;
    line.young -= each.amount;
    line.young_value =
        line.young == 0 ? 0 : difference_of(line.young_value, part_of(exact(each.resource, each.amount), part));
    at_resource(young->second, each.resource)->amount -= each.amount;
  }
  if (young == account.young.end()) return;
  std::erase_if(young->second, [](const Used& each) { return each.amount == 0; });
  if (young->second.empty()) account.young.erase(young);
}

void UsageBook::enlist(UseId use) {
  Claim& claim = claims_[use.index()];
  UseId& first = accounts_[claim.account.index()].first_claim;
  claim.before = UseId();
  claim.after = first;
  if (first.valid()) claims_[first.index()].before = use;
  first = use;
}

void UsageBook::unlist(UseId use) {
  const Claim& claim = claims_[use.index()];
  if (!claim.account.valid()) return;
  if (claim.after.valid()) claims_[claim.after.index()].before = claim.before;
  (claim.before.valid() ? claims_[claim.before.index()].after : accounts_[claim.account.index()].first_claim) =
      claim.after;
}

UseId UsageBook::new_use() {
  if (free_claims_.empty()) {
    claims_.emplace_back();
    return UseId(claims_.size() - 1);
  }
  const UseId use = free_claims_.back();
  free_claims_.pop_back();
  return use;
}

void UsageBook::charge(UseId& use, AccountId account, Charges amounts, std::optional<Time> runs_since) {
  if (half_life_ <= Duration(0)) return;
  std::erase_if(amounts, [](const Charge& each) { return each.amount == 0; });
  std::ranges::sort(amounts, {}, &Charge::resource);
  if (runs_since) runs_since = std::min(*runs_since, now_);
  Time from = runs_since.value_or(now_);
  if (account.valid()) from = std::max(from, accounts_[account.index()].since);
  if (!use.valid()) {
    use = new_use();
  } else {
    Claim& claim = claims_[use.index()];
    const bool same_run = claim.account == account && claim.runs_since.has_value() == runs_since.has_value();
    if (same_run && claim.amounts == amounts) return;
    remove(claim);
    unlist(use);
    if (same_run && runs_since) {  // it uses less or more from now on, and is as old as before
      runs_since = claim.runs_since;
      from = now_;
    }
  }
  Claim& claim = claims_[use.index()];
  claim = {account, {}, {}, std::move(amounts), runs_since};
  if (!account.valid()) return;
  enlist(use);
  add(account, claim, from);
}

void UsageBook::discharge(UseId& use) {
  if (!use.valid()) return;
  Claim& claim = claims_[use.index()];
  remove(claim);
  unlist(use);
  claim = Claim();
  free_claims_.push_back(use);
  use = UseId();
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
    account.sample.score = score_of(account, account.lines);
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
  std::vector<std::string> broken;
  std::size_t listed = 0;
  for (const Account& account : accounts_) {
    std::map<Resource, std::pair<Wide, Wide>> sums;  // running, waiting
    for_each_claim(account, [&](const Claim& claim) {
      ++listed;
      for (const Charge& amount : claim.amounts)
        (claim.runs_since ? sums[amount.resource].first : sums[amount.resource].second) += amount.amount;
    });
    std::map<Resource, Wide> young;
    for (const auto& [began, amounts] : account.young) {
      for (const Used& each : amounts) young[each.resource] += each.amount;
    }
    for (const Line& line : account.lines) {
      if (sums[line.resource] != std::pair(line.running, line.waiting) || young[line.resource] != line.young)
        broken.push_back("the usage of local queue " + account.local_queue + " is not that of its claims");
    }
  }
  std::size_t owned = 0;
  for (const Claim& claim : claims_) owned += claim.account.valid() ? 1 : 0;
  if (owned != listed) broken.push_back("a claim counts as usage of another local queue than its own");
  return broken;
}

}  // namespace berth::engine
