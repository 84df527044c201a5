// An HTTP/2 connection without a socket, with a clock that the test controls.
#include "http/http2_streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "support/http2_peer.h"

namespace berth::http::http2_streams_test {
namespace {

using std::chrono::seconds;
using testing_support::Http2Answer;
using testing_support::Http2Peer;

constexpr std::uint32_t kNoError = 0, kProtocolError = 1, kCancelled = 8, kCalm = 11;
constexpr std::size_t kBodyLimit = 1u << 20;

class Http2StreamsTest : public testing::Test, private Http2Streams::Owner {
 protected:
  // Exchanges bytes in both directions until neither side has more to send.
  void exchange() {
    for (bool more = true; more;) {
      const std::string up = peer.output();
      if (!up.empty()) streams.receive(up, now);
      std::string down;
      streams.write(down, 1u << 30, now);
      peer.receive(down);
      more = !up.empty() || !down.empty();
    }
  }
  // Only from the server to the client, about this many bytes.
  std::size_t send_down(std::size_t bytes) {
    std::string down;
    streams.write(down, bytes, now);
    peer.receive(down);
    return down.size();
  }
  void pass(seconds time) {
    now += time;
    streams.tick(now);
    exchange();
  }
  Http2Answer ask(const std::string& method, const std::string& path, std::string sent = {},
                  Http2Peer::Headers headers = {}) {
    const auto stream = peer.request(method, path, std::move(sent), std::move(headers));
    exchange();
    return peer.answer(stream);
  }
  static HttpResponse text(std::string body) { return {200, {{"Content-Type", "text/plain"}}, std::move(body)}; }

  Http2Streams::Time now{seconds(1'000'000)};
  Http2Streams streams{*this, kBodyLimit, now};
  Http2Peer peer;
  std::map<Http2Streams::Stream, HttpRequest> requests;  // requests that are not finished
  std::size_t given = 0, most_at_once = 0, sent_bytes = 0, sent_events = 0;
  bool answers = true, takes_up = true;
  std::string body = "hello";

