#include "console/proxies.h"

#include <arpa/inet.h>

#include <strings.h>
#include <algorithm>
#include <charconv>

namespace berth::console {
namespace {

constexpr std::string_view kForwardedFor = "X-Forwarded-For";
constexpr unsigned kBitsOfV4 = 32, kBitsOfV6 = 128;

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the last word of a list with commas.
std::string_view take_last(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const std::string_view word = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
  return trimmed(word);
}

std::string text_of(const std::array<std::uint8_t, 16>& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
                  address[10] == 0xff && address[11] == 0xff;
  if (v4)
    inet_ntop(AF_INET, address.data() + 12, text, sizeof text);
  else
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  return text;
}

}  // namespace

bool TrustedProxies::read(std::string_view text, Address& out) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN) return false;
  const std::string word(text);
  out = {};
  if (inet_pton(AF_INET, word.c_str(), out.data() + 12) == 1) {
    out[10] = out[11] = 0xff;
    return true;
  }
  return inet_pton(AF_INET6, word.c_str(), out.data()) == 1;
}

Result<TrustedProxies> TrustedProxies::parse(const std::vector<std::string>& ranges) {
  TrustedProxies proxies;
  for (const std::string& each : ranges) {
    const auto wrong = [&] { return fail(each + ": expected an address or a range, such as 10.0.0.0/8"); };
    const std::string_view text = each;
    const std::size_t slash = std::min(text.find('/'), text.size());
    Range range{{}, 0};
    if (!read(text.substr(0, slash), range.first)) return wrong();
    const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
    unsigned bits = v4 ? kBitsOfV4 : kBitsOfV6;
    if (slash < text.size()) {
      const std::string_view length = text.substr(slash + 1);
      unsigned given = 0;
      const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), given);
      if (error != std::errc() || end != length.data() + length.size() || given > bits) return wrong();
      bits = given;
    }
    range.bits = v4 ? bits + (kBitsOfV6 - kBitsOfV4) : bits;
    proxies.ranges_.push_back(range);
  }
  return proxies;
}

bool TrustedProxies::trusted(const Address& address) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    const unsigned whole = range.bits / 8, rest = range.bits % 8;
    if (!std::equal(range.first.begin(), range.first.begin() + whole, address.begin())) return false;
    return rest == 0 || (range.first[whole] ^ address[whole]) >> (8 - rest) == 0;
  });
}

std::string TrustedProxies::client_of(const http::HttpRequest& request) const {
  Address address;
  if (ranges_.empty() || !read(request.peer_address, address) || !trusted(address)) return request.peer_address;
  std::size_t hops = 0;
  // The nearest proxy wrote the end of the last header.
  for (auto header = request.headers.rbegin(); header != request.headers.rend(); ++header) {
    if (!same_name(header->name, kForwardedFor)) continue;
    for (std::string_view list = header->value; !list.empty();) {
      Address next;
      if (++hops > kMaxHops || !read(take_last(list), next)) return text_of(address);
      address = next;
      if (!trusted(address)) return text_of(address);
    }
  }
  return text_of(address);
}

}  // namespace berth::console
