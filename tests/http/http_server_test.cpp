// HTTP/1.1 and HTTP/2 over real connections.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "http/served.h"

namespace berth::http::http_server_test {
namespace {

using testing_support::Http2Answer;
using testing_support::Http2Client;
using testing_support::Http2Peer;
using testing_support::HttpsClient;

constexpr std::uint32_t kNoError = 0, kCancelled = 8, kCalm = 11;

TEST(HttpServer, EachClientSpeaksWhatItKnows) {
  Served served;
  Http2Client modern = served.http2();
  ASSERT_TRUE(modern.connected());
  EXPECT_EQ(modern.request("GET", "/").body, "admin") << "the certificate says who asks";
  EXPECT_EQ(modern.request("POST", "/", "{}").body, "{}");
  HttpsClient plain = served.http1();
  EXPECT_EQ(plain.request("GET", "/").body, "admin");
  EXPECT_EQ(plain.request("POST", "/", "{}").body, "{}");
  Http2Client nobody(served.server->port(), served.authority.certificate, {});
  EXPECT_EQ(nobody.request("GET", "/").body, "nobody");
  EXPECT_EQ(modern.request("GET", "/from").body, "127.0.0.1");
  EXPECT_EQ(plain.request("GET", "/from").body, "127.0.0.1");
}

TEST(HttpServer, AThousandRequestsInFlightAreAnswered) {
  constexpr int kInFlight = 1'000, kEach = 4'000;
  Served served;
  Http2Client client = served.http2();
  Http2Peer& peer = client.peer();
  int asked = 0;
  std::set<Http2Peer::Stream> open;
  const std::string body(700, 'x');
  const auto ask = [&] { open.insert(peer.request("POST", "/" + std::to_string(asked++), body)); };
  for (int i = 0; i < kInFlight; ++i) ask();
  int wrong = 0;
  ASSERT_TRUE(client.run([&] {
    for (auto it = open.begin(); it != open.end();) {
      const Http2Answer& answer = peer.answer(*it);
      if (!answer.closed) {
        ++it;
        continue;
      }
      wrong += answer.status == 200 && answer.body == body ? 0 : 1;
      peer.forget(*it);
      it = open.erase(it);
      if (asked < kEach) ask();
    }
    return open.empty();
  }));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(served.server->connections(), 1u);
}

TEST(HttpServer, LargeBodiesGoBothWays) {
  Served served;
  Http2Client client = served.http2();
  const std::string body(served.max_body, 'x');
  const Http2Answer answer = client.request("POST", "/", body);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, body);
  EXPECT_EQ(client.request("POST", "/", body + "x").status, 413);
  EXPECT_EQ(client.request("GET", "/bytes/20000000").body.size(), 20'000'000u);
}

// --- Turns.

// Requests above the in-flight limit wait for a turn. None is rejected, and a connection with many requests does not
// block the others.
TEST(HttpServer, RequestsWaitForTheirTurn) {
  Served served;
  std::vector<Http2Client> greedy;
  for (int i = 0; i < 5; ++i) greedy.push_back(served.http2());
  for (Http2Client& client : greedy) {
    for (std::size_t i = 0; i < kMaxStreams; ++i) client.peer().request("GET", "/hold");
    client.run([] { return false; }, std::chrono::milliseconds(1));
  }
  const auto held_is = [&](std::size_t count) {
    return served.eventually([&] {
      for (Http2Client& client : greedy) client.run([] { return true; });
      return served.handler.held.size() == count;
    });
  };
  ASSERT_TRUE(held_is(kMaxReadsInFlight));
  EXPECT_EQ(served.handler.executed, kMaxReadsInFlight);
  Http2Client modest = served.http2();
  const auto waiting = modest.peer().request("GET", "/");
  modest.run([] { return false; }, std::chrono::milliseconds(50));
  EXPECT_EQ(modest.peer().answer(waiting).status, 0) << "all turns are taken";
  EXPECT_EQ(served.http1().request("POST", "/", "x").status, 200) << "those who write have turns of their own";
  // Six turns for six waiting connections: each of them gets one.
  served.on_executor([&] {
    for (int i = 0; i < 6; ++i)
      served.handler.held[static_cast<std::size_t>(i)]->sink->respond([] { return plain_text(200, "held"); });
    return true;
  });
  EXPECT_TRUE(modest.run([&] {
    for (Http2Client& client : greedy) client.run([] { return true; });
    return modest.peer().answer(waiting).status == 200;
  }));
}

TEST(HttpServer, OneConnectionDoesNotTakeAllTurns) {
  Served served;
  Http2Client greedy = served.http2();
  for (std::size_t i = 0; i < kMaxStreams; ++i) greedy.peer().request("GET", "/hold");
  ASSERT_TRUE(greedy.run([&] { return served.holding() == kMaxInFlightPerConnection; }));
  EXPECT_EQ(served.http2().request("GET", "/").status, 200);
  EXPECT_EQ(served.http1().request("GET", "/").status, 200);
  EXPECT_EQ(served.holding(), static_cast<std::size_t>(kMaxInFlightPerConnection));
}

TEST(HttpServer, WhoWaitsTooLongIsInformedToComeBack) {
  HttpsServerOptions options;
  options.turn_timeout = std::chrono::milliseconds(100);
  Served served(options);
  std::vector<Http2Client> greedy;
  for (int i = 0; i < kMaxReadsInFlight / kMaxInFlightPerConnection; ++i) greedy.push_back(served.http2());
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    for (int k = 0; k < kMaxInFlightPerConnection; ++k) greedy[i].peer().request("GET", "/hold");
    ASSERT_TRUE(greedy[i].run([&] { return served.holding() == (i + 1) * kMaxInFlightPerConnection; }));
  }
  Http2Client modern = served.http2();
  const auto waiting = modern.peer().request("GET", "/");
  modern.run([] { return false; }, std::chrono::milliseconds(1));
  const auto refused = served.http1().request("GET", "/");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.find("retry-after")->second, "1");
  ASSERT_TRUE(modern.run([&] { return modern.peer().answer(waiting).closed; }));
  EXPECT_EQ(modern.peer().answer(waiting).status, 429);
}

