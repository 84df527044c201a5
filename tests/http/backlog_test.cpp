// Connections above the limits.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "http/hub.h"
#include "http/served.h"

namespace berth::http::backlog_test {
namespace {

// A connection to this port of the machine.
int connected(std::uint16_t port) {
  const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return one;
}

class Connections : public testing::Test {
 protected:
  void SetUp() override {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < 4 * kMaxConnections)
      GTEST_SKIP() << "this machine allows a process only " << files.rlim_cur << " files";
    server = HttpsServer::start(handler, executor, nullptr, {}).value();
    thread = std::thread([this] { executor.run(); });
  }
  void TearDown() override {
    for (const int one : open) ::close(one);
    if (!server) return;
    std::promise<void> stopped;
    server->stop(std::chrono::seconds(5), [&] { stopped.set_value(); });
    stopped.get_future().wait();
    server.reset();
    executor.stop();
    thread.join();
  }

  // A connection that has sent a request.
  int ask(const std::string& path = "/") {
    const int one = connected(server->port());
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_EQ(::send(one, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return one;
  }
  static bool answered(int one, int milliseconds) {
    pollfd ready{one, POLLIN, 0};
    char piece[4096];
    return ::poll(&ready, 1, milliseconds) == 1 && ::recv(one, piece, sizeof piece, MSG_PEEK) > 12 &&
           std::string_view(piece, 12) == "HTTP/1.1 200";
  }

  AsioExecutor executor;
  ReportedHandler handler;
  std::unique_ptr<HttpsServer> server;
  std::thread thread;
  std::vector<int> open;
};

TEST_F(Connections, AboveTheLimitTheyWaitWhileAllOthersHaveRequests) {
  constexpr std::size_t kAll = kMaxConnections + kMaxConnections / 2;
  for (std::size_t i = 0; i < kMaxConnections; ++i) open.push_back(ask("/watch"));
  for (std::size_t i = 0; i < kMaxConnections; ++i) ASSERT_TRUE(answered(open[i], 60'000)) << i;
  for (std::size_t i = kMaxConnections; i < kAll; ++i) open.push_back(ask());
  EXPECT_EQ(server->connections(), kMaxConnections);
  for (std::size_t i = kMaxConnections; i < kAll; ++i) {
    pollfd ready{open[i], POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 0), 0) << "neither answered nor reset: " << i;
  }
  for (std::size_t i = 0; i < kMaxConnections; ++i) ::close(std::exchange(open[i], -1));
  for (std::size_t i = kMaxConnections; i < kAll; ++i) ASSERT_TRUE(answered(open[i], 60'000)) << i;
}

// Many connections of one client that say nothing do not keep another client out.
TEST_F(Connections, SilentOnesMakePlace) {
  const int watching = open.emplace_back(ask("/watch"));
  ASSERT_TRUE(answered(watching, 10'000));
  for (std::size_t i = 0; i < 2 * kMaxConnections; ++i) open.push_back(connected(server->port()));
  EXPECT_TRUE(answered(open.emplace_back(ask()), 10'000));
  EXPECT_LE(server->connections(), kMaxConnections + kMaxMakingPlace);
  char piece[4096];
  EXPECT_GT(::recv(watching, piece, sizeof piece, MSG_DONTWAIT), 0);
  EXPECT_LT(::recv(watching, piece, sizeof piece, MSG_DONTWAIT), 0) << "who has a request stays";
}

// The same over TLS, where silence means no handshake; and idle connections of both protocols.
TEST_F(Connections, ThoseWithoutAHandshakeMakePlace) {
  Served served;
  auto watching = served.http1();
  EXPECT_EQ(watching.open_stream("/watch").status, 200);
  for (std::size_t i = 0; i < 2 * kMaxConnections; ++i) open.push_back(connected(served.server->port()));
  const auto begin = std::chrono::steady_clock::now();
  auto newer = served.http2();
  EXPECT_EQ(newer.request("GET", "/").body, "admin");
  EXPECT_EQ(served.http1().request("GET", "/").body, "admin");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_LE(served.server->connections(), kMaxConnections + kMaxMakingPlace);
  served.on_executor([&] {
    served.handler.held.at(0)->sink->chunk(std::make_shared<const std::string>("still here\n"));
    return true;
  });
  EXPECT_EQ(watching.read_line(std::chrono::seconds(10)), "still here") << "who has a request stays";
}

TEST_F(Connections, IdleOnesMakePlace) {
  for (std::size_t i = 0; i < kMaxConnections; ++i) open.push_back(ask());
  for (std::size_t i = 0; i < kMaxConnections; ++i) ASSERT_TRUE(answered(open[i], 60'000)) << i;
  EXPECT_TRUE(answered(open.emplace_back(ask()), 10'000));
}

// A connection that only notes that it was told to end.
struct Noted final : Connection {
  void stop() override {}
  void abort() override { ended = true; }
  bool ended = false;
};

class Places : public testing::Test {
 protected:
  // Admits a connection of the peer, which says nothing yet.
  std::shared_ptr<Noted> come(const std::string& peer) {
    EXPECT_TRUE(hub.may_accept());
    EXPECT_TRUE(hub.admit(Hub::Socket(context), peer));
    hub.add(all.emplace_back(std::make_shared<Noted>()).get(), peer);
    return all.back();
  }
  // The same after a request.
  std::shared_ptr<Noted> ask(const std::string& peer) {
    auto one = come(peer);
    hub.busy(one.get());
    hub.quiet(one.get());
    return one;
  }
  static std::string address(std::size_t i) { return "192.0.2." + std::to_string(i / kMaxConnectionsPerPeer); }

  AsioExecutor executor;
  ReportedHandler handler;
  boost::asio::io_context context;
  Hub hub{handler, executor, {}, context.get_executor(), [] {}};
  std::vector<std::shared_ptr<Noted>> all;
};

TEST_F(Places, ThePeerWithMostConnectionsMakesPlace) {
  const auto alone = ask("192.0.2.100"), of_two = ask("192.0.2.99");
  ask("192.0.2.99");
  while (all.size() < kMaxConnections) ask("127.0.0.1");
  const auto longest = all[3];
  for (std::size_t i = 0; i < 2 * kMaxConnections; ++i) {
    ask("127.0.0.1");
    std::erase_if(all, [&](const auto& one) {
      if (!one->ended) return false;
      hub.remove(one.get());
      EXPECT_EQ(hub.leave("127.0.0.1"), std::nullopt);
      return true;
    });
    if (i == 0) EXPECT_TRUE(longest->ended) << "it was idle for longest";
    ASSERT_EQ(hub.size(), kMaxConnections);
  }
  EXPECT_FALSE(alone->ended);
  EXPECT_FALSE(of_two->ended);
}

TEST_F(Places, ManyThatSaidNothingMakePlaceForEachOther) {
  const auto idle = ask("127.0.0.1");
  while (all.size() < kMaxConnections) come("127.0.0.1");
  come("127.0.0.1");
  EXPECT_FALSE(idle->ended);
  EXPECT_TRUE(all[1]->ended) << "the oldest";
  EXPECT_FALSE(all[2]->ended);
}

TEST_F(Places, FewThatSaidNothingMayStillSpeak) {
  const auto silent = come("127.0.0.1"), busy = come("127.0.0.1"), idle = ask("127.0.0.1"), again = ask("127.0.0.1");
  hub.busy(again.get());
  while (all.size() < kMaxConnections) hub.busy(come("127.0.0.1").get());
  hub.busy(busy.get());
  come("127.0.0.1");
  EXPECT_TRUE(idle->ended);
  EXPECT_FALSE(silent->ended);
  EXPECT_FALSE(hub.may_accept()) << "no other one can make place";
  hub.quiet(again.get());
  come("127.0.0.1");
  EXPECT_TRUE(again->ended);
}

TEST_F(Places, SilentMachinesMakePlaceForAnother) {
  for (std::size_t i = 0; i < kMaxConnections; ++i) come(address(i));
  const auto other = ask("192.0.2.0.1");
  EXPECT_TRUE(all[0]->ended);
  EXPECT_FALSE(other->ended);
}

TEST_F(Places, AreNotGivenTwice) {
  for (std::size_t i = 0; i < kMaxConnections; ++i) come(address(i));
  EXPECT_FALSE(hub.admit(Hub::Socket(context), "192.0.2.0")) << "it waits for others of its machine";
  come("127.0.0.1");
  ASSERT_TRUE(all[0]->ended);
  hub.remove(all[0].get());
  EXPECT_EQ(hub.leave("192.0.2.0"), std::nullopt);
  EXPECT_EQ(hub.size(), kMaxConnections);
}

// Connections of one peer above its limit wait for others of that peer, and do not block other peers.
TEST(Hub, AMachineAboveItsShareWaitsForItsOwn) {
  AsioExecutor executor;
  ReportedHandler handler;
  boost::asio::io_context context;
  const auto socket = [&] {
    Hub::Socket made(context);
    made.open(boost::asio::ip::tcp::v4());
    return made;
  };
  Hub hub(handler, executor, {}, context.get_executor(), [] {});
  for (std::size_t i = 0; i < kMaxConnectionsPerPeer; ++i) ASSERT_TRUE(hub.admit(socket(), "192.0.2.1"));
  EXPECT_FALSE(hub.admit(socket(), "192.0.2.1"));
  EXPECT_TRUE(hub.admit(socket(), "192.0.2.2"));
  EXPECT_EQ(hub.leave("192.0.2.2"), std::nullopt);
  EXPECT_TRUE(hub.leave("192.0.2.1")) << "the one that waited takes the place";
  EXPECT_FALSE(hub.leave("192.0.2.1"));
  EXPECT_TRUE(hub.admit(socket(), "192.0.2.1"));
  EXPECT_EQ(hub.size(), kMaxConnectionsPerPeer);
  hub.shut();
}

TEST(Hub, AcceptsAgainWhenThereIsRoom) {
  AsioExecutor executor;
  ReportedHandler handler;
  boost::asio::io_context context;
  int reported = 0;
  Hub hub(handler, executor, {}, context.get_executor(), [&] { ++reported; });
  for (std::size_t i = 0; i < kMaxConnections; ++i) {
    ASSERT_TRUE(hub.may_accept());
    ASSERT_TRUE(hub.admit(Hub::Socket(context), "127.0.0.1"));
  }
  EXPECT_FALSE(hub.may_accept());
  (void)hub.leave("127.0.0.1");
  EXPECT_EQ(reported, 1);
  (void)hub.leave("127.0.0.1");
  EXPECT_EQ(reported, 1) << "said once";
  EXPECT_TRUE(hub.may_accept());
}

// One I/O thread may accept a connection while the other one closes the acceptor. For the thread sanitizer.
TEST(StoppedServer, StopsWhileItAccepts) {
  AsioExecutor executor;
  ReportedHandler handler;
  std::thread thread([&] { executor.run(); });
  for (int i = 0; i < 100; ++i) {
    auto server = HttpsServer::start(handler, executor, nullptr, {}).value();
    const int client = connected(server->port());
    std::promise<void> stopped;
    server->stop(std::chrono::seconds(5), [&] { stopped.set_value(); });
    EXPECT_EQ(stopped.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready) << i;
    ::close(client);
  }
  executor.stop();
  thread.join();
}

}  // namespace
}  // namespace berth::http::backlog_test
