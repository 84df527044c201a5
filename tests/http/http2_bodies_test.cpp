// When the body of an HTTP/2 request is received.
#include <gtest/gtest.h>

#include <vector>

#include "http/http2_streams_fixture.h"

namespace berth::http::http2_bodies_test {
namespace {

using namespace http2_streams_tests;
using What = Http2Streams::Verdict::What;
constexpr std::uint32_t kRefusedStream = 7;

TEST_F(Http2StreamsTest, ABodyWaitsForItsVerdict) {
  verdict = What::kAsk;
  for (const std::size_t size : {2u, 20'000u, 100'000u}) {
    given = 0;
    const auto allowed = peer.request("POST", "/", std::string(size, 'x'));
    const auto refused = peer.request("POST", "/", std::string(size, 'x'));
    exchange();
    EXPECT_EQ(given, 0u);
    EXPECT_EQ(peer.answer(allowed).status, 0);
    streams.respond(refused, {403, {}, "no"});
    streams.allow(allowed);
    exchange();
    EXPECT_EQ(given, 1u);
    EXPECT_EQ(peer.answer(allowed).status, 200);
    EXPECT_EQ(peer.answer(refused).status, 403);
    EXPECT_TRUE(peer.answer(refused).complete);
    streams.allow(refused);
    exchange();
    EXPECT_EQ(given, 1u) << "what was refused stays refused";
  }
  const Http2Answer large = ask("POST", "/", std::string(kBodyLimit + 1, 'x'));
  EXPECT_EQ(large.status, 0) << "the question comes before the size";
  EXPECT_EQ(ask("GET", "/").status, 200) << "a request without a body waits for no verdict";
}

TEST_F(Http2StreamsTest, AnAllowedBodyIsAskedForAndBounded) {
  verdict = What::kAsk;
  const auto waits = peer.request(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}, {"expect", "100-continue"}}, "",
      false);
  const auto large =
      peer.request("POST", "/", std::string(kBodyLimit + 1, 'x'), {{"content-length", std::to_string(kBodyLimit + 1)}});
  exchange();
  streams.allow(waits);
  streams.allow(large);
  exchange();
  peer.send_more(waits, "{}", true);
  exchange();
  EXPECT_EQ(peer.answer(waits).status, 200);
  EXPECT_EQ(peer.answer(large).status, 413);
}

TEST_F(Http2StreamsTest, WhatMayNotBeKeptIsRefused) {
  room = 50'000;
  const auto fits = peer.request("POST", "/", std::string(30'000, 'x'));
  const auto more = peer.request("POST", "/", std::string(30'000, 'x'));
  exchange();
  EXPECT_EQ(peer.answer(fits).status, 200);
  EXPECT_EQ(peer.answer(more).error, kRefusedStream) << "the client may try again";
  EXPECT_TRUE(heads.empty());
  verdict = What::kRefuse;
  EXPECT_EQ(ask("POST", "/", "{}").error, kRefusedStream);
  EXPECT_EQ(given, 1u);
}

TEST_F(Http2StreamsTest, ABodyThatWasNotKeptIsNotGivenWhenItIsAllowed) {
  verdict = What::kAsk;
  room = 10;
  exchange();
  const auto stream =
      peer.request("POST", "/", std::string(20, 'x'), {{"content-length", std::to_string(kBodyLimit + 1)}});
  streams.receive(peer.output(), now);
  streams.allow(stream);  // before the reset is sent
  exchange();
  EXPECT_EQ(given, 0u);
  EXPECT_EQ(peer.answer(stream).error, kRefusedStream);
}

TEST_F(Http2StreamsTest, ManyStreamsMayBeRefusedAtOnce) {
  verdict = What::kRefuse;
  exchange();
  std::vector<Http2Peer::Stream> refused;
  for (std::size_t i = 0; i < 2 * kMaxRefusedStreams; ++i) refused.push_back(peer.request("POST", "/", "{}"));
  streams.receive(peer.output(), now);
  exchange();
  for (const auto stream : refused) EXPECT_EQ(peer.answer(stream).error, kRefusedStream);
  EXPECT_FALSE(peer.goaway()) << "the client does read";
  EXPECT_EQ(ask("GET", "/").status, 200);
}

// A client that does not read its refusals does not pile them up.
TEST_F(Http2StreamsTest, RefusalsThatNobodyReadsEndTheConnection) {
  exchange();
  for (std::size_t i = 0; i < 2 * kMaxRefusedStreams; ++i)
    peer.request({{":method", "CONNECT"}, {":authority", "h:1"}}, "", true);
  streams.receive(peer.output(), now);
  exchange();
  EXPECT_EQ(peer.goaway(), kCalm);
}

TEST_F(Http2StreamsTest, TheHostIsNamedOnce) {
  const auto named = [&](Http2Peer::Headers more) {
    Http2Peer::Headers all = {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}};
    all.insert(all.end(), more.begin(), more.end());
    const auto stream = peer.request(std::move(all), "", true);
    exchange();
    return peer.answer(stream).status;
  };
  EXPECT_EQ(named({{":authority", "a:1"}, {"host", "A:1"}}), 200);
  EXPECT_EQ(named({{"host", "a"}}), 200);
  EXPECT_EQ(named({{":authority", "a"}, {"host", "b"}}), 400);
  EXPECT_EQ(named({{":authority", "u@a"}}), 400);
}

// nghttp2 keeps a field until it ends, so the bytes of a header that does not end are counted as they come.
TEST_F(Http2StreamsTest, AFieldWithoutEndEndsTheConnection) {
  exchange();
  streams.receive(std::string("\x00\x00\x0e\x01\x00\x00\x00\x00\x01\x82\x00\x01"
                              "a"
                              "\x7f\xff\xf0\x03"
                              "xxxxxx",
                              23),
                  now);
  const std::string continuation = std::string("\x00\x20\x00\x09\x00\x00\x00\x00\x01", 9) + std::string(8'192, 'x');
  std::size_t sent = 0;
  for (; sent < 1'000'000 && !peer.goaway(); sent += continuation.size()) {
    streams.receive(continuation, now);
    exchange();
  }
  EXPECT_EQ(peer.goaway(), kCalm);
  EXPECT_LE(sent, kMaxHeaderBlockBytes + 2 * continuation.size());
}

}  // namespace
}  // namespace berth::http::http2_bodies_test