// --- Watches.

class Watching : public testing::Test {
 protected:
  Watching() { stream = client.peer().request("GET", "/watch"); }
  bool watching() {
    return client.run([&] { return client.peer().answer(stream).status == 200 && served.holding() == 1; });
  }
  // Sends events; if `patient`, pauses when the sink asks to wait.
  void push(int events, const SharedBytes& event, bool patient) {
    served.on_executor([&, events] {
      auto one = served.handler.held.at(0);
      one->on_room = [this, one = one.get(), events, event, patient] {
        for (bool room = true; sent < events && (room || !patient) && one->sink; ++sent) {
          room = one->sink->chunk(event);
          if (!room) ++paused;
        }
        if (sent == events && one->sink) one->sink->end();
      };
      one->on_room();
      return true;
    });
  }
  bool gone() {
    return served.eventually([&] { return served.handler.held.at(0)->gone; });
  }

  Served served;
  Http2Client client = served.http2();
  Http2Peer::Stream stream = 0;
  int sent = 0, paused = 0;
};

TEST_F(Watching, AWatchWaitsForItsReader) {
  ASSERT_TRUE(watching());
  constexpr int kEvents = 6'000;
  client.peer().hold(stream);
  push(kEvents, std::make_shared<const std::string>(std::string(4 * 1024, 'e')), true);
  EXPECT_EQ(client.request("GET", "/").status, 200) << "others are served meanwhile";
  const int before = served.on_executor([&] { return sent; });
  EXPECT_LT(before, kEvents / 2);
  client.peer().go_on(stream);
  ASSERT_TRUE(client.run([&] { return client.peer().answer(stream).complete; }));
  EXPECT_EQ(client.peer().answer(stream).body.size(), kEvents * 4u * 1024);
  EXPECT_GT(served.on_executor([&] { return paused; }), 0);
  EXPECT_TRUE(gone());
}

