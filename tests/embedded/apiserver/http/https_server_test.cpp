#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <future>
#include <thread>

#include "base/random.h"
#include "base/read_file.h"
#include "embedded/apiserver/http/pki.h"
#include "embedded/apiserver/http/service_account_tokens.h"
#include "embedded/apiserver/http_fake.h"
#include "http/asio_executor.h"
#include "http/https_server.h"
#include "support/https_client.h"

namespace berth::apiserver::http::https_server_test {

using namespace berth::http;
namespace {

using testing_support::HttpsAnswer;
using testing_support::HttpsClient;

constexpr std::chrono::seconds kDeadline{20};  // for operations that are immediate when they work

Time now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// A server with a fake core; its executor runs on its own thread.
class HttpsServerTest : public testing::Test {
 protected:
  HttpsServerTest() {
    pki_ = load_or_create_pki("", {"localhost", "127.0.0.1"}, now()).value();
    router_ = std::make_unique<Router>(core_, registry_, executor_, RouterOptions{});
    core_.next = {200, parse_json(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})").value(), {}};
    server_ = HttpsServer::start(*router_, executor_, server_context(pki_).value(), {}).value();
    thread_ = std::thread([this] { executor_.run(); });
  }
  ~HttpsServerTest() override {
    if (server_) stop();
    executor_.stop();
    thread_.join();
  }

  void stop() {
    std::promise<void> stopped;
    server_->stop(std::chrono::seconds(1), [&] { stopped.set_value(); });
    EXPECT_EQ(stopped.get_future().wait_for(kDeadline), std::future_status::ready);
    server_.reset();
  }
  // Runs `what` on the executor and waits for it.
  template <typename F>
  auto on_executor(F what) {
    std::promise<decltype(what())> result;
    executor_.post([&] { result.set_value(what()); });
    return result.get_future().get();
  }
  // Waits until `condition` holds on the executor; false when it does not within the deadline.
  template <typename F>
  bool eventually(F condition) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < end) {
      if (on_executor(condition)) return true;
      std::this_thread::yield();
    }
    return false;
  }
  HttpsClient admin() { return HttpsClient(server_->port(), pki_.authority.certificate, pki_.admin); }

  AsioExecutor executor_;
  FakeCore core_{executor_};
  Registry registry_ = small_registry();
  Pki pki_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<HttpsServer> server_;
  std::thread thread_;
};

TEST_F(HttpsServerTest, AnswersRequestAfterRequestOnOneConnection) {
  HttpsClient client = admin();
  for (int i = 0; i < 3; ++i) {
    const HttpsAnswer got = client.request("GET", "/api/v1/namespaces/x/configmaps/a");
    EXPECT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(got.body, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n");
  }
  EXPECT_EQ(client.request("POST", "/api/v1/namespaces/x/configmaps", R"({"data":{"k":"v"}})").status, 200);
  EXPECT_EQ(on_executor([&] { return to_string(core_.requests.back().body); }), R"({"data":{"k":"v"}})");
  EXPECT_EQ(on_executor([&] { return core_.requests.back().user.name; }), "kubernetes-admin");
  const HttpsAnswer head = client.request("HEAD", "/version");
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.body.empty());
  EXPECT_EQ(client.request("GET", "/healthz").body, "ok");
}

TEST_F(HttpsServerTest, WithoutACertificateOnlyHealthAndVersionAnswer) {
  HttpsClient nobody(server_->port(), pki_.authority.certificate, {});
  EXPECT_EQ(nobody.request("GET", "/version").status, 200);
  EXPECT_EQ(nobody.request("GET", "/readyz").status, 200);
  EXPECT_EQ(nobody.request("GET", "/api/v1/configmaps").status, 403);
}

TEST_F(HttpsServerTest, ACertificateOfAnotherAuthorityIsInformedSo) {
  const Credential other = make_authority("other", now()).value();
  const Credential forged = make_client_credential(other, "kubernetes-admin", {"system:masters"}, now()).value();
  HttpsClient client(server_->port(), pki_.authority.certificate, forged);
  const HttpsAnswer got = client.request("GET", "/api/v1/configmaps");
  EXPECT_EQ(got.status, 401);
  EXPECT_NE(got.body.find("Unauthorized: client certificate: "), std::string::npos) << got.body;
  EXPECT_EQ(client.request("GET", "/version").status, 401);
}

