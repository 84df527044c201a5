// An HTTP/2 connection without a socket, with a clock that the test controls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "http/http2_streams.h"
#include "support/http2_peer.h"

namespace berth::http::http2_streams_tests {

using std::chrono::seconds;
using testing_support::Http2Answer;
using testing_support::Http2Peer;

inline constexpr std::uint32_t kNoError = 0, kProtocolError = 1, kCancelled = 8, kCalm = 11;
inline constexpr std::size_t kBodyLimit = 1u << 20;

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
  Http2Streams streams{*this, now};
  Http2Peer peer;
  std::map<Http2Streams::Stream, HttpRequest> heads;                         // of streams that are open
  std::map<Http2Streams::Stream, HttpRequest> requests;                      // requests that are not finished
  Http2Streams::Verdict::What verdict = Http2Streams::Verdict::What::kTake;  // on requests with a body
  std::size_t room = 1u << 30;                                               // for bodies
  std::size_t given = 0, most_at_once = 0, sent_bytes = 0, sent_events = 0;
  bool answers = true, takes_up = true;
  std::string body = "hello";

 private:
  Http2Streams::Verdict on_head(Http2Streams::Stream stream, HttpRequest head, bool has_body) override {
    heads[stream] = std::move(head);
    return {has_body ? verdict : Http2Streams::Verdict::What::kTake, kBodyLimit};
  }
  bool may_keep(Http2Streams::Stream, std::size_t bytes) override {
    if (bytes > room) return false;
    room -= bytes;
    return true;
  }
  void on_request(Http2Streams::Stream stream, std::string sent, bool too_large) override {
    ++given;
    requests[stream] = heads.at(stream);
    requests[stream].body = std::move(sent);
    requests[stream].body_too_large = too_large;
    most_at_once = std::max(most_at_once, requests.size());
    if (takes_up) streams.taken_up(stream);
    if (answers) streams.respond(stream, requests[stream].body_too_large ? HttpResponse{413, {}, "large"} : text(body));
  }
  void on_sent(Http2Streams::Stream, std::size_t bytes, std::size_t events) override {
    sent_bytes += bytes;
    sent_events += events;
  }
  void on_gone(Http2Streams::Stream stream) override {
    heads.erase(stream);
    requests.erase(stream);
  }
};

}  // namespace berth::http::http2_streams_tests
