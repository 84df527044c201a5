// Requests, responses, timeouts and the end of an HTTP/2 connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "http/http2_streams_fixture.h"

namespace berth::http::http2_streams_test {
namespace {

using namespace http2_streams_tests;
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

}  // namespace
}  // namespace berth::http::http2_streams_test
