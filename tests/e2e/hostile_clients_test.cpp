// What clients without credentials do to the memory of `berth up`.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "e2e/server.h"
#include "support/free_port.h"
#include "support/http2_client.h"
#include "support/https_client.h"

namespace berth::e2e::hostile_clients_test {
namespace {

using testing_support::Http2Client;
using testing_support::Http2Peer;
using testing_support::HttpsAnswer;
using testing_support::HttpsClient;

constexpr std::size_t kMebi = 1u << 20;
constexpr std::size_t kMostBytes = 64 * kMebi;  // docs/reliability.md states it
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

class HostileClients : public testing::Test {
 protected:
  void SetUp() override {
#ifdef BERTH_SANITIZED
    GTEST_SKIP() << "sanitizers keep memory that is given back";
#endif
    server = std::make_unique<Server>(
        std::vector<std::string>{"--nodes", "1x1x2", "--metrics-listen", "127.0.0.1:" + std::to_string(metrics)});
    const std::string url = server->url();
    api = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    authority = file("pki/ca.crt");
    admin = {file("pki/admin.crt"), file("pki/admin.key")};
  }

  std::string file(const std::string& name) const {
    std::ifstream in(server->dir() + "/data/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  // A line of /proc/PID/status, in bytes.
  std::size_t memory(const std::string& name) const {
    std::ifstream in("/proc/" + std::to_string(server->pid()) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1)) * 1024;
    }
    return 0;
  }
  // From now on VmHWM is the largest size since then.
  void forget_peak() const { std::ofstream("/proc/" + std::to_string(server->pid()) + "/clear_refs") << "5"; }

  HttpsClient stranger(std::uint16_t port) const { return {port, authority, {}}; }
  Http2Client stranger2(std::uint16_t port) const { return {port, authority, {}}; }

  // The server reads, or refuses, what the client has to send.
  static void send_all(Http2Client& client) {
    client.run([] { return false; }, std::chrono::milliseconds(100));
  }

  // Bytes that follow the head of a request with a chunked body.
  void send_endless(std::uint16_t port, const std::string& begin, const std::string& repeated) const {
    std::string bytes = "POST " + kConfigMaps + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + begin;
    while (bytes.size() < 8 * kMebi) bytes += repeated;
    std::vector<HttpsClient> clients;
    for (int i = 0; i < 16; ++i) {
      clients.push_back(stranger(port));
      // The server may cut the connection before its answer is read.
      const int status = clients.back().raw(bytes).status;
      EXPECT_TRUE(status == 431 || status == 0) << status;
    }
  }

  // Opens many requests on many connections and finishes none.
  void send_unfinished(std::uint16_t port, std::size_t header_bytes, std::size_t body_bytes) const {
    std::vector<Http2Client> clients;
    for (int i = 0; i < 30; ++i) {
      clients.push_back(stranger2(port));
      for (int k = 0; k < 120; ++k) {
        Http2Peer::Headers head = {
            {":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", kConfigMaps}};
        head.emplace_back("x-long", std::string(header_bytes, 'x'));
        clients.back().peer().request(std::move(head), std::string(body_bytes, 'x'), false);
      }
      send_all(clients.back());
    }
    EXPECT_EQ(HttpsClient(api, authority, admin).request("GET", kConfigMaps).status, 200)
        << "who has credentials is served meanwhile";
  }

