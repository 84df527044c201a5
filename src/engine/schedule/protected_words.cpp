#include "engine/schedule/protected_words.h"

#include <algorithm>

namespace berth::engine {
namespace {

constexpr std::string_view kBegin =
    " workload(s) could be preempted, but would then preempt this one or come back in turn (UIDs: ";
constexpr std::string_view kEnd = "); it is tried again when a workload of the cohort ends or its quota changes";
constexpr std::string_view kBetween = ", ";
constexpr std::string_view kMore = "...";

}  // namespace

std::string protected_text(std::size_t victims, const std::vector<std::string>& uids) {
  std::string text = ". " + std::to_string(victims) + std::string(kBegin);
  const std::size_t named = std::min(uids.size(), kMostProtectedNamed);
  for (std::size_t i = 0; i < named; ++i) text.append(i == 0 ? "" : kBetween).append(uids[i]);
  if (named < uids.size()) text.append(kBetween).append(kMore);
  return text.append(kEnd);
}

std::vector<std::string> protected_uids(std::string_view message) {
  const std::size_t begin = message.rfind(kBegin);
  if (begin == std::string_view::npos) return {};
  std::string_view rest = message.substr(begin + kBegin.size());
  const std::size_t end = rest.find(kEnd);
  if (end == std::string_view::npos) return {};
  rest = rest.substr(0, end);
  std::vector<std::string> out;
  while (!rest.empty() && out.size() < kMostProtectedNamed) {
    const std::size_t length = std::min(rest.find(kBetween), rest.size());
    out.emplace_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length + kBetween.size(), rest.size()));
  }
  return out;
}

}  // namespace berth::engine
