// The web console as users meet it: `berth console` with TLS in front of `berth up`, and the link of `berth up`.
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>

#include "base/json.h"
#include "e2e/server.h"
#include "http/certificates.h"
#include "support/https_client.h"

namespace berth::e2e::console_test {
namespace {

using testing_support::HttpsAnswer;
using testing_support::HttpsClient;

const std::vector<std::pair<std::string, std::string>> kOwn = {{"X-Berth-Console", "1"}};

class ConsoleTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string tokens = testing::TempDir() + "console-tokens-" + std::to_string(::getpid());
    std::ofstream(tokens) << "token-of-ann,ann,1\n";
    server.emplace(std::vector<std::string>{"--nodes", "1x1x1", "--token-file", tokens});
    server->must({"create", "namespace", "team"});
    server->must({"apply", "-f", "-"}, R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: team}
rules: [{apiGroups: [kueue.x-k8s.io], resources: [localqueues], verbs: [list]}]
)");
    server->must({"create", "rolebinding", "ann", "-n", "team", "--role=reader", "--user=ann"});
    const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    authority = http::make_authority("console-ca", now).value();
    const auto own = http::make_server_credential(authority, {"127.0.0.1"}, now).value();
    console.emplace(std::vector<std::string>{BERTH_PROGRAM, "console", "--kubeconfig", server->kubeconfig(), "--listen",
                                             "127.0.0.1:0", "--tls-cert", server->write_file("crt", own.certificate),
                                             "--tls-key", server->write_file("key", own.key)},
                    server->environment());
    ASSERT_TRUE(console->wait_for_output("console: https://127.0.0.1:")) << console->err();
    ASSERT_TRUE(console->wait_for_output("\n"));
    port = static_cast<std::uint16_t>(std::stoi(console->out().substr(console->out().rfind(':') + 1)));
  }
  HttpsClient client() const { return HttpsClient(port, authority.certificate, {}); }
  static std::string cookie_of(const HttpsAnswer& answer) {
    const auto header = answer.headers.find("set-cookie");
    return header == answer.headers.end() ? "" : header->second.substr(0, header->second.find(';'));
  }
  HttpsAnswer login(const std::string& token) const {
    return client().request("POST", "/api/login", to_string(JsonObject{{"token", token}}), kOwn);
  }

  std::optional<Server> server;
  std::optional<Process> console;
  http::Credential authority;
  std::uint16_t port = 0;
};

TEST_F(ConsoleTest, UsersSeeWhatTheirRolesAllow) {
  for (const char* ns : {"team", "default"}) {
    server->must({"apply", "-f", "-"}, std::string(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue-of-)") + ns +
                                           ", namespace: " + ns + "}\nspec: {clusterQueue: none}\n");
  }
  EXPECT_EQ(client().request("GET", "/api/session").status, 401);
  EXPECT_EQ(login("wrong").status, 401);
  const std::string cookie = cookie_of(login("token-of-ann"));
  ASSERT_FALSE(cookie.empty());
  EXPECT_NE(client().request("GET", "/api/session", "", {{"Cookie", cookie}}).body.find("\"ann\""), std::string::npos);
  HttpsClient page = client();
  ASSERT_EQ(page.open_stream("/api/stream?collections=localqueues,workloads", {{"Cookie", cookie}}).status, 200);
  std::string text;
  while (text.find("event: ready") == std::string::npos || text.find("queue-of-team") == std::string::npos) {
    const std::string line = page.read_line(std::chrono::minutes(1));
    text += line + "\n";
    ASSERT_LT(text.size(), 100'000u);
    if (text.find("event: end") != std::string::npos) break;
  }
  EXPECT_NE(text.find("queue-of-team"), std::string::npos) << text;
  EXPECT_EQ(text.find("queue-of-default"), std::string::npos) << text;
  EXPECT_NE(text.find("event: denied"), std::string::npos) << text;
}

TEST_F(ConsoleTest, LoginsAreLimitedByAddress) {
  int refused = 0;
  for (int i = 0; i < 15; ++i) refused += login("wrong" + std::to_string(i)).status == 429 ? 1 : 0;
  EXPECT_GE(refused, 3);
}

TEST_F(ConsoleTest, HostileBytesAreAnswered) {
  EXPECT_EQ(client().raw("GET /assets/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n").status, 400);
  const std::string big(100'000, 'x');
  EXPECT_EQ(client().request("POST", "/api/login", big, kOwn).status, 413);
  EXPECT_EQ(client()
                .request("POST", "/api/login", "{}", {{"X-Berth-Console", "1"}, {"Origin", "https://evil.example"}})
                .status,
            403);
}

TEST_F(ConsoleTest, EndsWhenItIsReported) {
  const std::string cookie = cookie_of(login("token-of-ann"));
  HttpsClient page = client();
  ASSERT_EQ(page.open_stream("/api/stream?collections=localqueues", {{"Cookie", cookie}}).status, 200);
  console->signal(SIGTERM);
  EXPECT_EQ(console->wait().exit_code, 0);
}

TEST_F(ConsoleTest, WarnsAtOnceThatItCannotReadTheCluster) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"https://127.0.0.1:1", "cannot be used yet"},
                                                                  {server->url(), "does not accept the credentials"}};
  for (const auto& [url, why] : cases) {
    const std::string config = server->write_file("other", R"({"current-context": "x",
"clusters": [{"name": "x", "cluster": {"insecure-skip-tls-verify": true, "server": ")" +
                                                               url + R"("}}],
"users": [{"name": "x", "user": {"token": "wrong"}}],
"contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]})");
    Process other({BERTH_PROGRAM, "console", "--kubeconfig", config, "--listen", "127.0.0.1:0"}, server->environment());
    EXPECT_TRUE(other.wait_for_errors(why)) << other.err();
    EXPECT_TRUE(other.wait_for_output("console: http://127.0.0.1:")) << "it serves all the same";
  }
}

TEST(ConsoleOfUp, HasALinkThatLogsIn) {
  Server server({"--nodes", "1x1x1", "--console", "127.0.0.1:0"});
  const std::string& said = server.output();
  const auto at = said.find("console: http://127.0.0.1:");
  ASSERT_NE(at, std::string::npos) << said;
  const auto token = said.find("/#token=", at);
  ASSERT_NE(token, std::string::npos) << said;
  EXPECT_GE(said.find('\n', token) - token, 40u);
  Server off({"--nodes", "1x1x1", "--console", "off"});
  EXPECT_EQ(off.output().find("console:"), std::string::npos);
}

}  // namespace
}  // namespace berth::e2e::console_test