TEST_F(HttpsServerTest, AnExpiredCertificateIsInformedSo) {
  const Credential old =
      make_client_credential(pki_.authority, "kubernetes-admin", {"system:masters"}, now() - 2 * kLeafLifetime).value();
  HttpsClient client(server_->port(), pki_.authority.certificate, old);
  const HttpsAnswer got = client.request("GET", "/api/v1/configmaps");
  EXPECT_EQ(got.status, 401);
  EXPECT_NE(got.body.find("expired"), std::string::npos) << got.body;
}

TEST_F(HttpsServerTest, BoundsWhatItReads) {
  EXPECT_EQ(admin().request("POST", "/api/v1/namespaces/x/configmaps", std::string(4u << 20, 'x')).status, 413);
  EXPECT_EQ(admin()
                .raw("POST /api/v1/namespaces/x/configmaps HTTP/1.1\r\nHost: h\r\nContent-Length: "
                     "99999999999\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(admin().request("GET", "/version", "", {{"X-Long", std::string(20'000, 'x')}}).status, 431);
  EXPECT_EQ(admin().request("GET", "/version?" + std::string(9'000, 'x')).status, 414);
  EXPECT_EQ(admin().raw("nonsense\r\n\r\n").status, 400);
  EXPECT_EQ(admin().request("GET", "/version").status, 200);
  EXPECT_EQ(on_executor([&] { return core_.requests.size(); }), 0u);
}

TEST_F(HttpsServerTest, ContinuesWhenAskedWhetherToSend) {
  HttpsClient client = admin();
  const HttpsAnswer got = client.raw(
      "POST /api/v1/namespaces/x/configmaps HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Type: "
      "application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(got.status, 100);
  EXPECT_EQ(client.raw("").status, 200);
}

TEST_F(HttpsServerTest, StreamsAWatchUntilItEnds) {
  HttpsClient client = admin();
  EXPECT_EQ(client.open_stream("/api/v1/configmaps?watch=1").status, 200);
  const auto object = std::make_shared<const Json>(core_.next.body);
  on_executor([&] {
    for (int i = 0; i < 3; ++i) core_.watchers.at(0)->on_event({api::WatchEvent::Type::kModified, object});
    core_.watchers[0]->on_end();
    return true;
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.read_line(),
              "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{"
              "\"name\":\"a\"}}}");
  }
  EXPECT_EQ(client.read_line(), "");
}

TEST_F(HttpsServerTest, AWatchEndsWhenItsClientGoesAway) {
  {
    HttpsClient client = admin();
    EXPECT_EQ(client.open_stream("/api/v1/configmaps?watch=1").status, 200);
  }
  EXPECT_TRUE(eventually([&] { return core_.watchers.at(0)->gone; }));
}

TEST_F(HttpsServerTest, AWatcherThatDoesNotReadLosesItsConnection) {
  HttpsClient client = admin();
  EXPECT_EQ(client.open_stream("/api/v1/configmaps?watch=1").status, 200);
  Json large = core_.next.body;
  ensure_path(large, {"data", "k"}) = std::string(64 * 1024, 'x');
  const auto object = std::make_shared<const Json>(std::move(large));
  EXPECT_TRUE(eventually([&] {
    if (!core_.watchers.at(0)->gone) core_.watchers[0]->on_event({api::WatchEvent::Type::kAdded, object});
    return core_.watchers[0]->gone;
  }));
}

// A streamed list can be far larger than the backlog limit of a connection.
TEST_F(HttpsServerTest, AWatchWaitsForItsReader) {
  constexpr int kEvents = 6000;
  HttpsClient client = admin();
  EXPECT_EQ(client.open_stream("/api/v1/configmaps?watch=1").status, 200);
  Json large = core_.next.body;
  ensure_path(large, {"data", "k"}) = std::string(4 * 1024, 'x');
  const auto object = std::make_shared<const Json>(std::move(large));
  int sent = 0, held = 0;
  on_executor([&] {
    auto& watcher = *core_.watchers.at(0);
    watcher.go_on = [&] {
      for (; sent < kEvents && !watcher.held && !watcher.gone; ++sent)
        watcher.on_event({api::WatchEvent::Type::kAdded, object});
      if (watcher.held) ++held;
      if (sent == kEvents) watcher.on_end();
    };
    watcher.go_on();
    return true;
  });
  int received = 0;
  while (!client.read_line().empty()) ++received;
  EXPECT_EQ(received, kEvents);
  EXPECT_GT(on_executor([&] { return held; }), 0);
}

TEST_F(HttpsServerTest, StopsWithWatchesAndIdleConnectionsOpen) {
  HttpsClient idle = admin(), watching = admin();
  EXPECT_EQ(idle.request("GET", "/version").status, 200);
  EXPECT_EQ(watching.open_stream("/api/v1/configmaps?watch=1").status, 200);
  stop();
  EXPECT_EQ(watching.read_line(), "");
  EXPECT_TRUE(on_executor([&] { return core_.watchers.at(0)->gone; }));
}

TEST_F(HttpsServerTest, APortInUseIsOneClearError) {
  HttpsServerOptions options;
  options.port = server_->port();
  const auto second = HttpsServer::start(*router_, executor_, server_context(pki_).value(), options);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos) << second.error().message;
}

class PkiTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_ = testing::TempDir() + "berth_pki_" + std::to_string(::getpid());
};

TEST_F(PkiTest, KeepsWhatIsGoodAndRenewsWhatIsNot) {
  const std::vector<std::string> names = {"localhost", "127.0.0.1"};
  const Pki first = load_or_create_pki(dir_, names, now()).value();
  const Pki second = load_or_create_pki(dir_, names, now()).value();
  EXPECT_EQ(first.server.certificate, second.server.certificate);
  EXPECT_EQ(first.admin.key, second.admin.key);
  struct stat info{};
  for (const char* file : {"/ca.key", "/server.key", "/admin.key"}) {
    ASSERT_EQ(::stat((dir_ + file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << file;
  }
  const Pki named = load_or_create_pki(dir_, {"localhost", "127.0.0.1", "other"}, now()).value();
  EXPECT_NE(first.server.certificate, named.server.certificate) << "a name was missing";
  EXPECT_EQ(first.admin.certificate, named.admin.certificate);
  const Pki later = load_or_create_pki(dir_, names, now() + kLeafLifetime - std::chrono::hours(24)).value();
  EXPECT_NE(named.server.certificate, later.server.certificate) << "it ends soon";
  EXPECT_EQ(first.authority.certificate, later.authority.certificate);
  ASSERT_TRUE(write_private_file(dir_ + "/ca.crt", "garbage"));
  const Pki fresh = load_or_create_pki(dir_, names, now()).value();
  EXPECT_NE(first.authority.certificate, fresh.authority.certificate);
  EXPECT_NE(later.admin.certificate, fresh.admin.certificate) << "signed by the lost authority";
}

// It may be readable again: a new authority would lock all clients out.
TEST_F(PkiTest, AFileThatCannotBeReadIsNotMadeAnew) {
  for (const std::string file : {"ca.key", "server.crt", "sa.key"}) {
    SCOPED_TRACE(file);
    ASSERT_TRUE(load_or_create_pki(dir_, {"localhost"}, now()));
    std::filesystem::rename(dir_ + "/" + file, dir_ + "/kept");
    std::filesystem::create_directory(dir_ + "/" + file);
    const auto refused = load_or_create_pki(dir_, {"localhost"}, now());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(file), std::string::npos) << refused.error().message;
    std::filesystem::remove(dir_ + "/" + file);
    std::filesystem::rename(dir_ + "/kept", dir_ + "/" + file);
  }
}

// A changed byte in any file: the set that is loaded fits together, and what is still good is kept.
TEST_F(PkiTest, ADamagedByteNeverGivesAnUnusableSet) {
  std::uint64_t random = 7;
  for (int round = 0; round < 40; ++round) {
    const Pki before = load_or_create_pki(dir_, {"localhost"}, now()).value();
    const std::string name = dir_ + "/" + std::array{"ca.crt",     "ca.key",    "server.crt",
                                                     "server.key", "admin.crt", "sa.key"}[next_random(random) % 6];
    std::string content = read_file(name).value();
    content[next_random(random) % content.size()] ^= static_cast<char>(1 + next_random(random) % 127);
    ASSERT_TRUE(write_private_file(name, content));
    const auto after = load_or_create_pki(dir_, {"localhost"}, now());
    ASSERT_TRUE(after) << name << ": " << after.error().message;
    EXPECT_TRUE(berth::http::usable(after->server, after->authority, {"localhost"}, now(), std::chrono::hours(1)))
        << name;
    EXPECT_TRUE(berth::http::usable(after->admin, after->authority, {}, now(), std::chrono::hours(1))) << name;
    EXPECT_TRUE(server_context(*after)) << name;
    EXPECT_TRUE(TokenSigner::with_key(after->service_accounts)) << name;
  }
}

TEST_F(PkiTest, ADirectoryThatCannotBeWrittenIsOneClearError) {
  const auto failed = load_or_create_pki("/proc/nothing/here", {"localhost"}, now());
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("/proc/nothing/here"), std::string::npos) << failed.error().message;
}

}  // namespace
}  // namespace berth::apiserver::http::https_server_test
