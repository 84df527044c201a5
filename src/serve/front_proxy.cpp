#include "serve/front_proxy.h"

#include <algorithm>
#include <utility>

namespace berth::serve {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// A list of strings, stored as JSON text in a ConfigMap.
std::vector<std::string> list_in(const Json& config_map, std::string_view key) {
  const auto parsed = parse_json(string_at(config_map, {"data", key}, "[]"));
  std::vector<std::string> out;
  if (!parsed || !parsed->is_array()) return out;
  for (const Json& element : parsed->get_array()) {
    if (element.is_string()) out.emplace_back(view(element.get_string()));
  }
  return out;
}

std::string first_of(const http::HttpRequest& request, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const std::string_view value = request.header(name); !value.empty()) return std::string(value);
  }
  return {};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Decodes the percent-encoded key of an extra value; invalid escapes stay as they are.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
    } else {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

}  // namespace

FrontProxy read_front_proxy(const Json& config_map) {
  FrontProxy proxy;
  proxy.authorities = string_at(config_map, {"data", "requestheader-client-ca-file"});
  proxy.allowed_names = list_in(config_map, "requestheader-allowed-names");
  proxy.user_headers = list_in(config_map, "requestheader-username-headers");
  proxy.uid_headers = list_in(config_map, "requestheader-uid-headers");
  proxy.group_headers = list_in(config_map, "requestheader-group-headers");
  proxy.extra_prefixes = list_in(config_map, "requestheader-extra-headers-prefix");
  return proxy;
}

Result<std::optional<Caller>> read_proxied(const FrontProxy& proxy, const http::HttpRequest& request) {
  if (!request.peer || proxy.authorities.empty()) return std::nullopt;
  Caller caller;
  caller.user.name = first_of(request, proxy.user_headers);
  if (caller.user.name.empty()) return std::nullopt;
  const auto& allowed = proxy.allowed_names;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), request.peer->common_name) == allowed.end())
    return fail("a client certificate for \"" + request.peer->common_name + "\" may not speak for others");
  caller.uid = first_of(request, proxy.uid_headers);
  for (const http::Header& header : request.headers) {
    const std::string name = lower(header.name);
    for (const std::string& group : proxy.group_headers) {
      if (name == lower(group)) caller.user.groups.push_back(header.value);
    }
    for (const std::string& prefix : proxy.extra_prefixes) {
      if (name.size() > prefix.size() && name.starts_with(lower(prefix)))
        caller.extra[lower(percent_decoded(name.substr(prefix.size())))].push_back(header.value);
    }
  }
  return caller;
}

}  // namespace berth::serve
