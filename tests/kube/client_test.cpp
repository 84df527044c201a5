// The client against the embedded server, over real TLS on a loopback port that the system chooses.
#include "kube/client.h"
#include "api/resources.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <optional>
#include <vector>

#include "api/status.h"
#include "api/verb.h"
#include "embedded/apiserver/http/pki.h"
#include "embedded/apiserver/router/router.h"
#include "embedded/apiserver/server/api_server.h"
#include "http/asio_executor.h"
#include "http/https_server.h"
#include "kube/informer.h"
#include "kube/transport/transport.h"

namespace berth::kube::client_test {
namespace {

namespace http = apiserver::http;
using api::RestRequest;
using api::RestResponse;
using api::Verb;

constexpr std::chrono::seconds kDeadline{20};  // for things that happen at once when they work

// With HTTP/2 (true), and with a server that speaks HTTP/1.1 only.
class ClientTest : public testing::TestWithParam<bool> {
 protected:
  ClientTest() {
    const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    pki_ = http::load_or_create_pki("", {"127.0.0.1", "localhost"}, now).value();
    core_ = apiserver::ApiServer::open(executor_, apiserver::make_memory_log(executor_), {.seed = 1}).value();
    http::RouterOptions options;
    options.tokens = http::TokenTable::parse("secret,someone,1,\"system:masters\"\n").value();
    router_ = std::make_unique<http::Router>(*core_, core_->registry(), executor_, std::move(options));
    auto context = http::server_context(pki_).value();
    if (!GetParam()) SSL_CTX_set_alpn_select_cb(context.get(), nullptr, nullptr);
    server_ = berth::http::HttpsServer::start(*router_, executor_, std::move(context), {}).value();
    access_.server = "https://127.0.0.1:" + std::to_string(server_->port());
    access_.authority.inline_pem = pki_.authority.certificate;
    access_.certificate.inline_pem = pki_.admin.certificate;
    access_.key.inline_pem = pki_.admin.key;
    access_.origin = "the test";
  }
  ~ClientTest() override {
    client_.reset();
    if (server_) stop_server();
  }
  void stop_server() {
    server_->stop(std::chrono::seconds(1), [this] { executor_.stop(); });
    executor_.run();
    server_.reset();
  }

  Client& client() {
    if (!client_) client_ = Client::make(executor_, access_, options_).value();
    return *client_;
  }
  // Runs the loop until `done` is true; fails the test after kDeadline.
  void run_until(const std::function<bool()>& done) {
    bool late = false;
    const TimerId timer = executor_.after(kDeadline, [&] {
      late = true;
      executor_.stop();
    });
    std::function<void()> look = [&] {
      if (done()) return executor_.stop();
      if (!late) executor_.after(std::chrono::milliseconds(1), look);
    };
    executor_.post(look);
    executor_.run();
    executor_.cancel(timer);
    ASSERT_FALSE(late) << "did not happen within 20 s";
  }
  RestResponse call(RestRequest request) {
    std::optional<RestResponse> response;
    client().call(std::move(request), [&](RestResponse r) { response = std::move(r); });
    run_until([&] { return response.has_value(); });
    return response.value_or(RestResponse{});
  }
  RestRequest config_map(Verb verb, const std::string& name) {
    RestRequest r;
    r.verb = verb;
    r.resource = api::kConfigMaps;
    r.ns = "default";
    if (verb != Verb::kCreate) r.name = name;
    if (verb == Verb::kCreate) {
      r.body = JsonObject{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", JsonObject{{"name", name}}},
                          {"data", JsonObject{{"k", "v"}}}};
    }
    return r;
  }

