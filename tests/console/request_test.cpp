#include "console/request.h"

#include <gtest/gtest.h>

namespace berth::console::request_test {
namespace {

// The status with which a request is refused; 0: it is not.
int refused(const std::string& method, const std::string& target, std::vector<http::Header> headers = {}) {
  http::HttpRequest request;
  request.method = method;
  request.target = target;
  request.headers = std::move(headers);
  const auto read = read_request(std::move(request));
  return read->refused ? read->refused->status : 0;
}

TEST(ConsoleRequest, PathsThatClimbAreRefused) {
  EXPECT_EQ(refused("GET", "/"), 0);
  for (const char* path : {"/assets/../../etc/passwd", "/assets/%2e%2e/x", "/%2e%2e/x", "relative", "/a/%zz", ""})
    EXPECT_EQ(refused("GET", path), 400) << path;
  EXPECT_EQ(refused("GET", "/" + std::string(http::kMaxTargetBytes, 'a')), 400);
}

TEST(ConsoleRequest, RequestsOfOtherSitesAreRefused) {
  const http::Header own{"X-Berth-Console", "1"}, host{"Host", "c.example:7080"};
  EXPECT_EQ(refused("POST", "/api/login", {own, host}), 0);
  EXPECT_EQ(refused("POST", "/api/login", {host}), 403);
  EXPECT_EQ(refused("POST", "/api/login", {own, host, {"Origin", "http://c.example:7080"}}), 0);
  EXPECT_EQ(refused("POST", "/api/login", {own, host, {"Origin", "https://c.example:7080"}}), 0);
  for (const char* origin :
       {"https://evil.example", "null", "https://c.example", "https://c.example:7080.evil.example"})
    EXPECT_EQ(refused("POST", "/api/login", {own, host, {"Origin", origin}}), 403) << origin;
  EXPECT_EQ(refused("POST", "/api/login", {own, host, {"Sec-Fetch-Site", "same-origin"}}), 0);
  for (const char* site : {"cross-site", "same-site", "none"})
    EXPECT_EQ(refused("POST", "/api/login", {own, host, {"Sec-Fetch-Site", site}}), 403) << site;
  EXPECT_EQ(refused("GET", "/api/session", {host, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(refused("GET", "/api/session", {host, {"Sec-Fetch-Site", "none"}}), 0);
  EXPECT_EQ(refused("GET", "/", {host, {"Sec-Fetch-Site", "cross-site"}}), 0);
  EXPECT_EQ(refused("PUT", "/api/login", {own, host}), 405);
  EXPECT_EQ(refused("POST", "/"), 405);
}

TEST(ConsoleRequest, FindsItsCookie) {
  const auto cookie = [](std::vector<http::Header> headers) {
    http::HttpRequest request;
    request.method = "GET";
    request.target = "/";
    request.headers = std::move(headers);
    return read_request(std::move(request))->cookie;
  };
  EXPECT_EQ(cookie({{"Cookie", "a=b; berth_session=secret; c=d"}}), "secret");
  EXPECT_EQ(cookie({{"cookie", "a=b"}, {"cookie", "berth_session=secret"}}), "secret");
  EXPECT_EQ(cookie({{"Cookie", "xberth_session=secret; berth_sessionx=1; berth_session"}}), "");
  EXPECT_EQ(cookie({{"Cookie", "berth_session=" + std::string(500, 'x')}}), "");
}

TEST(ConsoleRequest, ItsCookieIsKeptFromScripts) {
  EXPECT_EQ(set_cookie("v"), "berth_session=v; Path=/; HttpOnly; Secure; SameSite=Strict");
}

}  // namespace
}  // namespace berth::console::request_test
