// Tightest sets by dynamic programming over (domains taken, leader placed, pods that fit).
#include "engine/topology/tightest.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace berth::engine::topology {

namespace {

// Limits of one search; beyond them the caller uses best fit. They keep one placement below about 20 ms.
constexpr std::uint64_t kMaxCells = 8'000'000;   // of the table: 32 MB
constexpr std::uint64_t kMaxSteps = 50'000'000;  // steps on words of 64 cells

struct Choice {
  std::uint32_t offer = 0;
  bool leads = false;
};

// Which sums of pods can be reached, and what was taken last when each was first reached. Rows: the number of offers
// taken, and whether the leader is still to be placed.
class Table {
 public:
  Table(std::uint32_t size, std::size_t sums) : sums_(sums), words_((sums + 63) / 64), rows_((size + 1) * 2) {
    for (Row& row : rows_) {
      row.reached.resize(words_);
      row.last.resize(sums_);
    }
  }

  void start(bool missing) { row(0, missing).reached[0] = 1; }

  // Takes one more offer, with capacity `more`, after every sum below `limit`.
  void step(std::uint32_t taken, bool missing, std::size_t limit, std::size_t more, Choice choice) {
    const std::vector<std::uint64_t>& source = row(taken, missing).reached;
    Row& target = row(taken + 1, missing && !choice.leads);
    const std::uint32_t last = choice.offer * 2 + (choice.leads ? 1 : 0);
    const std::size_t shift = more / 64, bits = more % 64, end = std::min(words_, (limit + 63) / 64);
    for (std::size_t i = 0; i < end; ++i) {
      std::uint64_t word = source[i];
      if ((i + 1) * 64 > limit) word &= (std::uint64_t{1} << (limit % 64)) - 1;
      if (word == 0) continue;
      reach(target, i + shift, word << bits, last);
      if (bits != 0) reach(target, i + shift + 1, word >> (64 - bits), last);
    }
  }

  bool reached(std::uint32_t taken, bool missing, std::size_t sum) {
    return (row(taken, missing).reached[sum / 64] >> (sum % 64) & 1) != 0;
  }
  Choice last(std::uint32_t taken, bool missing, std::size_t sum) {
    const std::uint32_t last = row(taken, missing).last[sum];
    return {last / 2, last % 2 != 0};
  }

 private:
  struct Row {
    std::vector<std::uint64_t> reached;  // one bit per sum
    std::vector<std::uint32_t> last;     // by sum: twice the offer's index, plus 1 when it has the leader
  };
  Row& row(std::uint32_t taken, bool missing) { return rows_[taken * 2 + (missing ? 1 : 0)]; }

  void reach(Row& row, std::size_t index, std::uint64_t word, std::uint32_t last) const {
    if (index >= words_) return;
    std::uint64_t fresh = word & ~row.reached[index];
    row.reached[index] |= word;
    for (; fresh != 0; fresh &= fresh - 1) {
      const std::size_t sum = index * 64 + static_cast<std::size_t>(std::countr_zero(fresh));
      if (sum < sums_) row.last[sum] = last;
    }
  }

  std::size_t sums_, words_;
  std::vector<Row> rows_;
};

std::uint64_t divided(std::int64_t amount, std::int64_t by) { return static_cast<std::uint64_t>(amount / by); }

// The greatest common divisor of all capacities: for equal domains this makes the table small.
std::int64_t common_divisor(std::span<const Offer> offers, bool leader) {
  std::int64_t divisor = 0;
  for (const Offer& offer : offers) {
    divisor = std::gcd(divisor, offer.pods);
    if (leader && offer.leader) divisor = std::gcd(divisor, offer.pods_with);
  }
  return std::max<std::int64_t>(divisor, 1);
}

// The largest capacity of any `size` offers, in units.
std::uint64_t most(std::span<const Offer> offers, std::uint32_t size, std::int64_t unit) {
  std::vector<std::uint64_t> capacities;
  for (const Offer& offer : offers) capacities.push_back(divided(std::max(offer.pods, offer.pods_with), unit));
  std::sort(capacities.rbegin(), capacities.rend());
  return std::accumulate(capacities.begin(), capacities.begin() + size, std::uint64_t{0});
}

}  // namespace

std::vector<std::uint32_t> tightest(std::span<const Offer> offers, std::uint32_t size, std::int64_t pods, bool leader) {
  if (size == 0 || size > offers.size()) return {};
  const std::int64_t unit = common_divisor(offers, leader);
  const std::uint64_t wanted = divided(pods + unit - 1, unit), sums = most(offers, size, unit) + 1;
  const std::uint64_t cells = (std::uint64_t{size} + 1) * 2 * sums;
  if (sums <= wanted || cells > kMaxCells || offers.size() * (cells / 64) > kMaxSteps) return {};

  Table table(size, sums);
  table.start(leader);
  for (std::uint32_t i = 0; i < offers.size(); ++i) {
    const Offer& offer = offers[i];
    const std::uint64_t alone = divided(offer.pods, unit), with = divided(offer.pods_with, unit);
    for (std::uint32_t taken = std::min(i + 1, size); taken-- > 0;) {
      if (offer.slices > 0) table.step(taken, false, wanted, alone, {i, false});
      if (leader && offer.leader) table.step(taken, true, sums, with, {i, true});
      if (leader && offer.slices > 0) table.step(taken, true, sums, alone, {i, false});
    }
  }
  std::uint64_t sum = wanted;
  while (sum < sums && !table.reached(size, false, sum)) ++sum;
  if (sum == sums) return {};

  std::vector<std::uint32_t> chosen;
  bool missing = false;  // whether the leader is among the offers still to be reconstructed
  for (std::uint32_t taken = size; taken > 0; --taken) {
    const Choice last = table.last(taken, missing, sum);
    chosen.push_back(last.offer);
    sum -= divided(last.leads ? offers[last.offer].pods_with : offers[last.offer].pods, unit);
    missing = missing || last.leads;
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace berth::engine::topology
