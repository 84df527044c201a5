// The client's HTTP/2 against a server that does what the test says.
#include "kube/transport/http2.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/asio_executor.h"
#include "kube/transport/scripted_server.h"
#include "kube/transport/transport.h"

namespace berth::kube::http2_test {
namespace {

using namespace test;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kDeadline{20};

class Http2Test : public testing::Test {
 protected:
  void serve(std::vector<ScriptedServer::Script> scripts, std::string settings = {}) {
    server_ = std::make_unique<ScriptedServer>(std::move(scripts), std::move(settings));
    options_.host = "127.0.0.1";
    options_.port = server_->port();
    transport_ = std::make_unique<Transport>(executor_, options_);
    TlsIdentity trust;
    trust.authority_pem = server_->authority();
    transport_->use(make_client_context(trust).value());
  }
  ~Http2Test() override {
    transport_.reset();
    server_.reset();
  }

  void run_until(const std::function<bool()>& done) {
    bool late = false;
    const TimerId timer = executor_.after(kDeadline, [&] {
      late = true;
      executor_.stop();
    });
    std::function<void()> look = [&] {
      if (done()) return executor_.stop();
      if (!late) executor_.after(milliseconds(1), look);
    };
    executor_.post(look);
    executor_.run();
    executor_.cancel(timer);
    ASSERT_FALSE(late) << "did not happen within 20 s";
  }

  // Sends a request; its reply is in replies_ at this place.
  void send(std::string target, std::string body = {}, Duration timeout = kDeadline) {
    replies_.emplace_back();
    HttpRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.target = std::move(target);
    request.headers = {{"Accept", "application/json"}};
    request.body = std::move(body);
    transport_->call(std::move(request), timeout, [this, at = replies_.size() - 1](HttpReply reply) {
      replies_[at] = std::move(reply);
      ++answered_;
    });
  }
  void wait_for_replies() {
    run_until([&] { return answered_ == replies_.size(); });
  }

