#include "cli/queues/words.h"

#include <cctype>

#include "cli/table.h"

namespace berth::cli::queues {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

tl::unexpected<Error> wrong_value(std::string_view flag, std::string_view value, std::string_view expected) {
  return fail(std::string(flag) + " \"" + std::string(value) + "\": " + std::string(expected));
}

std::string either(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string at(const Json& object, std::string_view key) { return printable(string_at(object, {key})); }

}  // namespace berth::cli::queues
