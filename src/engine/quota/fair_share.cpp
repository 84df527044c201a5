#include "engine/quota/fair_share.h"

#include <algorithm>
#include <limits>

namespace berth::engine {
namespace {

__extension__ typedef unsigned __int128 Wide;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Product {
  Wide high = 0, low = 0;
  auto operator<=>(const Product&) const = default;
};

Product product(Wide a, Wide b) {
  const Wide mask = std::numeric_limits<std::uint64_t>::max();
  if ((a | b) <= mask) return {0, a * b};
  const Wide a_low = a & mask, a_high = a >> 64, b_low = b & mask, b_high = b >> 64;
  const Wide low = a_low * b_low, one = a_high * b_low, other = a_low * b_high;
  const Wide middle = (low >> 64) + (one & mask) + (other & mask);
  return {a_high * b_high + (one >> 64) + (other >> 64) + (middle >> 64), (middle << 64) | (low & mask)};
}

}  // namespace

FairShare::FairShare(std::int64_t borrowed, std::int64_t lendable, FairWeight weight)
    : borrows_(true),
      borrowed_(static_cast<std::uint64_t>(borrowed)),
      lendable_(static_cast<std::uint64_t>(lendable)),
      weight_(weight) {}

FairShare::Wide FairShare::numerator() const {
  return weight_.numerator == 0 ? Wide{borrowed_} : Wide{borrowed_} * weight_.denominator;
}
FairShare::Wide FairShare::denominator() const {
  return weight_.numerator == 0 ? Wide{lendable_} : Wide{lendable_} * weight_.numerator;
}

std::int64_t FairShare::weighted_share() const {
  if (infinite()) return kMost;
  const Wide dividend = numerator() * 1'000, divisor = denominator();
  const Wide quotient = dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
  return quotient < static_cast<Wide>(kMost) ? static_cast<std::int64_t>(quotient) : kMost;
}

std::strong_ordering operator<=>(const FairShare& a, const FairShare& b) {
  if (a.infinite() != b.infinite()) return a.infinite() ? std::strong_ordering::greater : std::strong_ordering::less;
  return product(a.numerator(), b.denominator()) <=> product(b.numerator(), a.denominator());
}

void Shares::sort_pairs() {
  for (std::size_t i = by_resource_.size(); i < names_.pairs(); ++i) by_resource_.emplace_back(i);
  std::stable_sort(by_resource_.begin(), by_resource_.end(), [this](FlavorResourceId a, FlavorResourceId b) {
    return names_.resource_of(a) < names_.resource_of(b);
  });
}

const std::vector<Amount>& Shares::lendable(QuotaNodeId cohort) {
  if (lendable_.size() <= cohort.index()) lendable_.resize(cohort.index() + 1);
  Lendable& known = lendable_[cohort.index()];
  if (known.configuration == ledger_.configuration() && known.pairs == by_resource_.size()) return known.amounts;
  known.configuration = ledger_.configuration();
  known.pairs = by_resource_.size();
  known.amounts.assign(names_.resources(), Amount());
  for (const FlavorResourceId id : by_resource_)
    known.amounts[names_.resource_of(id).index()] += ledger_.potential_available(cohort, id);
  return known.amounts;
}

FairShare Shares::with(QuotaNodeId node, std::span<const FlavorResourceAmount> changes) {
  const QuotaNodeId parent = ledger_.parent(node);
  if (!parent.valid()) return {};
  if (by_resource_.size() != names_.pairs()) sort_pairs();
  if (changes_.size() < by_resource_.size()) changes_.resize(by_resource_.size());
  for (const FlavorResourceAmount& each : changes) changes_[each.id.index()] += each.amount;
  const std::vector<Amount>& lendable = this->lendable(parent);
  bool borrows = false;
  std::int64_t most_borrowed = 0, most_lendable = 1;
  for (std::size_t i = 0; i < by_resource_.size();) {
    const ResourceId resource = names_.resource_of(by_resource_[i]);
    Amount borrowed;
    for (; i < by_resource_.size() && names_.resource_of(by_resource_[i]) == resource; ++i) {
      const FlavorResourceId id = by_resource_[i];
      borrowed += max(Amount(), ledger_.usage(node, id) + changes_[id.index()] - ledger_.subtree_quota(node, id));
    }
    if (borrowed.is_zero()) continue;
    borrows = true;
    const Amount lent = lendable[resource.index()];  // borrowing an unlimited resource gives no share
    if (lent <= Amount() || lent.is_unlimited()) continue;
    if (Wide(borrowed.count()) * Wide(most_lendable) <= Wide(most_borrowed) * Wide(lent.count())) continue;
    most_borrowed = borrowed.count();
    most_lendable = lent.count();
  }
  for (const FlavorResourceAmount& each : changes) changes_[each.id.index()] = Amount();
  return borrows ? FairShare(most_borrowed, most_lendable, ledger_.weight(node)) : FairShare();
}

}  // namespace berth::engine