  const std::uint16_t metrics = testing_support::free_port();
  std::uint16_t api = 0;
  std::string authority;
  http::Credential admin;
  std::unique_ptr<Server> server;
};

// One key of 100,000 characters, and `count` keys below it that all come twice.
std::string twice_below_a_long_key(int count) {
  std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"twice"},"data":{")" +
                     std::string(100'000, 'k') + R"(":{)";
  for (int i = 0; i < 2 * count; ++i) text += "\"a" + std::to_string(i / 2) + "\":0,";
  return text + R"("end":0}}})";
}

TEST_F(HostileClients, StrangersHaveABoundOfMemory) {
  const std::string body = twice_below_a_long_key(15'000);
  const struct {
    const char* name;
    std::function<void(std::uint16_t)> play;
  } tricks[] = {
      {"keys twice below a long key",
       [&](std::uint16_t port) {
         HttpsClient client = stranger(port);
         for (int i = 0; i < 10; ++i) EXPECT_GE(client.request("POST", kConfigMaps, body).status, 400);
       }},
      {"a chunk extension without end", [&](std::uint16_t port) { send_endless(port, "1;", "xxxxxxxx"); }},
      {"chunk extensions without end", [&](std::uint16_t port) { send_endless(port, "", "1;xxxxxxxx\r\nx\r\n"); }},
      {"a trailer without end", [&](std::uint16_t port) { send_endless(port, "0\r\nX: ", "xxxxxxxx"); }},
      {"trailers without end", [&](std::uint16_t port) { send_endless(port, "0\r\n", "X-Trailer: xxxxxxxx\r\n"); }},
      {"unfinished bodies on many HTTP/2 connections", [&](std::uint16_t port) { send_unfinished(port, 10, 32'000); }},
      {"headers that wait for bodies", [&](std::uint16_t port) { send_unfinished(port, 15'000, 10); }},
      {"many connections with half a header",
       [&](std::uint16_t port) {
         std::vector<Http2Client> clients;
         for (int i = 0; i < 150; ++i) clients.push_back(stranger2(port));
       }},
  };
  const std::size_t before = memory("VmRSS");
  ASSERT_GT(before, 0u);
  forget_peak();
  for (const auto& trick : tricks) {
    for (const std::uint16_t port : {api, metrics}) {
      trick.play(port);
      EXPECT_LE(memory("VmHWM"), before + kMostBytes) << trick.name;
    }
  }
}

// A client with all rights gets few warnings, and does not harm the server by accident.
TEST_F(HostileClients, DuplicateKeysCostLittle) {
  HttpsClient client(api, authority, admin);
  const std::size_t before = memory("VmRSS");
  forget_peak();
  const HttpsAnswer refused =
      client.request("POST", kConfigMaps + "?fieldValidation=Strict", twice_below_a_long_key(15'000));
  EXPECT_EQ(refused.status, 400);
  EXPECT_LT(refused.body.size(), 200'000u);
  EXPECT_LE(memory("VmHWM"), before + kMostBytes);
  std::string unknown = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"unknown"})";
  for (int i = 0; i < 3'000; ++i) unknown += ",\"unknown" + std::to_string(i) + "\":0";
  const HttpsAnswer warned = client.request("POST", kConfigMaps, unknown + "}");
  EXPECT_EQ(warned.status, 201);
  std::size_t bytes = 0;
  for (auto [header, end] = warned.headers.equal_range("warning"); header != end; ++header)
    bytes += header->second.size();
  EXPECT_GT(warned.headers.count("warning"), 10u);
  EXPECT_LE(warned.headers.count("warning"), 100u);
  EXPECT_LE(bytes, 8'000u);
}

// What comes after a body is no header: it names no user.
TEST_F(HostileClients, ATrailerLogsNobodyIn) {
  HttpsClient all(api, authority, admin);
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  ASSERT_EQ(all.request("POST", accounts, R"({"metadata":{"name":"visitor"}})").status, 201);
  const auto issued = parse_json(all.request("POST", accounts + "/visitor/token", R"({"spec":{}})").body);
  const std::string token(string_at(issued.value(), {"status", "token"}));
  const auto post = [&](const std::string& head, const std::string& trailer) {
    return stranger(api)
        .raw("POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: h\r\n" + head +
             "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + trailer + "\r\n")
        .status;
  };
  const std::string authorization = "Authorization: Bearer " + token + "\r\n";
  EXPECT_EQ(post(authorization, ""), 201);
  EXPECT_EQ(post("", authorization), 403);
}

}  // namespace
}  // namespace berth::e2e::hostile_clients_test
