// What clients without credentials can make a server keep.
#include "http/strangers.h"

#include <gtest/gtest.h>

#include "http/served.h"

namespace berth::http::strangers_test {
namespace {

using testing_support::Http2Client;
using testing_support::Http2Peer;
using testing_support::HttpsClient;

constexpr std::uint32_t kRefusedStream = 7;
constexpr std::size_t kLimit = 1u << 20;

HttpsServerOptions tight() {
  HttpsServerOptions options;
  options.stranger_bytes_per_peer = options.stranger_bytes = kLimit;
  return options;
}

Http2Client stranger2(Served& served) { return {served.server->port(), served.authority.certificate, {}}; }
HttpsClient stranger1(Served& served) { return {served.server->port(), served.authority.certificate, {}}; }

Http2Peer::Headers post() { return {{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}; }

TEST(Strangers, OnePeerDoesNotTakeTheBytesOfAll) {
  const auto strangers = std::make_shared<Strangers>(100, 150);
  auto a = strangers->share("a");
  EXPECT_TRUE(a->take(60));
  EXPECT_FALSE(strangers->share("a")->take(60)) << "above the limit of a peer";
  const auto b = strangers->share("b");
  EXPECT_TRUE(b->take(60));
  EXPECT_FALSE(b->take(40)) << "above the limit of all";
  EXPECT_TRUE(b->take(30));
  EXPECT_EQ(strangers->bytes(), 150u);
  a.reset();
  EXPECT_EQ(strangers->bytes(), 90u) << "the end of a request gives its bytes back";
  EXPECT_TRUE(strangers->share("a")->take(60));
}

// A body is neither kept nor decoded before the request is allowed.
TEST(Strangers, ABodyThatMayNotComeIsNotRead) {
  Served served;
  served.handler.requests = true;
  const std::string body(500'000, 'x');
  HttpsClient old = stranger1(served);
  EXPECT_EQ(old.request("POST", "/", body).status, 403);
  EXPECT_EQ(old.request("GET", "/").status, 200) << "the connection goes on, and what has no body is not asked about";
  EXPECT_EQ(old.raw("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").status,
            403);
  EXPECT_EQ(old.raw("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n").status, 403)
      << "the body is not asked for";
  Http2Client modern = stranger2(served);
  EXPECT_EQ(modern.request("POST", "/", body).status, 403);
  EXPECT_EQ(modern.request("POST", "/", "short").status, 403);
  EXPECT_EQ(served.handler.admitted, 5);
  EXPECT_EQ(served.handler.decoded, 0u);
  EXPECT_EQ(served.handler.executed, 1);
  EXPECT_EQ(served.http2().request("POST", "/", body).body, body);
  EXPECT_EQ(served.http1().request("POST", "/", body).body, body);
  EXPECT_EQ(
      served.http1().raw("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").body,
      "abc");
  EXPECT_EQ(served.handler.decoded, 1'000'003u);
}

// The streams of a client that the server has not reset.
std::size_t open_of(Http2Client& client, const std::vector<Http2Peer::Stream>& streams) {
  std::size_t open = 0;
  for (const auto stream : streams) {
    const auto& answer = client.peer().answer(stream);
    if (answer.closed) EXPECT_EQ(answer.error, kRefusedStream);
    open += answer.closed ? 0 : 1;
  }
  return open;
}

TEST(Strangers, UnfinishedBodiesAreBounded) {
  constexpr std::size_t kBody = 30'000;
  Served served(tight());
  std::vector<Http2Client> crowd;
  std::size_t open = 0;
  for (int i = 0; i < 4; ++i) {
    crowd.push_back(stranger2(served));
    Http2Client& client = crowd.back();
    std::vector<Http2Peer::Stream> streams;
    for (int k = 0; k < 60; ++k) streams.push_back(client.peer().request(post(), std::string(kBody, 'x'), false));
    ASSERT_TRUE(client.run([&] { return (open + open_of(client, streams)) * kBody <= kLimit; }));
    open += open_of(client, streams);
  }
  EXPECT_GT(open, 10u);
  EXPECT_EQ(stranger1(served).request("POST", "/", std::string(30'000, 'x')).status, 429);
  EXPECT_EQ(served.http1().request("POST", "/", "{}").status, 200) << "who has credentials notices nothing";
  EXPECT_EQ(served.http2().request("POST", "/", std::string(100'000, 'x')).status, 200);
  crowd.clear();
  EXPECT_TRUE(served.eventually([&] { return served.server->connections() == 0; }));
  EXPECT_EQ(stranger1(served).request("POST", "/", std::string(30'000, 'x')).status, 200)
      << "what was kept for the crowd is given back";
}

TEST(Strangers, ResponsesThatNobodyReadsAreBounded) {
  Served served(tight());
  Http2Client slow(served.server->port(), served.authority.certificate, {}, {.stream_window = 1'000});
  std::vector<Http2Peer::Stream> streams;
  for (int i = 0; i < 30; ++i) {
    streams.push_back(slow.peer().request("GET", "/bytes/200000"));
    slow.peer().hold(streams.back());
  }
  std::size_t refused = 0;
  ASSERT_TRUE(slow.run([&] {
    refused = 0;
    for (const auto stream : streams) refused += slow.peer().answer(stream).status == 429 ? 1 : 0;
    return refused >= 25;
  }));
  EXPECT_LT(refused, 30u);
  EXPECT_EQ(served.http2().request("GET", "/bytes/2000000").status, 200);
}

TEST(Strangers, WaitingHeadersAreBounded) {
  Served served(tight());
  Http2Client crowd = stranger2(served);
  Http2Peer& peer = crowd.peer();
  std::vector<Http2Peer::Stream> streams;
  for (int i = 0; i < 200; ++i) {
    Http2Peer::Headers head = post();
    head.emplace_back("x-long", std::string(14'000, 'x'));
    streams.push_back(peer.request(std::move(head), "", false));
  }
  constexpr std::size_t kMost = kLimit / (14'000 + kStrangerRequestBytes);
  ASSERT_TRUE(crowd.run([&] { return open_of(crowd, streams) <= kMost; }));
  EXPECT_GT(open_of(crowd, streams), kMost / 2);
}

}  // namespace
}  // namespace berth::http::strangers_test
