// Connections above the limits.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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
  int ask() {
    const int one = connected(server->port());
    constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_EQ(::send(one, kRequest.data(), kRequest.size(), MSG_NOSIGNAL), static_cast<ssize_t>(kRequest.size()));
    return one;
  }
  static bool answered(int one, int milliseconds) {
    pollfd ready{one, POLLIN, 0};
    char piece[4096];
    return ::poll(&ready, 1, milliseconds) == 1 && ::recv(one, piece, sizeof piece, MSG_PEEK) > 12 &&
           std::string_view(piece, 12) == "HTTP/1.1 200";
  }

  AsioExecutor executor;
  ToldHandler handler;
  std::unique_ptr<HttpsServer> server;
  std::thread thread;
  std::vector<int> open;
};

TEST_F(Connections, AboveTheLimitTheyWaitUntilOthersClose) {
  constexpr std::size_t kAll = kMaxConnections + kMaxConnections / 2;
  for (std::size_t i = 0; i < kAll; ++i) open.push_back(ask());
  for (std::size_t i = 0; i < kMaxConnections; ++i) ASSERT_TRUE(answered(open[i], 60'000)) << i;
  EXPECT_EQ(server->connections(), kMaxConnections);
  for (std::size_t i = kMaxConnections; i < kAll; ++i) {
    pollfd ready{open[i], POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 0), 0) << "neither answered nor reset: " << i;
  }
  for (std::size_t i = 0; i < kMaxConnections; ++i) ::close(std::exchange(open[i], -1));
  for (std::size_t i = kMaxConnections; i < kAll; ++i) ASSERT_TRUE(answered(open[i], 60'000)) << i;
}

// Connections of one peer above its limit wait for others of that peer, and do not block other peers.
TEST(Hub, AMachineAboveItsShareWaitsForItsOwn) {
  AsioExecutor executor;
  ToldHandler handler;
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
  ToldHandler handler;
  boost::asio::io_context context;
  int told = 0;
  Hub hub(handler, executor, {}, context.get_executor(), [&] { ++told; });
  for (std::size_t i = 0; i < kMaxConnections; ++i) {
    ASSERT_TRUE(hub.may_accept());
    ASSERT_TRUE(hub.admit(Hub::Socket(context), "127.0.0.1"));
  }
  EXPECT_FALSE(hub.may_accept());
  (void)hub.leave("127.0.0.1");
  EXPECT_EQ(told, 1);
  (void)hub.leave("127.0.0.1");
  EXPECT_EQ(told, 1) << "said once";
  EXPECT_TRUE(hub.may_accept());
}

// One I/O thread may accept a connection while the other one closes the acceptor. For the thread sanitizer.
TEST(StoppedServer, StopsWhileItAccepts) {
  AsioExecutor executor;
  ToldHandler handler;
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