  berth::http::AsioExecutor executor_;
  TransportOptions options_;
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Transport> transport_;
  std::vector<HttpReply> replies_;
  std::size_t answered_ = 0;
};

TEST_F(Http2Test, SendsTheBodyAndReadsTheWholeAnswer) {
  const std::string large(300 * 1024, 'x');  // more than a window
  serve({[&](ServerSide& s) {
    const auto stream = s.next_request();
    std::size_t received = 0;
    for (bool last = false; !last;) {
      const Frame f = s.read();
      if (f.type != kData) continue;
      received += f.payload.size();
      last = (f.flags & kEndStream) != 0;
      const std::string more = big_endian(static_cast<std::uint32_t>(f.payload.size()), 4);
      if (!f.payload.empty()) s.send(frame(8, 0, 0, more) + frame(8, 0, stream, more));  // WINDOW_UPDATE
    }
    EXPECT_EQ(received, large.size());
    s.send(frame(kHeaders, kEndHeaders, stream,
                 hpack(":status", "429") + hpack("retry-after", "7") + hpack("warning", "299 - \"careful\"")));
    for (int i = 0; i < 200; ++i) s.send(frame(kData, 0, stream, std::string(10'000, 'y')));
    s.send(frame(kData, kEndStream, stream));
    s.wait_for_end();
  }});
  send("/a", large);
  wait_for_replies();
  EXPECT_EQ(replies_[0].status, 429);
  EXPECT_EQ(replies_[0].retry_after_seconds, 7);
  EXPECT_EQ(replies_[0].warnings, std::vector<std::string>{"careful"});
  EXPECT_EQ(replies_[0].body, std::string(2'000'000, 'y'));
  transport_.reset();
}

TEST_F(Http2Test, AnInterimAnswerAndTrailersAreNotTheAnswer) {
  serve({[](ServerSide& s) {
    const auto stream = s.next_request();
    s.send(frame(kHeaders, kEndHeaders, stream, hpack(":status", "103") + hpack("retry-after", "1")));
    s.send(frame(kHeaders, kEndHeaders, stream, kStatus404) + frame(kData, 0, stream, "no"));
    s.send(frame(kHeaders, kEndHeaders | kEndStream, stream, hpack("x-sum", "1")));
    s.wait_for_end();
  }});
  send("/a");
  wait_for_replies();
  EXPECT_EQ(replies_[0].status, 404);
  EXPECT_EQ(replies_[0].body, "no");
  EXPECT_FALSE(replies_[0].retry_after_seconds);
  transport_.reset();
}

TEST_F(Http2Test, AfterGoAwayWhatTheServerDidNotTakeGoesToAnotherConnection) {
  serve({[](ServerSide& s) {
           const auto first = s.next_request(), second = s.next_request();
           EXPECT_LT(first, second);
           s.send(frame(kGoAway, 0, 0, big_endian(first, 4) + big_endian(0, 4)));
           s.answer(first, "one");
           s.wait_for_end();
         },
         [](ServerSide& s) {
           s.answer(s.next_request(), "again");
           s.wait_for_end();
         }});
  send("/1");
  send("/2");
  wait_for_replies();
  EXPECT_EQ(replies_[0].body, "one");
  EXPECT_EQ(replies_[1].status, 0);
  EXPECT_FALSE(replies_[1].sent) << "so that the caller may send it again, whatever it does";
  send("/2");
  wait_for_replies();
  EXPECT_EQ(replies_[2].body, "again");
  transport_.reset();
}

TEST_F(Http2Test, AResetStreamSaysWhetherTheServerSawTheRequest) {
  serve({[](ServerSide& s) {
    const auto first = s.next_request(), second = s.next_request(), third = s.next_request();
    s.send(frame(kReset, 0, first, big_endian(kRefusedStream, 4)));
    s.send(frame(kReset, 0, second, big_endian(kInternalError, 4)));
    s.answer(third, "well");
    s.wait_for_end();
  }});
  for (const char* target : {"/1", "/2", "/3"}) send(target);
  wait_for_replies();
  EXPECT_FALSE(replies_[0].sent);
  EXPECT_TRUE(replies_[1].sent);
  EXPECT_EQ(replies_[1].error, "the connection broke while waiting for the answer: the server reset the stream");
  EXPECT_EQ(replies_[2].body, "well") << "the others are not disturbed";
  transport_.reset();
}

TEST_F(Http2Test, TheServersLimitOfStreamsHolds) {
  const std::string one_stream = big_endian(3, 2) + big_endian(1, 4);  // SETTINGS_MAX_CONCURRENT_STREAMS
  serve({[](ServerSide& s) {
          s.answer(s.next_request(), "0");
          for (int i = 1; i < 5; ++i) {
            const auto stream = s.next_request();
            s.send(frame(kPing, 0, 0, "12345678"));
            // The answer to the PING comes before the next request.
            for (Frame f = s.read(); f.type != kPing; f = s.read()) EXPECT_NE(f.type, kHeaders);
            s.answer(stream, std::to_string(i));
          }
          s.wait_for_end();
        }},
        one_stream);
  send("/0");
  wait_for_replies();
  for (int i = 1; i < 5; ++i) send("/" + std::to_string(i));
  wait_for_replies();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(replies_[i].body, std::to_string(i));
  transport_.reset();
}

TEST_F(Http2Test, AServerThatGivesNoSignOfLifeIsLeft) {
  options_.ping_after = milliseconds(50);
  options_.ping_timeout = milliseconds(100);
  serve({[](ServerSide& s) {
           s.next_request();
           s.read(kPing);
           s.wait_for_end();
         },
         [](ServerSide& s) {
           s.answer(s.next_request(), "alive");
           s.wait_for_end();
         }});
  send("/a");
  wait_for_replies();
  EXPECT_TRUE(replies_[0].sent);
  EXPECT_EQ(replies_[0].error, "the connection broke while waiting for the answer: the server gives no sign of life");
  send("/b");
  wait_for_replies();
  EXPECT_EQ(replies_[1].body, "alive");
  transport_.reset();
}

TEST_F(Http2Test, ARequestHasItsTimeout) {
  options_.ping_after = milliseconds(50);
  options_.ping_timeout = milliseconds(500);
  serve({[](ServerSide& s) {
    const auto slow = s.next_request();
    for (Frame f = s.read(); f.type != kReset; f = s.read()) {
      if (f.type == kPing) s.send(frame(kPing, kAck, 0, f.payload));
      if (f.type == kHeaders) s.answer(f.stream, "quick");
      EXPECT_TRUE(f.type != kReset || f.stream == slow);
    }
    s.wait_for_end();
  }});
  send("/slow", {}, seconds(1));
  send("/quick");
  wait_for_replies();
  EXPECT_EQ(replies_[0].error, "the connection broke while waiting for the answer: no answer within 1 s");
  EXPECT_EQ(replies_[1].body, "quick");
  transport_.reset();
}

TEST_F(Http2Test, WhatIsNotHttp2EndsTheConnection) {
  serve({[](ServerSide& s) {
           s.next_request();
           s.send(frame(kData, 0, 0, "data without a stream"));
           s.wait_for_end();
         },
         [](ServerSide& s) {
           s.next_request();
           s.send(std::string(64, '\xff'));
           s.wait_for_end();
         },
         [](ServerSide& s) {
           const auto stream = s.next_request();
           s.send(frame(kHeaders, 0, stream, kStatus200));
           for (int i = 0; i < 20; ++i) s.send(frame(kContinuation, 0, stream, hpack("a", std::string(100, 'b'))));
         }});
  for (std::size_t i = 0; i < 3; ++i) {
    send("/a");
    wait_for_replies();
    EXPECT_EQ(replies_[i].status, 0);
    EXPECT_TRUE(replies_[i].error.starts_with("the connection broke while waiting for the answer: "))
        << replies_[i].error;
  }
  transport_.reset();
}

TEST_F(Http2Test, TooManyHeadersAreRefused) {
  serve({[](ServerSide& s) {
    const auto stream = s.next_request();
    s.send(frame(kHeaders, 0, stream, kStatus200));
    std::string many;
    for (int i = 0; i < 100; ++i) many += hpack("a", std::string(126, 'b'));
    for (int i = 0; i < 6; ++i) s.send(frame(kContinuation, i == 5 ? kEndHeaders : 0, stream, many));
    s.wait_for_end();
  }});
  send("/a");
  wait_for_replies();
  EXPECT_EQ(replies_[0].status, 0);
  EXPECT_FALSE(replies_[0].error.empty());
  transport_.reset();
}

struct Heard {
  std::optional<HttpReply> head;
  std::vector<std::string> lines;
  std::optional<std::string> end;

  Transport::StreamHandler handler() {
    return {[this](HttpReply reply) { head = std::move(reply); },
            [this](std::string_view line) { lines.emplace_back(line); },
            [this](std::string why) { end = std::move(why); }};
  }
};

HttpRequest get(std::string target) {
  HttpRequest request;
  request.method = "GET";
  request.target = std::move(target);
  return request;
}

TEST_F(Http2Test, StreamsShareAConnectionAndEndAlone) {
  serve({[](ServerSide& s) {
    const auto first = s.next_request(), second = s.next_request(), third = s.next_request();
    for (const auto stream : {first, second}) s.send(frame(kHeaders, kEndHeaders, stream, kStatus200));
    s.send(frame(kData, 0, first, "a\nb\nc") + frame(kData, 0, second, "x\n") + frame(kData, kEndStream, first, "d\n"));
    s.send(frame(kHeaders, kEndHeaders, third, kStatus404) + frame(kData, kEndStream, third, "no such thing"));
    s.send(frame(kReset, 0, second, big_endian(kInternalError, 4)));
    s.wait_for_end();
  }});
  Heard first, second, third;
  const auto one = transport_->stream(get("/1"), kDeadline, first.handler());
  const auto two = transport_->stream(get("/2"), kDeadline, second.handler());
  const auto three = transport_->stream(get("/3"), kDeadline, third.handler());
  run_until([&] { return first.end && second.end && third.head; });
  EXPECT_EQ(first.lines, (std::vector<std::string>{"a", "b", "cd"}));
  EXPECT_EQ(*first.end, "");
  EXPECT_EQ(second.lines, std::vector<std::string>{"x"});
  EXPECT_EQ(*second.end, "the server reset the stream");
  EXPECT_EQ(third.head->status, 404);
  EXPECT_EQ(third.head->body, "no such thing");
  transport_.reset();
}

TEST_F(Http2Test, ASilentStreamEndsAndAClosedOneIsCancelled) {
  options_.ping_after = milliseconds(50);
  options_.ping_timeout = kDeadline;
  serve({[](ServerSide& s) {
    const auto first = s.next_request(), second = s.next_request();
    for (const auto stream : {first, second}) s.send(frame(kHeaders, kEndHeaders, stream, kStatus200));
    EXPECT_EQ(s.read(kReset).stream, first) << "silent";
    EXPECT_EQ(s.read(kReset).stream, second) << "closed";
    s.wait_for_end();
  }});
  Heard silent, closed;
  const auto one = transport_->stream(get("/1"), milliseconds(200), silent.handler());
  auto two = transport_->stream(get("/2"), kDeadline, closed.handler());
  run_until([&] { return silent.end && closed.head; });
  EXPECT_EQ(*silent.end, "nothing was heard for too long");
  two.reset();
  std::this_thread::sleep_for(milliseconds(50));
  transport_.reset();
  EXPECT_FALSE(closed.end);
}

TEST_F(Http2Test, ABrokenConnectionEndsAllItsStreams) {
  serve({[](ServerSide& s) {
    const auto first = s.next_request(), second = s.next_request();
    for (const auto stream : {first, second}) s.send(frame(kHeaders, kEndHeaders, stream, kStatus200));
    s.send(frame(kData, 0, first, "a\nhalf"));
  }});
  Heard first, second;
  const auto one = transport_->stream(get("/1"), kDeadline, first.handler());
  const auto two = transport_->stream(get("/2"), kDeadline, second.handler());
  run_until([&] { return first.end && second.end; });
  EXPECT_EQ(first.lines, std::vector<std::string>{"a"});
  EXPECT_FALSE(first.end->empty());
  EXPECT_FALSE(second.end->empty());
  transport_.reset();
}

}  // namespace
}  // namespace berth::kube::http2_test
