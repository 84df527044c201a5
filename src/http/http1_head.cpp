#include "http/http1_head.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/text.h"

namespace berth::http {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-.^_`|~");
  });
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// RFC 9110, 5.5: no control characters but tabs.
bool is_field_text(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> values_of(const HttpRequest& request, std::string_view name) {
  std::vector<std::string_view> found;
  for (const Header& header : request.headers) {
    if (to_lower(header.name) == name) found.push_back(header.value);
  }
  return found;
}

// The elements of a list with commas, in lower case. Empty ones do not count (RFC 9110, 5.6.1).
std::vector<std::string> elements_of(const std::vector<std::string_view>& values) {
  std::vector<std::string> out;
  for (std::string_view rest : values) {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (const auto one = trimmed(rest.substr(0, end)); !one.empty()) out.push_back(to_lower(one));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return out;
}

Http1Fault bad(std::string why) { return {400, std::move(why)}; }

Http1Check read_version(std::string_view version, Http1Head& head) {
  constexpr std::string_view kName = "HTTP/";
  if (version.size() != kName.size() + 3 || !version.starts_with(kName) || !is_digit(version[5]) || version[6] != '.' ||
      !is_digit(version[7]))
    return bad("the first line must be METHOD TARGET HTTP/1.1");
  if (version[5] != '1') return Http1Fault{505, "only HTTP/1.1 and, with TLS, HTTP/2 are served"};
  head.old = version[7] == '0';
  return std::nullopt;
}

Http1Check read_target(std::string_view target, Http1Head& head, std::optional<std::string>& authority) {
  const bool clean = std::none_of(target.begin(), target.end(),
                                  [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
  if (target.empty() || !clean) return bad("the request target must not be empty or hold control characters");
  const std::string start = to_lower(target.substr(0, std::string_view("https://").size()));
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!start.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    authority = std::string(target.substr(0, end));
    target.remove_prefix(end);
    head.request.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
    if (authority->empty() || !may_be_host(*authority)) return bad("the request target names no host");
    return std::nullopt;
  }
  if (!target.starts_with('/') && target != "*") return bad("the request target must be an absolute path");
  head.request.target = std::string(target);
  return std::nullopt;
}

// RFC 9112, 3.2.
Http1Check read_host(const Http1Head& head, const std::optional<std::string>& authority) {
  const auto hosts = values_of(head.request, "host");
  if (hosts.size() > 1) return bad("there are several Host headers");
  if (hosts.empty() && !head.old) return bad("the Host header is missing");
  if (!hosts.empty() && !may_be_host(hosts[0])) return bad("the Host header is no host and port");
  if (authority && !hosts.empty() && to_lower(hosts[0]) != to_lower(*authority))
    return bad("the Host header names another host than the request target");
  return std::nullopt;
}

// RFC 9112, 6.1.
Http1Check read_codings(const std::vector<std::string>& codings, bool old) {
  if (old) return bad("HTTP/1.0 has no Transfer-Encoding");
  if (codings.empty() || codings.back() != "chunked") return bad("the Transfer-Encoding must end with chunked");
  if (std::count(codings.begin(), codings.end(), "chunked") > 1) return bad("the body is chunked twice");
  if (codings.size() > 1) return Http1Fault{501, "no Transfer-Encoding but chunked is understood"};
  return std::nullopt;
}

Http1Check read_length(const std::vector<std::string_view>& lengths, std::uint64_t& length) {
  if (lengths.size() > 1) return bad("there are several Content-Length headers");
  const std::string_view text = lengths[0];
  constexpr std::size_t kMaxDigits = 18;  // of a number that always fits
  const bool fine = !text.empty() && text.size() <= kMaxDigits && std::all_of(text.begin(), text.end(), is_digit);
  if (!fine) return bad("the Content-Length must be one number");
  std::from_chars(text.data(), text.data() + text.size(), length);
  return std::nullopt;
}

}  // namespace

bool may_be_host(std::string_view text) {
  std::size_t end = 0;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const std::string_view inside = text.substr(1, end++ - 1);
    const bool address = std::all_of(inside.begin(), inside.end(),
                                     [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, ":.%-_~"); });
    if (!address) return false;
  } else {
    while (end < text.size() &&
           (is_letter(text[end]) || is_digit(text[end]) || is_one_of(text[end], "-._~!$&'()*+,;=%")))
      ++end;
  }
  const std::string_view port = text.substr(end);
  return port.empty() || (port.starts_with(':') && std::all_of(port.begin() + 1, port.end(), is_digit));
}

Http1Check read_request_line(std::string_view line, Http1Head& head, std::optional<std::string>& authority) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return bad("the first line must be METHOD TARGET HTTP/1.1");
  if (auto fault = read_version(line.substr(last + 1), head)) return fault;
  const std::string_view method = line.substr(0, first);
  if (!is_token(method)) return bad("the method must be a word");
  if (method == "CONNECT") return Http1Fault{405, "CONNECT is not served; send requests to this server itself"};
  head.request.method = std::string(method);
  return read_target(line.substr(first + 1, last - first - 1), head, authority);
}

Http1Check read_field(std::string_view line, Header& field) {
  if (is_blank(line.front())) return bad("a header field must be on one line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return bad("a header field must be NAME: VALUE, without blanks before the colon");
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), is_field_text))
    return bad("a header field must not hold control characters");
  field = {std::string(line.substr(0, colon)), std::string(value)};
  return std::nullopt;
}

Http1Check read_framing(Http1Head& head, const std::optional<std::string>& authority) {
  if (auto fault = read_host(head, authority)) return fault;
  const auto codings = values_of(head.request, "transfer-encoding");
  const auto lengths = values_of(head.request, "content-length");
  if (!codings.empty() && !lengths.empty()) return bad("there are both Transfer-Encoding and Content-Length");
  head.chunked = !codings.empty();
  if (head.chunked) {
    if (auto fault = read_codings(elements_of(codings), head.old)) return fault;
  }
  if (!lengths.empty()) {
    if (auto fault = read_length(lengths, head.length)) return fault;
  }
  const auto wishes = elements_of(values_of(head.request, "connection"));
  head.closes = head.old || std::find(wishes.begin(), wishes.end(), "close") != wishes.end();
  head.expects_continue = !head.old && to_lower(head.request.header("Expect")) == "100-continue";
  if (!authority) return std::nullopt;
  std::erase_if(head.request.headers, [](const Header& h) { return to_lower(h.name) == "host"; });
  head.request.headers.push_back({"Host", *authority});
  return std::nullopt;
}

}  // namespace berth::http