 private:
  void on_request(Http2Streams::Stream stream, HttpRequest request) override {
    ++given;
    requests[stream] = std::move(request);
    most_at_once = std::max(most_at_once, requests.size());
    if (takes_up) streams.taken_up(stream);
    if (answers) streams.respond(stream, requests[stream].body_too_large ? HttpResponse{413, {}, "large"} : text(body));
  }
  void on_sent(Http2Streams::Stream, std::size_t bytes, std::size_t events) override {
    sent_bytes += bytes;
    sent_events += events;
  }
  void on_gone(Http2Streams::Stream stream) override { requests.erase(stream); }
};

TEST_F(Http2StreamsTest, RequestsAndAnswersCarryWhatTheyDoInHttp1) {
  const auto stream = peer.request("POST", "/api?x=1", "{}", {{"content-type", "application/json"}, {"x-a", "1"}});
  answers = false;
  exchange();
  ASSERT_EQ(requests.size(), 1u);
  const HttpRequest& request = requests.begin()->second;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/api?x=1");
  EXPECT_EQ(request.body, "{}");
  EXPECT_EQ(request.header("Host"), "localhost");
  EXPECT_EQ(request.header("Content-Type"), "application/json");
  EXPECT_EQ(request.header("X-A"), "1");
  streams.respond(stream, {201, {{"Content-Type", "application/json"}, {"Connection", "close"}}, "{\"a\":1}"});
  exchange();
  const Http2Answer& answer = peer.answer(stream);
  EXPECT_EQ(answer.status, 201);
  EXPECT_TRUE(answer.complete);
  EXPECT_EQ(answer.body, "{\"a\":1}");
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(answer.headers.at("content-length"), "7");
  EXPECT_TRUE(answer.headers.contains("date"));
  EXPECT_FALSE(answer.headers.contains("connection"));
  EXPECT_TRUE(requests.empty());
}

TEST_F(Http2StreamsTest, AnswersWithoutABody) {
  const Http2Answer head = ask("HEAD", "/");
  EXPECT_TRUE(head.complete);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.headers.at("content-length"), "5");
  answers = false;
  const auto stream = peer.request("GET", "/");
  exchange();
  streams.respond(stream, {304, {}, "not sent"});
  exchange();
  EXPECT_TRUE(peer.answer(stream).complete);
  EXPECT_EQ(peer.answer(stream).body, "");
  EXPECT_FALSE(peer.answer(stream).headers.contains("content-length"));
}

TEST_F(Http2StreamsTest, AThousandRequestsShareOneConnection) {
  exchange();
  EXPECT_EQ(peer.max_streams(), kMaxStreams);
  answers = false;
  std::vector<Http2Peer::Stream> asked;
  for (int i = 0; i < 1000; ++i) asked.push_back(peer.request("POST", "/", "{}"));
  exchange();
  EXPECT_EQ(requests.size(), kMaxStreams) << "the others wait at the client";
  for (int round = 0; round < 4; ++round) {
    const auto waiting = requests;
    for (const auto& [stream, request] : waiting) streams.respond(stream, text("x"));
    exchange();
  }
  EXPECT_EQ(peer.complete(), 1000u);
  EXPECT_EQ(most_at_once, kMaxStreams);
  EXPECT_FALSE(streams.over());
}

TEST_F(Http2StreamsTest, HeadersAreBounded) {
  exchange();
  EXPECT_EQ(peer.max_header_bytes(), kMaxHeaderBytes);
  const Http2Answer answer = ask("GET", "/", "", {{"x-long", std::string(20'000, 'x')}});
  EXPECT_EQ(answer.status, 431);
  EXPECT_EQ(given, 0u);
  EXPECT_EQ(ask("GET", "/").status, 200) << "the connection goes on";
}

TEST_F(Http2StreamsTest, WhatIsNotServedIsSaid) {
  const auto connect = peer.request({{":method", "CONNECT"}, {":authority", "elsewhere:443"}}, "", true);
  exchange();
  EXPECT_EQ(peer.answer(connect).status, 405);
  EXPECT_NE(peer.answer(connect).body.find("CONNECT is not served"), std::string::npos);
  const auto trailers =
      peer.request({{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}, "{}", false);
  exchange();
  peer.send_trailers(trailers);
  exchange();
  EXPECT_EQ(peer.answer(trailers).status, 400);
  EXPECT_NE(peer.answer(trailers).body.find("trailers are not served"), std::string::npos);
  const Http2Answer upgrade = ask("GET", "/", "", {{"connection", "upgrade"}, {"upgrade", "websocket"}});
  EXPECT_EQ(upgrade.error, kProtocolError) << "such headers are malformed in HTTP/2 (RFC 9113, 8.2.2)";
  EXPECT_EQ(given, 0u);
  EXPECT_EQ(ask("GET", "/").status, 200);
}

TEST_F(Http2StreamsTest, BodiesAreBounded) {
  EXPECT_EQ(ask("POST", "/", std::string(kBodyLimit, 'x')).status, 200);
  const auto declared =
      ask("POST", "/", std::string(kBodyLimit + 1, 'x'), {{"content-length", std::to_string(kBodyLimit + 1)}});
  EXPECT_EQ(declared.status, 413);
  EXPECT_EQ(declared.error, kNoError);
  const auto streamed = ask("POST", "/", std::string(4 * kBodyLimit, 'x'));
  EXPECT_EQ(streamed.status, 413);
  EXPECT_TRUE(streamed.closed) << "what was left of it was read";
  const auto endless = ask("POST", "/", std::string(2 * kMaxDrainBytes, 'x'));
  EXPECT_EQ(endless.status, 413);
  EXPECT_TRUE(endless.closed) << "what was left of it was not wanted";
  EXPECT_EQ(endless.error, kNoError);
  EXPECT_TRUE(requests.empty());
  EXPECT_EQ(ask("GET", "/").status, 200);
}

TEST_F(Http2StreamsTest, OnlySomeLargeBodiesAreKeptAtATime) {
  takes_up = answers = false;
  std::vector<Http2Peer::Stream> large;
  for (int i = 0; i < 3 * kMaxLargeBodies; ++i)
    large.push_back(peer.request("POST", "/", std::string(kBodyLimit / 2, 'x')));
  const auto small = peer.request("POST", "/", std::string(kStreamWindow / 2, 'x'));
  exchange();
  EXPECT_EQ(requests.size(), kMaxLargeBodies + 1u);
  EXPECT_TRUE(requests.contains(small)) << "small ones pass by";
  for (int round = 0; round < 3; ++round) {
    const auto waiting = requests;
    for (const auto& [stream, request] : waiting) {
      streams.taken_up(stream);
      streams.respond(stream, text("x"));
    }
    exchange();
  }
  EXPECT_EQ(peer.complete(), large.size() + 1);
}

TEST_F(Http2StreamsTest, ContinuesWhenAskedWhetherToSend) {
  const auto stream = peer.request(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}, {"expect", "100-continue"}}, "",
      false);
  exchange();
  EXPECT_EQ(peer.answer(stream).status, 100);
  peer.send_more(stream, "{}", true);
  exchange();
  EXPECT_EQ(peer.answer(stream).status, 200);
}

// --- Responses.

TEST_F(Http2StreamsTest, ASlowReaderHoldsUpNobody) {
  body = std::string(8u << 20, 'b');
  const auto slow = peer.request("GET", "/");
  peer.hold(slow);
  exchange();
  EXPECT_EQ(peer.answer(slow).body.size(), 1u << 20) << "its window";
  body = "small";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask("GET", "/").body, "small");
  EXPECT_EQ(send_down(1u << 30), 0u) << "nothing more is made for it";
  peer.go_on(slow);
  exchange();
  EXPECT_TRUE(peer.answer(slow).complete);
  EXPECT_EQ(peer.answer(slow).body.size(), 8u << 20);
}

TEST_F(Http2StreamsTest, AnswersTakeTurns) {
  body = std::string(512 * 1024, 'b');
  std::vector<Http2Peer::Stream> asked;
  for (int i = 0; i < 8; ++i) asked.push_back(peer.request("GET", "/"));
  streams.receive(peer.output(), now);
  while (peer.complete() == 0) {
    ASSERT_GT(send_down(64 * 1024), 0u);
    std::size_t least = 1u << 30, most = 0;
    for (const auto stream : asked) {
      least = std::min(least, peer.answer(stream).body.size());
      most = std::max(most, peer.answer(stream).body.size());
    }
    EXPECT_LE(most - least, 64u * 1024) << "all come forward together";
  }
}

TEST_F(Http2StreamsTest, EventsAreSentAsTheyComeAndCounted) {
  answers = false;
  const auto stream = peer.request("GET", "/watch");
  exchange();
  streams.begin(stream, 200, {{"Content-Type", "application/json"}});
  exchange();
  EXPECT_EQ(peer.answer(stream).status, 200);
  EXPECT_FALSE(peer.answer(stream).headers.contains("content-length"));
  for (int i = 0; i < 3; ++i) {
    streams.chunk(stream, std::make_shared<const std::string>("event\n"));
    exchange();
    EXPECT_EQ(sent_events, static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(peer.answer(stream).body, "event\nevent\nevent\n");
  EXPECT_EQ(sent_bytes, 18u);
  streams.end(stream);
  exchange();
  EXPECT_TRUE(peer.answer(stream).complete);
  EXPECT_TRUE(requests.empty());
  streams.chunk(stream, std::make_shared<const std::string>("late"));
}

TEST_F(Http2StreamsTest, EventsWaitForTheirReader) {
  answers = false;
  const auto stream = peer.request("GET", "/watch");
  peer.hold(stream);
  exchange();
  streams.begin(stream, 200, {});
  const auto event = std::make_shared<const std::string>(std::string(64 * 1024, 'e'));
  for (int i = 0; i < 32; ++i) streams.chunk(stream, event);
  exchange();
  EXPECT_EQ(sent_events, 16u) << "one window";
  peer.go_on(stream);
  exchange();
  EXPECT_EQ(sent_events, 32u);
}

TEST_F(Http2StreamsTest, AResetEndsTheRequest) {
  answers = false;
  const auto stream = peer.request("GET", "/watch");
  exchange();
  streams.begin(stream, 200, {});
  exchange();
  EXPECT_EQ(requests.size(), 1u);
  peer.reset(stream);
  exchange();
  EXPECT_TRUE(requests.empty());
  streams.chunk(stream, std::make_shared<const std::string>("late"));
  streams.respond(stream, text("late"));
  exchange();
  EXPECT_EQ(peer.answer(stream).body, "");
}

// --- Timeouts.

TEST_F(Http2StreamsTest, IdleConnectionsEnd) {
  EXPECT_EQ(ask("GET", "/").status, 200);
  pass(kIdleTimeout - seconds(1));
  EXPECT_FALSE(streams.over());
  peer.ping();  // not a request
  exchange();
  pass(seconds(1));
  EXPECT_EQ(peer.goaway(), kNoError);
  EXPECT_TRUE(streams.over());
}

TEST_F(Http2StreamsTest, AWatchIsNotIdle) {
  answers = false;
  const auto stream = peer.request("GET", "/watch");
  exchange();
  streams.begin(stream, 200, {});
  for (int i = 0; i < 10; ++i) pass(kIdleTimeout);
  EXPECT_FALSE(streams.over());
  streams.chunk(stream, std::make_shared<const std::string>("event"));
  exchange();
  EXPECT_EQ(peer.answer(stream).body, "event");
}

TEST_F(Http2StreamsTest, ABodyThatDoesNotComeIsNotWaitedFor) {
  const auto stream =
      peer.request({{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}, "{", false);
  exchange();
  pass(kBodyTimeout - seconds(1));
  EXPECT_FALSE(peer.answer(stream).closed);
  pass(seconds(1));
  EXPECT_EQ(peer.answer(stream).error, kCancelled);
  EXPECT_EQ(ask("GET", "/").status, 200);
}

TEST_F(Http2StreamsTest, AnAnswerThatIsNotReadIsGivenUp) {
  body = std::string(4u << 20, 'b');
  const auto slow = peer.request("GET", "/");
  peer.hold(slow);
  exchange();
  pass(kWriteTimeout - seconds(1));
  peer.go_on(slow);
  peer.hold(slow);
  exchange();
  pass(kWriteTimeout - seconds(1));
  EXPECT_FALSE(peer.answer(slow).closed) << "it had gone on";
  pass(seconds(1));
  EXPECT_EQ(peer.answer(slow).error, kCancelled);
  EXPECT_TRUE(requests.empty());
  answers = false;
  const auto watch = peer.request("GET", "/watch");
  peer.hold(watch);
  exchange();
  streams.begin(watch, 200, {});
  streams.chunk(watch, std::make_shared<const std::string>(std::string(2u << 20, 'e')));
  exchange();
  pass(kWriteTimeout);
  EXPECT_EQ(peer.answer(watch).error, kCancelled);
  EXPECT_FALSE(streams.over()) << "the other streams go on";
}

// A HEADERS frame without END_HEADERS, then nothing: no other frame may come before the rest of the header block.
TEST_F(Http2StreamsTest, HeadersThatDoNotEndEndTheConnection) {
  exchange();
  const char frame[] = {0, 0, 1, /*HEADERS*/ 1, /*flags*/ 0, 0, 0, 0, 1, static_cast<char>(0x82)};
  streams.receive({frame, sizeof frame}, now);
  pass(kHeaderTimeout);
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_TRUE(streams.over());
}

// --- Shutdown.

TEST_F(Http2StreamsTest, StopsWhenWhatRunsIsDone) {
  answers = false;
  const auto watch = peer.request("GET", "/watch"), slow = peer.request("GET", "/");
  exchange();
  streams.begin(watch, 200, {});
  exchange();
  streams.stop();
  std::string down;
  streams.write(down, 1u << 30, now);  // not received yet
  const auto late = peer.request("GET", "/late");
  streams.receive(peer.output(), now);
  EXPECT_TRUE(requests.contains(late)) << "it was on its way";
  peer.receive(down);
  exchange();
  EXPECT_EQ(peer.goaway(), kNoError);
  EXPECT_TRUE(peer.answer(watch).complete) << "events end";
  EXPECT_FALSE(streams.over());
  streams.respond(slow, text("done"));
  streams.respond(late, text("done"));
  exchange();
  EXPECT_EQ(peer.answer(slow).body, "done");
  EXPECT_EQ(peer.answer(late).body, "done");
  EXPECT_TRUE(streams.over());
}

// --- Floods.

TEST_F(Http2StreamsTest, RapidResetsEndTheConnection) {
  answers = false;
  int opened = 0;
  for (; opened < 5'000 && !peer.goaway(); ++opened) {
    const auto stream = peer.request("GET", "/");
    exchange();
    peer.reset(stream);
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_LE(opened, kResetBurst + 1);
  EXPECT_LE(given, kResetBurst + 1u);
  EXPECT_TRUE(streams.over());
  EXPECT_TRUE(requests.empty());
}

// A client can also provoke the server into resetting a stream.
TEST_F(Http2StreamsTest, ResetsThatTheServerIsMadeToSendCountAsWell) {
  answers = false;
  int opened = 0;
  for (; opened < 5'000 && !peer.goaway(); ++opened) {
    const auto stream = peer.request("GET", "/");
    exchange();
    // A window above 2^31-1 is an error of the stream (RFC 9113, 6.9.1).
    const char id = static_cast<char>(stream & 0xff), high = static_cast<char>(stream >> 8);
    const char frame[] = {
        0, 0, 4, 8, 0, 0, 0, high, id, 0x7f, static_cast<char>(0xff), static_cast<char>(0xff), static_cast<char>(0xff)};
    streams.receive({frame, sizeof frame}, now);
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_LE(opened, kResetBurst + 1);
  EXPECT_GT(opened, kResetBurst / 2);
}

TEST_F(Http2StreamsTest, CancellingEverythingOnceIsNoAttack) {
  answers = false;
  for (int minute = 0; minute < 5; ++minute) {
    std::vector<Http2Peer::Stream> asked;
    for (std::size_t i = 0; i < kMaxStreams; ++i) asked.push_back(peer.request("GET", "/"));
    exchange();
    for (const auto stream : asked) peer.reset(stream);
    exchange();
    EXPECT_TRUE(requests.empty());
    pass(seconds(30));
  }
  EXPECT_EQ(peer.goaway(), std::nullopt);
}

TEST_F(Http2StreamsTest, FloodsOfFramesThatDoNothingEndTheConnection) {
  exchange();
  for (int i = 0; i < 10'000 && !streams.over(); ++i) {
    peer.ping();
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_LE(peer.pings_answered(), static_cast<std::size_t>(kIdleFrameBurst));
}

TEST_F(Http2StreamsTest, AFloodOfSettingsEndsTheConnection) {
  exchange();
  int sent = 0;
  for (; sent < 10'000 && !streams.over(); ++sent) {
    peer.settings();
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_LE(sent, kIdleFrameBurst);
}

TEST_F(Http2StreamsTest, AFloodOfEmptyDataEndsTheConnection) {
  const auto stream =
      peer.request({{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}, "", false);
  exchange();
  const char frame[] = {0, 0, 0, 0, 0, 0, 0, 0, static_cast<char>(stream)};
  for (int i = 0; i < 10'000 && !streams.over(); ++i) {
    streams.receive({frame, sizeof frame}, now);
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
}

// The client does not read the answers to its frames: memory stays bounded, and the server stops reading.
TEST_F(Http2StreamsTest, AnswersToFramesThatNobodyReadsAreBounded) {
  exchange();
  for (int i = 0; i < 900; ++i) peer.ping();
  streams.receive(peer.output(), now);
  EXPECT_TRUE(streams.wants_to_read());
  for (int i = 0; i < 100; ++i) peer.ping();
  streams.receive(peer.output(), now);
  EXPECT_FALSE(streams.wants_to_read());
  std::string down;
  streams.write(down, 1u << 30, now);
  EXPECT_TRUE(streams.wants_to_read());
}

TEST_F(Http2StreamsTest, FramesThatKeepAWatchGoingAreNoFlood) {
  answers = false;
  const auto watch = peer.request("GET", "/watch");
  exchange();
  streams.begin(watch, 200, {});
  for (int i = 0; i < 50'000; ++i) {
    streams.chunk(watch, std::make_shared<const std::string>(std::string(1024, 'e')));
    exchange();
  }
  EXPECT_EQ(peer.goaway(), std::nullopt);
  EXPECT_EQ(peer.answer(watch).body.size(), 50'000u * 1024);
}

// --- Invalid input.

TEST(Http2Nonsense, BytesOfAnyKindEndInOrder) {
  struct Owner final : Http2Streams::Owner {
    void on_request(Http2Streams::Stream stream, HttpRequest) override { streams->respond(stream, {200, {}, "x"}); }
    void on_sent(Http2Streams::Stream, std::size_t, std::size_t) override {}
    void on_gone(Http2Streams::Stream) override {}
    Http2Streams* streams = nullptr;
  };
  std::mt19937 random(7);
  int ended = 0;
  constexpr int kRuns = 3'000;
  for (int run = 0; run < kRuns; ++run) {
    Owner owner;
    Http2Streams::Time now{seconds(1'000'000)};
    Http2Streams streams(owner, kBodyLimit, now);
    owner.streams = &streams;
    // The preface, then frames with random contents, or random bytes, or a valid conversation with some bytes
    // changed.
    Http2Peer peer;
    std::string bytes = peer.output();
    if (run % 3 == 0) {
      for (int i = 0; i < 5; ++i)
        peer.request(i % 2 == 0 ? "GET" : "POST", "/", i % 2 == 0 ? "" : std::string(5'000, 'x'));
      const std::size_t preface = bytes.size();
      bytes += peer.output();
      for (int i = 0; i < 5; ++i) bytes[preface + random() % (bytes.size() - preface)] ^= static_cast<char>(random());
    } else {
      for (int i = 0; i < 50; ++i) {
        const std::size_t size = random() % 64;
        if (run % 3 == 1) {
          const char head[] = {
              0, 0, static_cast<char>(size),        static_cast<char>(random() % 11), static_cast<char>(random()), 0,
              0, 0, static_cast<char>(random() % 8)};
          bytes.append(head, sizeof head);
        }
        for (std::size_t k = 0; k < size; ++k) bytes += static_cast<char>(random());
      }
    }
    for (std::size_t at = 0; at < bytes.size() && !streams.over();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 500, bytes.size() - at);
      streams.receive(std::string_view(bytes).substr(at, size), now);
      at += size;
      std::string out;
      streams.write(out, 1u << 20, now);
      peer.receive(out);
    }
    now += kIdleTimeout;
    streams.tick(now);
    std::string out;
    streams.write(out, 1u << 20, now);
    now += kIdleTimeout;
    streams.tick(now);
    streams.write(out, 1u << 20, now);
    ended += streams.over() ? 1 : 0;
  }
  EXPECT_GT(ended, kRuns * 9 / 10);
}

}  // namespace
}  // namespace berth::http::http2_streams_test
