#include "embedded/apiserver/http/warnings.h"

#include <set>

#include "base/text.h"

namespace berth::apiserver::http {

std::vector<std::string> bounded_warnings(const std::vector<std::string>& texts) {
  std::set<std::string_view> seen;
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += seen.insert(text).second ? text.size() : 0;
  const std::size_t longest = bytes > kMaxWarningBytes ? kMaxCutWarningBytes : kMaxWarningBytes;
  std::vector<std::string> out;
  bytes = 0;
  seen.clear();
  for (const std::string& text : texts) {
    if (text.empty() || !seen.insert(text).second) continue;
    const std::string_view cut = cut_text(text, longest);
    bytes += cut.size();
    if (out.size() >= kMaxWarnings || bytes > kMaxWarningBytes) break;
    out.emplace_back(cut);
  }
  return out;
}

std::string warning_header(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(u < 0x20 || u == 0x7f ? ' ' : c);  // a header value must be a single line
  }
  return out + '"';
}

}  // namespace berth::apiserver::http