TEST_F(Watching, AWatcherThatDoesNotReadLosesItsWatchOnly) {
  ASSERT_TRUE(watching());
  client.peer().hold(stream);
  push(6'000, std::make_shared<const std::string>(std::string(4 * 1024, 'e')), false);
  ASSERT_TRUE(client.run([&] { return client.peer().answer(stream).closed; }));
  EXPECT_EQ(client.peer().answer(stream).error, kCancelled);
  EXPECT_TRUE(gone());
  EXPECT_EQ(client.request("GET", "/").status, 200);
}

TEST_F(Watching, AWatchEndsWhenItsClientCancels) {
  ASSERT_TRUE(watching());
  client.peer().reset(stream);
  EXPECT_EQ(client.request("GET", "/").status, 200);
  EXPECT_TRUE(gone());
}

TEST_F(Watching, AWatchEndsWhenItsClientGoesAway) {
  ASSERT_TRUE(watching());
  {
    const Http2Client leaves = std::move(client);
  }
  EXPECT_TRUE(gone());
}

TEST_F(Watching, WatchesAreNoRequestsInFlight) {
  for (std::size_t i = 0; i + 1 < kMaxStreams; ++i) client.peer().request("GET", "/watch");
  EXPECT_TRUE(client.run([&] { return served.holding() == kMaxStreams; }));
}

// --- Shutdown.

TEST(HttpServer, StopsWhenWhatRunsIsDone) {
  Served served;
  Http2Client client = served.http2(), idle = served.http2();
  HttpsClient plain = served.http1();
  EXPECT_EQ(idle.request("GET", "/").status, 200);
  EXPECT_EQ(plain.request("GET", "/").status, 200);
  const auto watch = client.peer().request("GET", "/watch");
  ASSERT_TRUE(client.run([&] { return served.holding() == 1 && client.peer().answer(watch).status == 200; }));
  const auto running = client.peer().request("GET", "/hold");
  ASSERT_TRUE(client.run([&] { return served.holding() == 2; }));
  std::thread stopping([&] { EXPECT_TRUE(served.stop()) << "nothing had to be broken off"; });
  ASSERT_TRUE(client.run([&] { return client.peer().answer(watch).complete; }));
  EXPECT_EQ(client.peer().goaway(), kNoError);
  served.on_executor([&] {
    served.handler.held.at(1)->sink->respond([] { return plain_text(200, "done"); });
    return true;
  });
  EXPECT_TRUE(client.run([&] { return client.peer().answer(running).complete; }));
  EXPECT_EQ(client.peer().answer(running).body, "done");
  idle.run([&] { return idle.ended(); });
  EXPECT_EQ(idle.peer().goaway(), kNoError);
  client.run([&] { return client.ended(); });
  stopping.join();
}

TEST(HttpServer, EndsWhatDoesNotEndWithinTheGrace) {
  Served served;
  Http2Client client = served.http2();
  client.peer().request("GET", "/hold");
  ASSERT_TRUE(client.run([&] { return served.holding() == 1; }));
  EXPECT_FALSE(served.stop(std::chrono::seconds(1)));
  EXPECT_TRUE(served.on_executor([&] { return served.handler.held.at(0)->gone; }));
}

// --- Attacks.

TEST(HttpServer, RapidResetsEndTheirConnectionOnly) {
  Served served;
  Http2Client other = served.http2(), attacker = served.http2();
  EXPECT_EQ(other.request("GET", "/").status, 200);
  int opened = 0;
  attacker.run(
      [&] {
        for (int i = 0; i < 100 && !attacker.peer().goaway(); ++i, ++opened) {
          const auto stream = attacker.peer().request("GET", "/hold");
          attacker.send("");
          attacker.peer().reset(stream);
          attacker.send("");
        }
        return attacker.peer().goaway().has_value() || opened > 100'000;
      },
      std::chrono::seconds(60));
  EXPECT_EQ(attacker.peer().goaway(), kCalm);
  EXPECT_LE(served.handler.parsed, 2 * kResetBurst);
  EXPECT_EQ(other.request("GET", "/").status, 200);
  EXPECT_TRUE(served.eventually(
      [&] { return std::ranges::all_of(served.handler.held, [](const auto& one) { return one->gone; }); }));
}

TEST(HttpServer, NonsenseEndsItsConnectionOnly) {
  Served served;
  for (const std::string& nonsense :
       {std::string(1'000, 'x'), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string(1'000, '\xff'),
        std::string("GET / HTTP/1.1\r\nHost: h\r\n\r\n")}) {
    Http2Client client = served.http2();
    client.peer().output();  // instead of the preface
    client.send(nonsense);
    client.run([&] { return client.ended(); });
    EXPECT_TRUE(client.ended());
  }
  HttpsClient preface = served.http1();
  EXPECT_EQ(preface.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status, 505) << "who says HTTP/1.1 in TLS speaks it";
  EXPECT_EQ(served.http2().request("GET", "/").status, 200);
}

}  // namespace
}  // namespace berth::http::http_server_test
