#include "kube/transport/http_message.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace berth::kube {
namespace {

bool same_name(std::string_view name, std::string_view lower_case) {
  return std::ranges::equal(name, lower_case,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// The quoted text of a Warning header: 299 - "text".
std::string warning_text(std::string_view value) {
  const std::size_t begin = value.find('"');
  if (begin == std::string_view::npos) return std::string(value);
  std::string text;
  for (std::size_t i = begin + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

}  // namespace

HttpReply without_answer(std::string why, bool sent) {
  return HttpReply{.error = std::move(why), .sent = sent, .retry_after_seconds = {}, .warnings = {}, .body = {}};
}

void take_header(HttpReply& reply, std::string_view name, std::string_view value) {
  if (same_name(name, "warning")) reply.warnings.push_back(warning_text(value));
  if (!same_name(name, "retry-after")) return;
  std::int64_t seconds = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (parsed.ec == std::errc() && seconds >= 0) reply.retry_after_seconds = seconds;
}

std::string overdue_text(Duration timeout) {
  return "no answer within " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) + " s";
}

}  // namespace berth::kube
