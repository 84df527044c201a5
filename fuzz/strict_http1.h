// A small reader of HTTP/1.1 requests by the letter of RFC 9112, to compare the server's reader with. It reads a whole
// text at once and knows no limits.
#pragma once

#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::strict_http1 {

struct Request {
  std::string method, target, body;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Reads until the text ends or a request must be refused.
  void read() {
    while (!rest_.empty()) {
      Request request;
      if (!read_one(request)) return;
      requests.push_back(std::move(request));
    }
  }

  std::vector<Request> requests;  // complete ones
  bool refused = false;

 private:
  using Text = std::string_view;

  bool refuse() {
    refused = true;
    return false;
  }

  // The next line without its end; nullopt: there is no whole one, or it must be refused.
  std::optional<Text> line() {
    const auto end = rest_.find('\n');
    if (end == Text::npos) return std::nullopt;
    const Text whole = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (whole.empty() || whole.find('\r') != whole.size() - 1) {
      refused = true;
      return std::nullopt;
    }
    return whole.substr(0, whole.size() - 1);
  }

  static bool token(Text text) {
    for (const unsigned char c : text) {
      if (std::isalnum(c) == 0 && Text("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) == Text::npos) return false;
    }
    return !text.empty();
  }
  static bool printable(Text text, bool with_blanks) {
    for (const unsigned char c : text) {
      if (c == 0x7f || (c < 0x21 && !(with_blanks && (c == ' ' || c == '\t')))) return false;
    }
    return true;
  }
  static std::string lower(Text text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }
  static Text strip(Text text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == Text::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  bool field(Text text, std::pair<std::string, std::string>& out) {
    const auto colon = text.find(':');
    if (colon == Text::npos || !token(text.substr(0, colon))) return refuse();
    out = {lower(text.substr(0, colon)), std::string(strip(text.substr(colon + 1)))};
    return printable(out.second, true) || refuse();
  }

  static bool host(Text text) {
    Text port;
    if (text.substr(0, 1) == "[") {
      const auto close = text.find(']');
      if (close == Text::npos || close < 2) return false;
      for (const unsigned char c : text.substr(1, close - 1)) {
        if (std::isalnum(c) == 0 && Text(":.%-_~").find(static_cast<char>(c)) == Text::npos) return false;
      }
      port = text.substr(close + 1);
    } else {
      const auto colon = text.find(':');
      for (const unsigned char c : text.substr(0, colon)) {
        if (std::isalnum(c) == 0 && Text("-._~!$&'()*+,;=%").find(static_cast<char>(c)) == Text::npos) return false;
      }
      port = colon == Text::npos ? Text() : text.substr(colon);
    }
    if (port.empty()) return true;
    return port[0] == ':' && port.find_first_not_of("0123456789", 1) == Text::npos;
  }

  // METHOD SP TARGET SP HTTP/1.x; an absolute target gives its authority.
  bool first_line(Text text, Request& out, std::optional<std::string>& authority, bool& old) {
    const auto a = text.find(' ');
    const auto b = a == Text::npos ? a : text.find(' ', a + 1);
    if (b == Text::npos || text.find(' ', b + 1) != Text::npos) return refuse();
    const Text version = text.substr(b + 1);
    if (version.size() != 8 || version.substr(0, 7) != "HTTP/1." || std::isdigit(version[7]) == 0) return refuse();
    old = version[7] == '0';
    out.method = std::string(text.substr(0, a));
    const Text target = text.substr(a + 1, b - a - 1);
    if (!token(out.method) || out.method == "CONNECT" || target.empty() || !printable(target, false)) return refuse();
    const auto slashes = target.find("//");
    const auto scheme = slashes == Text::npos ? std::string() : lower(target.substr(0, slashes));
    if (scheme == "http:" || scheme == "https:") {
      const Text after = target.substr(scheme.size() + 2);
      const auto end = after.find_first_of("/?");
      authority = std::string(after.substr(0, end));
      const Text path = end == Text::npos ? Text() : after.substr(end);
      out.target = (path.substr(0, 1) == "/" ? "" : "/") + std::string(path);
      return (!authority->empty() && host(*authority)) || refuse();
    }
    out.target = std::string(target);
    return target[0] == '/' || target == "*" || refuse();
  }

  std::vector<std::string> values(const Request& request, Text name) {
    std::vector<std::string> out;
    for (const auto& [key, value] : request.fields) {
      if (key == name) out.push_back(value);
    }
    return out;
  }

  bool read_one(Request& out) {
    auto first = line();
    if (first && first->empty()) first = line();
    if (!first) return false;
    std::optional<std::string> authority;
    bool old = false;
    if (!first_line(*first, out, authority, old)) return false;
    for (;;) {
      const auto next = line();
      if (!next) return false;
      if (next->empty()) break;
      out.fields.emplace_back();
      if (!field(*next, out.fields.back())) return false;
    }
    const auto hosts = values(out, "host");
    if (hosts.size() > 1 || (hosts.empty() && !old)) return refuse();
    if (!hosts.empty() && (!host(hosts[0]) || (authority && lower(*authority) != lower(hosts[0])))) return refuse();
    const auto codings = values(out, "transfer-encoding");
    const auto lengths = values(out, "content-length");
    if (!codings.empty())
      return (lengths.empty() && !old && only_chunked(codings) && chunks(out.body)) || refuse_unless_short();
    if (lengths.empty()) return true;
    const std::string& length = lengths[0];
    if (lengths.size() > 1 || length.empty() || length.size() > 18 ||
        length.find_first_not_of("0123456789") != std::string::npos)
      return refuse();
    return take(std::stoull(length), out.body);
  }

  // chunks() may have run out of text, which is no fault.
  bool refuse_unless_short() { return short_ ? false : refuse(); }

  static bool only_chunked(const std::vector<std::string>& codings) {
    int count = 0;
    for (const std::string& value : codings) {
      for (Text rest = value;;) {
        const auto comma = rest.find(',');
        const std::string one = lower(strip(rest.substr(0, comma)));
        if (!one.empty() && one != "chunked") return false;
        count += one.empty() ? 0 : 1;
        if (comma == Text::npos) break;
        rest.remove_prefix(comma + 1);
      }
    }
    return count == 1;
  }

  bool take(std::uint64_t bytes, std::string& to) {
    if (bytes > rest_.size()) {
      short_ = true;
      return false;
    }
    to += rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }

  bool next_line(Text& out) {
    const auto found = line();
    if (found) out = *found;
    short_ = !found && !refused;
    return found.has_value();
  }

  bool chunks(std::string& body) {
    for (;;) {
      Text size;
      if (!next_line(size)) return false;
      const auto digits = std::min(size.find_first_not_of("0123456789abcdefABCDEF"), size.size());
      const Text extension = size.substr(digits);
      if (digits == 0 || digits > 15 || !printable(extension, true)) return false;
      if (!extension.empty() && strip(extension).substr(0, 1) != ";") return false;
      const std::uint64_t bytes = std::stoull(std::string(size.substr(0, digits)), nullptr, 16);
      if (bytes == 0) break;
      if (!take(bytes, body)) return false;
      Text end;
      if (!next_line(end) || !end.empty()) return false;
    }
    for (;;) {
      Text trailer;
      if (!next_line(trailer)) return false;
      if (trailer.empty()) return true;
      std::pair<std::string, std::string> dropped;
      if (!field(trailer, dropped)) return false;
    }
  }

  Text rest_;
  bool short_ = false;
};

}  // namespace berth::strict_http1