  berth::http::AsioExecutor executor_;
  http::Pki pki_;
  std::unique_ptr<apiserver::ApiServer> core_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<berth::http::HttpsServer> server_;
  Access access_;
  ClientOptions options_;
  std::unique_ptr<Client> client_;
};

TEST_P(ClientTest, ReadsAndWrites) {
  EXPECT_EQ(call(config_map(Verb::kCreate, "a")).code, 201);
  EXPECT_EQ(string_at(call(config_map(Verb::kGet, "a")).body, {"data", "k"}), "v");
  RestRequest patch = config_map(Verb::kPatch, "a");
  patch.body = JsonObject{{"data", JsonObject{{"k", "w"}}}};
  EXPECT_EQ(string_at(call(patch).body, {"data", "k"}), "w");
  const RestResponse missing = call(config_map(Verb::kGet, "b"));
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(api::status_reason(missing), "NotFound");
  EXPECT_EQ(call(config_map(Verb::kDelete, "a")).code, 200);
}

TEST_P(ClientTest, ManagedFieldsComeOnlyWhenTheyAreAskedFor) {
  call(config_map(Verb::kCreate, "a"));
  RestRequest get = config_map(Verb::kGet, "a");
  EXPECT_TRUE(array_at(call(get).body, {"metadata", "managedFields"}).empty());
  get.wants_managed_fields = true;
  EXPECT_FALSE(array_at(call(get).body, {"metadata", "managedFields"}).empty());
  RestRequest list = config_map(Verb::kList, "");
  list.wants_managed_fields = true;
  const RestResponse listed = call(list);
  EXPECT_FALSE(array_at(array_at(listed.body, {"items"}).at(0), {"metadata", "managedFields"}).empty());
}

TEST_P(ClientTest, ReportsOfEveryAnswer) {
  std::vector<std::string> reported;
  options_.on_answer = [&](const RestRequest& request, int code) {
    reported.push_back(std::string(name_of(request.verb)) + " " + request.resource.resource + " " +
                       std::to_string(code));
  };
  call(config_map(Verb::kCreate, "a"));
  call(config_map(Verb::kGet, "b"));
  Informer informer(client(), executor_, api::kConfigMaps);
  informer.start();
  run_until([&] { return informer.synced(); });
  EXPECT_EQ(reported, (std::vector<std::string>{"create configmaps 201", "get configmaps 404", "watch configmaps 200"}))
      << "the list is the beginning of the watch";
}

TEST_P(ClientTest, AListComesAsAStreamHoweverLongItIs) {
  constexpr int kObjects = 3000;  // more than a watch may buffer
  int created = 0;
  for (int i = 0; i < kObjects; ++i) {
    RestRequest create = config_map(Verb::kCreate, "m" + std::to_string(i));
    ensure_path(create.body, {"data", "more"}) = std::string(2 * 1024, 'x');
    create.user = {"admin", {"system:masters"}};
    core_->call(std::move(create), [&](const RestResponse& r) { created += r.code == 201; });
  }
  run_until([&] { return created == kObjects; });
  std::vector<std::string> reported;
  options_.on_answer = [&](const RestRequest& request, int code) {
    reported.push_back(std::string(name_of(request.verb)) + " " + std::to_string(code));
  };
  Informer informer(client(), executor_, api::kConfigMaps);
  informer.start();
  run_until([&] { return informer.synced(); });
  EXPECT_EQ(informer.list().size(), static_cast<std::size_t>(kObjects));
  EXPECT_EQ(reported, std::vector<std::string>{"watch 200"});
}

TEST_P(ClientTest, ManyRequestsShareTheConnections) {
  int answered = 0;
  for (int i = 0; i < 200; ++i) {
    client().call(config_map(Verb::kCreate, "m" + std::to_string(i)),
                  [&](const RestResponse& r) { answered += r.code == 201; });
  }
  run_until([&] { return answered == 200; });
  EXPECT_LE(server_->connections(), GetParam() ? 1 : kMaxConnections);
}

TEST_P(ClientTest, WhatOnlyInformsLetsOthersGoFirstButForATurnNowAndThen) {
  options_.rate.per_second = 0;
  options_.background = [](const RestRequest& request) { return request.name == "informs"; };
  constexpr int kOthers = 20 * static_cast<int>(kBackgroundTurn), kInforming = 8;
  std::vector<int> others_before;  // for each background request: how many others were answered before it
  int others = 0;
  for (int i = 0; i < kOthers; ++i)
    client().call(config_map(Verb::kGet, "other"), [&](const RestResponse&) { ++others; });
  for (int i = 0; i < kInforming; ++i)
    client().call(config_map(Verb::kGet, "informs"), [&](const RestResponse&) { others_before.push_back(others); });
  run_until([&] { return others == kOthers && others_before.size() == kInforming; });
  // At most kMaxInFlight requests may overtake.
  EXPECT_GE(others_before.front(), static_cast<int>(kBackgroundTurn - kMaxInFlight));
  EXPECT_LE(others_before.back(), static_cast<int>((kInforming + 2) * kBackgroundTurn));
}

TEST_P(ClientTest, AStatusThatInformsWaitsForSecondsAtMost) {
  options_.rate = {.per_second = 10, .burst = 1};
  options_.background = [](const RestRequest& request) { return request.name == "informs"; };
  constexpr int kOthers = 60;  // six seconds
  int others = 0, others_before = -1;
  for (int i = 0; i < kOthers; ++i)
    client().call(config_map(Verb::kGet, "other"), [&](const RestResponse&) { ++others; });
  client().call(config_map(Verb::kGet, "informs"), [&](const RestResponse&) { others_before = others; });
  run_until([&] { return others_before >= 0; });
  EXPECT_GE(others_before, 1) << "it lets others go first";
  EXPECT_LT(others_before, kOthers);
}

TEST_P(ClientTest, AnswersAreCutToWhatIsWanted) {
  ASSERT_EQ(call(config_map(Verb::kCreate, "a")).code, 201);
  RestRequest patch = config_map(Verb::kPatch, "a");
  patch.body = JsonObject{{"data", JsonObject{{"k", "w"}}}};
  patch.wants_metadata_only = true;
  const RestResponse response = call(patch);
  EXPECT_EQ(string_at(response.body, {"metadata", "name"}), "a");
  EXPECT_FALSE(response.body.as_object().contains("data"));
  patch.name = "b";
  EXPECT_EQ(api::status_reason(call(patch)), "NotFound") << "of a refusal everything is wanted";
}

TEST_P(ClientTest, WatchesWhatChanges) {
  InformerOptions in_default;
  in_default.ns = "default";
  Informer informer(client(), executor_, api::kConfigMaps, in_default);
  std::vector<std::string> seen;
  informer.on_change([&](const JsonPtr& old, const JsonPtr& now) {
    seen.push_back((old ? now ? "changed " : "gone " : "new ") +
                   std::string(string_at(now ? *now : *old, {"metadata", "name"})));
  });
  informer.start();
  run_until([&] { return informer.synced(); });
  EXPECT_EQ(call(config_map(Verb::kCreate, "a")).code, 201);
  EXPECT_EQ(call(config_map(Verb::kDelete, "a")).code, 200);
  run_until([&] { return seen.size() == 2; });
  EXPECT_EQ(seen, (std::vector<std::string>{"new a", "gone a"}));
}

TEST_P(ClientTest, AWatchThatIsRefusedSaysWhy) {
  RestRequest r;
  r.resource = {"", "v1", "nothings"};
  std::vector<api::WatchEvent> events;
  bool ended = false;
  const auto watch = client().watch(r, [&](const api::WatchEvent& e) { events.push_back(e); }, [&] { ended = true; });
  run_until([&] { return ended; });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, api::WatchEvent::Type::kError);
  EXPECT_EQ(int_at(*events[0].object, {"code"}), 404);
}

TEST_P(ClientTest, ADestroyedWatchIsSilent) {
  int events = 0;
  RestRequest r;
  r.resource = api::kConfigMaps;
  r.ns = "default";
  auto watch = client().watch(r, [&](const api::WatchEvent&) { ++events; }, [&] { ++events; });
  EXPECT_EQ(call(config_map(Verb::kCreate, "a")).code, 201);
  run_until([&] { return events == 1; });
  watch.reset();
  EXPECT_EQ(call(config_map(Verb::kCreate, "b")).code, 201);
  EXPECT_EQ(call(config_map(Verb::kGet, "b")).code, 200);
  EXPECT_EQ(events, 1);
}

TEST_P(ClientTest, TokensAreBearers) {
  access_.certificate = access_.key = {};
  access_.token = "secret";
  EXPECT_EQ(call(config_map(Verb::kCreate, "a")).code, 201);
  client_.reset();
  access_.token = "wrong";
  EXPECT_EQ(call(config_map(Verb::kGet, "a")).code, 401);
}

TEST_P(ClientTest, AServerThatCannotBeTrustedIsNamed) {
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  access_.authority.inline_pem = berth::http::make_authority("other", now).value().certificate;
  int answers = 0;
  options_.on_answer = [&](const RestRequest&, int) { ++answers; };
  const RestResponse response = call(config_map(Verb::kGet, "a"));
  EXPECT_EQ(response.code, 0);
  EXPECT_EQ(api::status_reason(response), kHopeless) << "not tried again";
  EXPECT_EQ(answers, 0) << "nothing was sent";
  const std::string message(api::status_message(response));
  EXPECT_NE(message.find("the certificate of 127.0.0.1:"), std::string::npos) << message;
  EXPECT_NE(message.find("cannot be trusted: "), std::string::npos) << message;
}

TEST_P(ClientTest, ANameThatTheCertificateLacksIsRefusedUnlessItIsSaidToBeRight) {
  options_.max_tries = 1;
  access_.tls_server_name = "elsewhere";
  EXPECT_EQ(call(config_map(Verb::kGet, "a")).code, 0);
  client_.reset();
  access_.tls_server_name = "localhost";
  EXPECT_EQ(call(config_map(Verb::kGet, "a")).code, 404);
}

TEST_P(ClientTest, NobodyListens) {
  const std::uint16_t port = server_->port();
  stop_server();
  options_.max_tries = 2;
  const RestResponse response = call(config_map(Verb::kGet, "a"));
  EXPECT_EQ(response.code, 0);
  EXPECT_EQ(api::status_message(response),
            "cannot connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
}

TEST_P(ClientTest, WhatWaitedTooLongIsNotSent) {
  options_.rate = {.per_second = 20, .burst = 1};
  RestRequest late = config_map(Verb::kCreate, "late");
  const Time begun = executor_.now();
  Time asked_at{};
  late.not_sent_from = [&] {
    asked_at = executor_.now();
    return begun;
  };
  client().call(config_map(Verb::kGet, "x"), [](const RestResponse&) {});
  const RestResponse response = call(late);
  EXPECT_EQ(response.code, 0);
  EXPECT_GT(asked_at, begun + std::chrono::milliseconds(20)) << "asked when it may go out, not when it was put in line";
  late.not_sent_from = [&] { return executor_.now() + kDeadline; };
  EXPECT_EQ(call(late).code, 201) << "the first one was not carried out";
}

TEST_P(ClientTest, WhatWaitedTooLongForAConnectionIsNotSent) {
  TransportOptions where;
  where.host = "127.0.0.1";
  where.port = server_->port();
  Transport transport(executor_, where);
  TlsIdentity trust;
  trust.authority_pem = pki_.authority.certificate;
  transport.use(make_client_context(trust).value());
  const auto send = [&](std::optional<Time> not_from) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/version";
    request.not_sent_from = not_from;
    std::optional<HttpReply> reply;
    transport.call(std::move(request), kDeadline, [&](HttpReply r) { reply = std::move(r); });
    run_until([&] { return reply.has_value(); });
    return reply.value_or(HttpReply{});
  };
  const HttpReply late = send(executor_.now());
  EXPECT_EQ(late.status, 0);
  EXPECT_FALSE(late.sent);
  EXPECT_NE(send(executor_.now() + kDeadline).status, 0);
}

INSTANTIATE_TEST_SUITE_P(Protocols, ClientTest, testing::Bool(),
                         [](const auto& protocol) { return protocol.param ? "http2" : "http1"; });

TEST(ClientMake, ErrorsNameTheAccess) {
  VirtualExecutor executor{Time{}};
  Access access;
  access.origin = "context \"x\" of f";
  access.server = "http://h";
  EXPECT_EQ(Client::make(executor, access).error().message, "context \"x\" of f: the server http://h must be https");
}

}  // namespace
}  // namespace berth::kube::client_test
