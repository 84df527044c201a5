// The claims of the book of usage: what they add to the lines of their accounts, and how lines grow with time.
#include <algorithm>

#include "engine/queue/usage_book.h"

namespace berth::engine {

namespace {

Wide moved_towards(Wide value, Wide end, std::uint64_t part) {
  return value < end ? value + part_of(end - value, part) : value - part_of_rounded_up(value - end, part);
}

}  // namespace

// --- Lines.

// A reservation changes only what waits: what runs is settled once for all that are made at the same time.
[[gnu::flatten]] Score UsageBook::score(AccountId id) {
  if (!id.valid()) return {};
  Account& account = accounts_[id.index()];
  if (account.settled_at != now_) settle(account);
  Wide sum = 0;
  for (const Line& line : account.lines) sum = sum_of(sum, weighted(line));
  if (account.weight.numerator == 0) return {true, sum};
  return {false, scaled(sum, account.weight.denominator, account.weight.numerator)};
}

Wide UsageBook::weighted(const Line& line) const {
  const auto& weight = resources_[line.resource].weight;
  const Wide billionths = sum_of(line.settled, in_advance(line.resource, line.waiting)) >> kFractionBits;
  return scaled(billionths << kFractionBits, weight.numerator, weight.denominator);
}

// The entry penalty of the young ones is less by what they were already charged.
void UsageBook::settle(Account& account) {
  std::vector<Line> lines = account.lines;
  grow(account, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& now = lines[i];
    const Wide rest = difference_of(in_advance(now.resource, now.young), now.young_value);
    account.lines[i].settled = sum_of(now.value, rest);
  }
  account.settled_at = now_;
}

Wide UsageBook::exact(Resource resource, Wide amount) const {
  return (std::min(amount, kMostUnits) * resources_[resource].billionths) << kFractionBits;
}

// The entry penalty: what one sampling interval charges.
Wide UsageBook::in_advance(Resource resource, Wide amount) const {
  return part_of(exact(resource, amount), first_interval_);
}

std::uint64_t UsageBook::part_faded(Duration elapsed) {
  if (elapsed <= Duration(0) || half_life_ <= Duration(0)) return 0;
  if (faded_.elapsed != elapsed) faded_ = {elapsed, faded(elapsed, half_life_)};
  return faded_.part;
}

// Claims that are older than one sampling interval are young no more.
void UsageBook::grow(const Account& account, std::vector<Line>& lines) {
  const std::uint64_t grows = part_faded(now_ - account.at);
  for (Line& line : lines) {
    line.value = moved_towards(line.value, exact(line.resource, line.running), grows);
    if (line.young != 0) line.young_value = moved_towards(line.young_value, exact(line.resource, line.young), grows);
  }
  for (const auto& [began, amounts] : account.young) {
    if (began + interval_ > now_) break;
    const std::uint64_t part = part_faded(now_ - began);
    for (const Used& each : amounts) {
      Line& line = *std::ranges::lower_bound(lines, each.resource, {}, &Line::resource);
      line.young -= each.amount;
      line.young_value =
          line.young == 0 ? 0 : difference_of(line.young_value, part_of(exact(each.resource, each.amount), part));
    }
  }
}

void UsageBook::bring_up(Account& account) {
  if (account.at == now_) return;
  grow(account, account.lines);
  account.at = now_;
  while (!account.young.empty() && account.young.begin()->first + interval_ <= now_)
    account.young.erase(account.young.begin());
}

std::size_t UsageBook::line_at(Account& account, Resource resource, std::size_t from) {
  auto& lines = account.lines;
  while (from < lines.size() && lines[from].resource < resource) ++from;
  if (from < lines.size() && lines[from].resource == resource) return from;
  note_use(account, resource);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(from), Line{resource});
  return from;
}

// The values of the account's lines are those of an earlier time. Brings them to now, as its claims have it.
void UsageBook::count_since(AccountId id, Time at) {
  Account& account = accounts_[id.index()];
  std::map<Resource, Wide> running;  // then
  for_each_claim(claims_, id, [&](const Claim& claim) {
    if (!claim.runs_since || *claim.runs_since > at) return;
    for (const Charge& each : amounts_of(claim)) running[each.resource] += each.amount;
  });
  const std::uint64_t gone = part_faded(now_ - at);
  for (Line& line : account.lines)
    line.value = moved_towards(line.value, exact(line.resource, running[line.resource]), gone);
  for_each_claim(claims_, id, [&](const Claim& claim) {
    if (!claim.runs_since || *claim.runs_since <= at) return;
    const std::uint64_t part = part_faded(now_ - *claim.runs_since);
    for (const Charge& each : amounts_of(claim)) {
      Line& line = line_of(account, each.resource);
      line.value = sum_of(line.value, part_of(exact(each.resource, each.amount), part));
    }
  });
}

// --- Amounts. A freed run is used again by a claim with as many resources, so the claims of the busiest time bound
// what is stored.

void UsageBook::sort_in(std::size_t begin, const Charge& charge) {
  const auto it = std::lower_bound(charges_.begin() + static_cast<std::ptrdiff_t>(begin), charges_.end(),
                                   charge.resource, [](const Charge& c, Resource r) { return c.resource < r; });
  if (it->resource != charge.resource) {
    charges_.insert(it, charge);
  } else if (__builtin_add_overflow(it->amount, charge.amount, &it->amount)) {
    it->amount = std::numeric_limits<std::uint64_t>::max();
  }
}

