#include "api/kueue/priority_boost.h"

#include <charconv>

#include "api/kueue/names.h"

namespace berth::api::kueue {

std::optional<std::int32_t> parse_priority_boost(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int32_t> priority_boost(const ObjectMeta& meta) {
  const auto found = meta.annotations.find(kPriorityBoost);
  return found == meta.annotations.end() ? std::nullopt : parse_priority_boost(found->second);
}

}  // namespace berth::api::kueue
