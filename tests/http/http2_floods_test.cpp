// HTTP/2 peers that flood the server, and bytes that are no HTTP/2.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "http/http2_streams_fixture.h"

namespace berth::http::http2_floods_test {
namespace {

using namespace http2_streams_tests;
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
    Http2Streams::Verdict on_head(Http2Streams::Stream, HttpRequest, bool) override {
      return {Http2Streams::Verdict::What::kTake, kBodyLimit};
    }
    bool may_keep(Http2Streams::Stream, std::size_t) override { return true; }
    void on_request(Http2Streams::Stream stream, std::string, bool) override {
      streams->respond(stream, {200, {}, "x"});
    }
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
    Http2Streams streams(owner, now);
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
}  // namespace berth::http::http2_floods_test
