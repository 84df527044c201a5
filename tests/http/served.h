// A server on its own threads, with a handler that the test controls.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/asio_executor.h"
#include "http/certificates.h"
#include "http/https_server.h"
#include "support/http2_client.h"
#include "support/https_client.h"

namespace berth::http {

// POST returns the body. GET /bytes/N returns N bytes; /hold waits until the test responds; /watch streams what the
// test sends; /from returns the client's address;
// any other path returns the caller's name. Used on the executor, except `parsed`.
class ReportedHandler final : public Handler {
 public:
  struct Held {
    std::shared_ptr<ResponseSink> sink;
    bool gone = false;
    std::function<void()> on_room;
  };

  std::unique_ptr<Parsed> parse(HttpRequest request) const override {
    ++parsed;
    auto one = std::make_unique<Parsed>(std::move(request));
    one->known = one->http.peer.has_value();
    one->requests = requests;
    return one;
  }
  std::unique_ptr<Exchange> execute(std::unique_ptr<Parsed> plain, std::shared_ptr<ResponseSink> sink) override {
    const HttpRequest& request = plain->http;
    ++executed;
    if (request.target == "/hold" || request.target == "/watch") {
      auto one = std::make_shared<Held>(Held{sink, false, {}});
      held.push_back(one);
      if (request.target == "/watch") {
        sink->on_room([one] {
          if (one->on_room) one->on_room();
        });
        sink->begin(200, {{"Content-Type", "text/plain"}});
      }
      return std::make_unique<Holding>(one);
    }
    HttpResponse answer = answer_of(request);
    sink->respond([answer = std::move(answer)] { return answer; });
    return nullptr;
  }

  // Without a certificate nobody may send a body, when `requests` is set.
  void admit(Parsed& request, std::function<void(Verdict)> done) override {
    ++admitted;
    done(request.known ? std::nullopt : std::optional(plain_text(403, "not allowed")));
  }
  void decode(Parsed& request) const override { decoded += request.http.body.size(); }

  std::atomic<bool> requests{false};
  mutable std::atomic<int> parsed{0};
  mutable std::atomic<std::size_t> decoded{0};  // bytes of bodies
  std::atomic<int> executed{0}, admitted{0};
  std::vector<std::shared_ptr<Held>> held;

 private:
  struct Holding final : Exchange {
    explicit Holding(std::shared_ptr<Held> o) : of(std::move(o)) {}
    ~Holding() override {
      of->gone = true;
      of->sink.reset();
    }
    std::shared_ptr<Held> of;
  };
  static HttpResponse answer_of(const HttpRequest& request) {
    if (request.body_too_large) return plain_text(413, "too large");
    if (request.method == "POST") return plain_text(200, request.body);
    constexpr std::string_view kBytes = "/bytes/";
    if (request.target.starts_with(kBytes))
      return plain_text(200, std::string(std::stoul(request.target.substr(kBytes.size())), 'b'));
    if (request.target == "/from") return plain_text(200, request.peer_address);
    return plain_text(200, request.peer ? request.peer->common_name : "nobody");
  }
};

class Served {
 public:
  explicit Served(HttpsServerOptions options = {}) : max_body(options.max_body_bytes) {
    server = HttpsServer::start(handler, executor, context(), std::move(options)).value();
    thread_ = std::thread([this] { executor.run(); });
  }
  ~Served() {
    if (server) stop();
    executor.stop();
    thread_.join();
  }

  // Returns whether everything ended within the grace period.
  bool stop(std::chrono::seconds grace = std::chrono::seconds(20)) {
    std::promise<void> stopped;
    const auto begin = std::chrono::steady_clock::now();
    server->stop(grace, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    server.reset();
    return std::chrono::steady_clock::now() - begin < grace;
  }

  // Runs `what` on the executor and returns its result.
  template <typename F>
  auto on_executor(F what) {
    std::promise<decltype(what())> result;
    executor.post([&] { result.set_value(what()); });
    return result.get_future().get();
  }
  // Waits until `condition` holds on the executor; false when it does not within a minute.
  template <typename F>
  bool eventually(F condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      if (on_executor(condition)) return true;
      std::this_thread::yield();
    }
    return false;
  }
  // The number of requests that the handler holds.
  std::size_t holding() {
    return on_executor([&] { return handler.held.size(); });
  }

  testing_support::Http2Client http2(testing_support::Http2Peer::Options options = {}) {
    return {server->port(), authority.certificate, admin, options};
  }
  testing_support::HttpsClient http1() { return {server->port(), authority.certificate, admin}; }

  AsioExecutor executor;
  const Time now = executor.now();
  Credential authority = make_authority("test-ca", now).value();
  Credential admin = make_client_credential(authority, "admin", {}, now).value();
  ReportedHandler handler;
  std::size_t max_body;
  std::unique_ptr<HttpsServer> server;

 private:
  TlsContext context() {
    ServerTls tls;
    tls.server = make_server_credential(authority, {"127.0.0.1", "localhost"}, now).value();
    tls.client_authorities = authority.certificate;
    return make_server_context(tls).value();
  }
  std::thread thread_;
};

}  // namespace berth::http