// The claim gets the amounts that were written at `begin`, behind all others.
void UsageBook::keep_amounts(Claim& claim, std::size_t begin) {
  const std::size_t length = charges_.size() - begin;
  if (free_runs_.size() <= length) free_runs_.resize(length + 1);
  auto& free = free_runs_[length];
  claim.begin = static_cast<std::uint32_t>(begin);
  claim.resources = static_cast<std::uint32_t>(length);
  if (free.empty()) return;
  claim.begin = free.back();
  free.pop_back();
  std::copy(charges_.begin() + static_cast<std::ptrdiff_t>(begin), charges_.end(), charges_.begin() + claim.begin);
  charges_.resize(begin);
}

void UsageBook::forget_amounts(const Claim& claim) {
  if (claim.resources > 0) free_runs_[claim.resources].push_back(claim.begin);
}

// --- Claims.

// `from`: since when the claim's use counts.
void UsageBook::add(AccountId id, const Claim& claim, Time from) {
  Account& account = accounts_[id.index()];
  ++account.claims;
  // A reader of the last sample and of this claim gets the same usage.
  const bool follows = !claim.runs_since || from == std::max(*claim.runs_since, account.sample.at);
  follows ? note_change(id) : note_claims(id);
  claim.runs_since ? add_running(account, claim, from) : add_waiting(account, claim);
}

void UsageBook::add_waiting(Account& account, const Claim& claim) {
  std::size_t at = 0;
  for (const Charge& each : amounts_of(claim)) {
    if (at == account.lines.size() || account.lines[at].resource != each.resource)
      at = line_at(account, each.resource, at);
    account.lines[at++].waiting += each.amount;
  }
}

// An account that was recalled stays at the time of its sample until something happens after that: so what ran then
// and still runs is counted as if there had been no restart.
void UsageBook::add_running(Account& account, const Claim& claim, Time from) {
  if (from > account.at) bring_up(account);
  const std::uint64_t part = part_faded(account.at - from);
  const bool young = account.at < *claim.runs_since + interval_;
  const std::uint64_t young_part = young ? part_faded(account.at - *claim.runs_since) : 0;
  for (const Charge& each : amounts_of(claim)) {
    Line& line = line_of(account, each.resource);
    count_in(account, line, claim, each, young);
    const Wide amount = exact(each.resource, each.amount);
    line.value = sum_of(line.value, part_of(amount, part));
    if (young) line.young_value = sum_of(line.young_value, part_of(amount, young_part));
  }
}

// The sums of a line, without what was used already.
void UsageBook::count_in(Account& account, Line& line, const Claim& claim, const Charge& charge, bool young) {
  account.settled_at.reset();
  (claim.runs_since ? line.running : line.waiting) += charge.amount;
  if (!young) return;
  line.young += charge.amount;
  add_to(account.young[*claim.runs_since], {charge.resource, charge.amount});
}

void UsageBook::remove(const Claim& claim) {
  if (!claim.account.valid()) return;
  Account& account = accounts_[claim.account.index()];
  --account.claims;
  bring_up(account);
  account.settled_at.reset();
  note_claims(claim.account);
  const auto young = claim.runs_since ? account.young.find(*claim.runs_since) : account.young.end();
  const std::uint64_t part = young != account.young.end() ? part_faded(now_ - *claim.runs_since) : 0;
  for (const Charge& each : amounts_of(claim)) {
    Line& line = line_of(account, each.resource);
    (claim.runs_since ? line.running : line.waiting) -= each.amount;
    if (young == account.young.end()) continue;
    line.young -= each.amount;
    line.young_value =
        line.young == 0 ? 0 : difference_of(line.young_value, part_of(exact(each.resource, each.amount), part));
    std::ranges::lower_bound(young->second, each.resource, {}, &Used::resource)->amount -= each.amount;
  }
  if (young == account.young.end()) return;
  std::erase_if(young->second, [](const Used& each) { return each.amount == 0; });
  if (young->second.empty()) account.young.erase(young);
}

UseId UsageBook::new_use(const Claim& claim) {
  if (free_claims_.empty()) {
    claims_.push_back(claim);
    return UseId(claims_.size() - 1);
  }
  const UseId use = free_claims_.back();
  free_claims_.pop_back();
  claims_[use.index()] = claim;
  return use;
}

// Each admission comes here: what it calls is compiled into it.
[[gnu::flatten]] void UsageBook::charge_written(UseId& use, AccountId account, std::size_t begin,
                                                std::optional<Time> runs_since) {
  if (runs_since) runs_since = std::min(*runs_since, now_);
  Time from = runs_since.value_or(now_);
  if (account.valid()) from = std::max(from, accounts_[account.index()].since);
  Claim claim{account, 0, 0, runs_since};
  if (use.valid()) {
    const Claim& former = claims_[use.index()];
    const bool same_run = former.account == account && former.runs_since.has_value() == runs_since.has_value();
    if (same_run && std::ranges::equal(amounts_of(former), std::span(charges_).subspan(begin)))
      return charges_.resize(begin);
    remove(former);
    forget_amounts(former);
    if (same_run && runs_since) {  // it uses less or more from now on, and is as old as before
      claim.runs_since = former.runs_since;
      from = now_;
    }
  }
  keep_amounts(claim, begin);
  if (use.valid()) {
    claims_[use.index()] = claim;
  } else {
    use = new_use(claim);
  }
  if (!account.valid()) return;
  add(account, claim, from);
}

void UsageBook::discharge(UseId& use) {
  if (!use.valid()) return;
  Claim& claim = claims_[use.index()];
  remove(claim);
  forget_amounts(claim);
  claim = Claim();
  free_claims_.push_back(use);
  use = UseId();
}

}  // namespace berth::engine
