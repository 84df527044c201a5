#include "http/message.h"

#include <algorithm>

namespace berth::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view value_of(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& h : headers) {
    if (same_name(h.name, name)) return h.value;
  }
  return {};
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const { return value_of(headers, name); }
std::string_view HttpResponse::header(std::string_view name) const { return value_of(headers, name); }

HttpResponse plain_text(int status, std::string text) {
  HttpResponse out;
  out.status = status;
  out.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                 {"X-Content-Type-Options", "nosniff"},
                 {"Cache-Control", "no-cache, private"}};
  out.body = std::move(text);
  return out;
}

HttpResponse not_found_page() { return plain_text(404, "404 page not found\n"); }

}  // namespace berth::http
