#include "embedded/cluster/job_indexes.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace berth::cluster {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

IndexSet IndexSet::parse(std::string_view text, std::int64_t limit) {
  IndexSet out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *first >= limit) break;
    out.add_interval(*first, std::min(*last, limit - 1));
  }
  return out;
}

std::string IndexSet::to_string() const {
  std::string out;
  for (const auto& [first, last] : intervals_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last > first) out += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  return out;
}

void IndexSet::add(std::int64_t index) { add_interval(index, index); }

bool IndexSet::contains(std::int64_t index) const {
  const auto at = std::upper_bound(intervals_.begin(), intervals_.end(), index,
                                   [](std::int64_t i, const auto& interval) { return i < interval.first; });
  return at != intervals_.begin() && index <= std::prev(at)->second;
}

std::int64_t IndexSet::count() const {
  std::int64_t out = 0;
  for (const auto& [first, last] : intervals_) out += last - first + 1;
  return out;
}

void IndexSet::add_interval(std::int64_t first, std::int64_t last) {
  // `from`: the first interval that touches or follows the new one. `to`: the first interval after it that does not
  // touch it.
  auto from = std::lower_bound(intervals_.begin(), intervals_.end(), first,
                               [](const auto& interval, std::int64_t i) { return interval.second + 1 < i; });
  auto to = from;
  while (to != intervals_.end() && to->first <= last + 1) {
    first = std::min(first, to->first);
    last = std::max(last, to->second);
    ++to;
  }
  from = intervals_.erase(from, to);
  intervals_.insert(from, {first, last});
}

}  // namespace berth::cluster
