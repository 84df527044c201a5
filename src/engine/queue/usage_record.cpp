#include "engine/queue/usage_record.h"

#include <algorithm>
#include <utility>

#include "engine/queue/usage_book.h"

namespace berth::engine {

namespace {

UsageRecord::Number number(Wide value) {
  return {static_cast<std::uint64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}
Wide wide(UsageRecord::Number number) { return Wide{number.high} << 64 | number.low; }

}  // namespace

UsageRecord::Account UsageBook::record_of(const Account& account) const {
  UsageRecord::Account out{account.since,
                           account.at,
                           {},
                           {},
                           {},
                           account.sample.at,
                           account.sample.score.last,
                           number(account.sample.score.value),
                           account.due,
                           account.changed,
                           account.other_claims};
  for (const Line& line : account.lines)
    out.lines.push_back({name(line.resource), number(line.value), number(line.young_value)});
  for (const Resource each : pools_[account.pool].used) out.resources.push_back(name(each));
  for (const Used& each : account.sample.used) out.sample.push_back({name(each.resource), number(each.amount)});
  return out;
}

std::vector<UsageRecord> UsageBook::records(const std::vector<std::pair<std::string, UseId>>& uses) const {
  std::vector<UsageRecord> out;
  std::map<AccountId, std::size_t> open;  // the record that takes the next claim
  for (const auto& [local_queue, id] : by_local_queue_) {
    open[id] = out.size();
    out.push_back({local_queue, record_of(accounts_[id.index()]), {}});
  }
  for (const auto& [workload, use] : uses) {
    const Claim& claim = claims_[use.index()];
    const AccountId id = claim.account;
    const auto [it, fresh] = open.try_emplace(id, out.size());
    if (fresh || out[it->second].claims.size() >= UsageRecord::kMostClaims) {
      it->second = out.size();
      out.push_back({id.valid() ? accounts_[id.index()].local_queue : "", std::nullopt, {}});
    }
    UsageRecord::Claim& recorded = out[it->second].claims.emplace_back();
    recorded.workload = workload;
    recorded.runs_since = claim.runs_since;
    for (const Charge& each : amounts_of(claim)) recorded.amounts.push_back({name(each.resource), each.amount});
  }
  return out;
}

void UsageBook::restore(AccountId id, const UsageRecord::Account& record) {
  Account& account = accounts_[id.index()];
  std::vector<Resource>& named = pools_[account.pool].used;
  named.clear();
  for (const auto& each : record.resources) named.push_back(resource(each));
  std::ranges::sort(named);
  account.since = std::min(record.since, now_);
  account.at = std::min(record.at, now_);
  account.settled_at.reset();
  account.lines.clear();
  for (const auto& each : record.lines) {
    Line& line = line_of(account, resource(each.resource));
    line.value = wide(each.value);
    line.young_value = wide(each.young_value);
  }
  account.sample = {{}, std::min(record.sampled_at, now_), {record.last, wide(record.score)}};
  for (const auto& each : record.sample) account.sample.used.push_back({resource(each.resource), wide(each.amount)});
  std::ranges::sort(account.sample.used, {}, &Used::resource);
  if (account.due) due_.erase({*account.due, id});
  account.due = record.due;
  if (account.due) due_.emplace(*account.due, id);
  if (!account.changed && record.changed) changed_.push_back(id);
  account.changed = record.changed;
  account.other_claims = record.other_claims;
}

// The sums of a line follow from the claims.
UseId UsageBook::restore(AccountId id, const UsageRecord::Claim& record) {
  Charges amounts;
  for (const auto& each : record.amounts) amounts.push_back({resource(each.resource), each.amount});
  Claim claim{id, 0, 0, record.runs_since};
  keep_amounts(claim, write_amounts(amounts));
  const UseId use = new_use(claim);
  if (!id.valid()) return use;
  Account& account = accounts_[id.index()];
  ++account.claims;
  const bool young = claim.runs_since && account.at < *claim.runs_since + interval_;
  for (const Charge& each : amounts_of(claim)) count_in(account, line_of(account, each.resource), claim, each, young);
  return use;
}

std::vector<std::pair<std::string, UseId>> UsageBook::restore(const UsageRecord& record) {
  const AccountId id = find(record.local_queue);
  if (record.account && id.valid() && accounts_[id.index()].claims == 0) restore(id, *record.account);
  std::vector<std::pair<std::string, UseId>> out;
  if (half_life_ <= Duration(0)) return out;
  for (const auto& each : record.claims) out.emplace_back(each.workload, restore(id, each));
  return out;
}

}  // namespace berth::engine
