#include "console/proxies.h"

#include <gtest/gtest.h>

namespace berth::console::proxies_test {
namespace {

std::string client(const std::vector<std::string>& trusted, const std::string& peer,
                   const std::vector<std::string>& forwarded = {}) {
  http::HttpRequest request;
  request.peer_address = peer;
  for (const std::string& value : forwarded) request.headers.push_back({"x-forwarded-for", value});
  return TrustedProxies::parse(trusted).value().client_of(request);
}

TEST(TrustedProxies, TheHeaderCountsFromATrustedProxyOnly) {
  EXPECT_EQ(client({}, "10.0.0.1", {"203.0.113.5"}), "10.0.0.1");
  EXPECT_EQ(client({"10.0.0.0/8"}, "192.0.2.1", {"203.0.113.5"}), "192.0.2.1");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"203.0.113.5"}), "203.0.113.5");
  EXPECT_EQ(client({"10.0.0.1"}, "10.0.0.2", {"203.0.113.5"}), "10.0.0.2");
  EXPECT_EQ(client({"10.0.0.0/8"}, "::ffff:10.0.0.1", {"203.0.113.5"}), "203.0.113.5");
  EXPECT_EQ(client({"fd00::/8"}, "fd00::1", {"[2001:db8::7]"}), "2001:db8::7");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1"), "10.0.0.1");
}

TEST(TrustedProxies, WhatAClientWroteItselfDoesNotCount) {
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"1.1.1.1, 203.0.113.5"}), "203.0.113.5");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"1.1.1.1", "203.0.113.5, 10.9.9.9"}), "203.0.113.5");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"203.0.113.5", "10.9.9.9"}), "203.0.113.5");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"unknown, 10.9.9.9"}), "10.9.9.9") << "no address";
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"203.0.113.5, "}), "10.0.0.1");
  std::string long_list = "203.0.113.5";
  for (std::size_t i = 0; i < kMaxHops; ++i) long_list += ",10.0.0.2";
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {long_list}), "10.0.0.2") << "bounded";
}

TEST(TrustedProxies, RangesAreChecked) {
  for (const char* wrong : {"", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "proxy.example", "::/129", "/8"})
    EXPECT_FALSE(TrustedProxies::parse({wrong})) << wrong;
  EXPECT_EQ(client({"0.0.0.0/0"}, "192.0.2.1", {"203.0.113.5"}), "203.0.113.5");
  EXPECT_EQ(client({"0.0.0.0/0"}, "2001:db8::7", {"203.0.113.5"}), "2001:db8::7") << "IPv4 only";
  EXPECT_EQ(client({"10.0.0.4/30"}, "10.0.0.8", {"203.0.113.5"}), "10.0.0.8");
  EXPECT_EQ(client({"10.0.0.4/30"}, "10.0.0.7", {"203.0.113.5"}), "203.0.113.5");
}

}  // namespace
}  // namespace berth::console::proxies_test
