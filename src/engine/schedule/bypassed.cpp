#include "engine/schedule/bypassed.h"

namespace berth::engine {
namespace {

std::string_view ns_of(std::string_view key) { return key.substr(0, key.find('/')); }

}  // namespace

std::string bypassed_text(std::string_view to, std::string_view evaluated, std::string_view uid,
                          std::string_view verdict) {
  const std::string_view ns = ns_of(evaluated);
  // Namespaces that cannot exist have a colon: names in them are not those of objects.
  const bool named = !ns.empty() && ns == ns_of(to) && ns.find(':') == std::string_view::npos;
  std::string text(kBypassed);
  text += ": ";
  text += named ? evaluated : uid;
  text += ": ";
  text += verdict;
  return text;
}

std::string_view verdict_in(std::string_view message) {
  constexpr std::string_view kColon = ": ";
  if (!message.starts_with(kBypassed)) return message;
  const std::string_view after = message.substr(kBypassed.size());
  const std::size_t verdict = after.starts_with(kColon) ? after.find(kColon, kColon.size()) : std::string_view::npos;
  return verdict == std::string_view::npos ? message : after.substr(verdict + kColon.size());
}

bool reports_verdict(std::string_view message) { return message != kBypassed; }

}  // namespace berth::engine
