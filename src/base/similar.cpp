#include "base/similar.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace berth {
namespace {

constexpr std::size_t kLongest = 200;  // of names that are compared

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = to_lower(a), to = to_lower(b);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view most_similar(std::string_view name, std::span<const std::string_view> known) {
  if (name.empty() || name.size() > kLongest) return {};
  const std::string lower = to_lower(name);
  std::string_view best;
  std::size_t least = 0;
  for (const std::string_view other : known) {
    if (other.empty() || other.size() > kLongest) continue;
    const std::string candidate = to_lower(other);
    const std::size_t distance = edit_distance(lower, candidate);
    const bool begins = candidate.starts_with(lower) || lower.starts_with(candidate);
    if (!begins && distance * 3 > std::max(lower.size(), candidate.size())) continue;
    if (!best.empty() && distance >= least) continue;
    best = other;
    least = distance;
  }
  return best;
}

std::vector<std::string> nearest_first(std::string_view name, std::vector<std::string> known, std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> order;
  for (std::string& each : known) {
    const bool comparable = name.size() <= kLongest && each.size() <= kLongest;
    const std::size_t distance = comparable ? edit_distance(name, each) : kLongest + 1;
    order.emplace_back(distance, std::move(each));
  }
  std::ranges::sort(order);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < order.size() && i < most; ++i) out.push_back(std::move(order[i].second));
  return out;
}

}  // namespace berth
