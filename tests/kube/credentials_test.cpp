#include "kube/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/yaml.h"

namespace berth::kube::credentials_test {
namespace {

using std::chrono::seconds;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

// Has a temporary folder for plugin scripts.
class PluginTest : public testing::Test {
 protected:
  PluginTest() : folder_(std::filesystem::temp_directory_path() / ("berth-plugin-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~PluginTest() override { std::filesystem::remove_all(folder_); }

  ExecPlugin script(const std::string& body) {
    const auto path = folder_ / ("plugin" + std::to_string(++scripts_));
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    ExecPlugin plugin;
    plugin.api_version = "client.authentication.k8s.io/v1";
    plugin.command = path;
    return plugin;
  }
  static std::string credential(const std::string& status) {
    return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}'";
  }
  std::string error_of(const std::string& body, std::chrono::milliseconds timeout = seconds(20)) {
    const auto plugin = script(body);
    const auto result = run_exec_plugin(plugin, {}, timeout);
    if (result) return "no error";
    std::string text = result.error().message;
    if (const auto at = text.find(plugin.command); at != std::string::npos)
      text.replace(at, plugin.command.size(), "P");
    return text;
  }

  std::filesystem::path folder_;
  int scripts_ = 0;
};

TEST_F(PluginTest, GetsArgumentsEnvironmentAndClusterInfo) {
  ExecPlugin plugin = script(
      R"(echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$1-$WHO\",\"expirationTimestamp\":\"2026-01-01T01:00:00Z\"}}")"
      "\necho \"$KUBERNETES_EXEC_INFO\" > \"$0.info\"");
  plugin.args = {"me"};
  plugin.env = {{"WHO", "you"}};
  plugin.provide_cluster_info = true;
  Access access;
  access.server = "https://h";
  const auto result = run_exec_plugin(plugin, access);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->token, "me-you");
  EXPECT_EQ(result->expires, kStart + std::chrono::hours(1));
  std::ifstream info(plugin.command + ".info");
  std::string text;
  std::getline(info, text);
  const auto json = parse_json(text);
  ASSERT_TRUE(json) << text;
  EXPECT_EQ(string_at(*json, {"spec", "cluster", "server"}), "https://h");
  EXPECT_FALSE(bool_at(*json, {"spec", "interactive"}, true));
}

TEST_F(PluginTest, SaysHowItWentWrong) {
  EXPECT_EQ(error_of("exit 3"), "the credential plugin P failed with exit code 3");
  EXPECT_EQ(error_of("kill -9 $$"), "the credential plugin P was killed by signal 9");
  EXPECT_TRUE(error_of("echo hello").starts_with("the credential plugin P printed no JSON: "));
  EXPECT_EQ(error_of("echo '{}'"),
            "the credential plugin P printed no ExecCredential of client.authentication.k8s.io/v1");
  EXPECT_EQ(error_of(credential("{}")), "the credential plugin P printed neither a token nor a certificate");
  EXPECT_EQ(error_of(credential(R"({"clientKeyData":"k"})")),
            "the credential plugin P printed only one of clientCertificateData and clientKeyData");
  EXPECT_EQ(error_of("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"),
            "the credential plugin P printed more than 1048576 bytes");
  EXPECT_EQ(error_of("exec sleep 1000", std::chrono::milliseconds(50)),
            "the credential plugin P did not finish in time");
  EXPECT_EQ(error_of("exec >&-; exec sleep 1000", std::chrono::milliseconds(50)),
            "the credential plugin P did not finish in time");
  ExecPlugin missing;
  missing.command = "/does/not/exist";
  missing.install_hint = "apt install exist";
  EXPECT_EQ(run_exec_plugin(missing, {}).error().message,
            "the credential plugin /does/not/exist cannot be started: No such file or directory\napt install exist");
}

// Files whose content the test changes; counts how often they are read.
struct FakeFiles {
  std::map<std::string, std::string> content;
  int reads = 0;
  ReadFile reader() {
    return [this](const std::string& path) -> Result<std::string> {
      ++reads;
      const auto it = content.find(path);
      return it == content.end() ? fail("cannot read " + path) : Result<std::string>(it->second);
    };
  }
};

std::string authorization(Credentials& credentials) {
  std::string out = "not yet";
  credentials.get(
      [&](const Result<Identity>& identity) { out = identity ? identity->authorization : identity.error().message; });
  return out;
}

TEST(Credentials, TokenFilesAreReadAgainAfterAMinuteAndAfterARefusal) {
  VirtualExecutor executor(kStart);
  FakeFiles files;
  files.content["tok"] = "one\n";
  Access access;
  access.token_file = "tok";
  Credentials credentials(executor, access, files.reader());
  EXPECT_EQ(authorization(credentials), "Bearer one");
  files.content["tok"] = "two";
  executor.run_until(kStart + seconds(59));
  EXPECT_EQ(authorization(credentials), "Bearer one");
  EXPECT_EQ(files.reads, 1);
  executor.run_until(kStart + seconds(60));
  EXPECT_EQ(authorization(credentials), "Bearer two");
  files.content["tok"] = "three";
  credentials.refused();
  EXPECT_EQ(authorization(credentials), "Bearer three");
  files.content["tok"] = " ";
  credentials.refused();
  EXPECT_EQ(authorization(credentials), "the token file tok is empty");
  files.content["tok"] = "four";
  EXPECT_EQ(authorization(credentials), "the token file tok is empty")
      << "a failure is not looked up for every request";
  executor.run_until(kStart + seconds(61));
  EXPECT_EQ(authorization(credentials), "Bearer four");
}

TEST(Credentials, BasicAuthorizationAndCertificates) {
  VirtualExecutor executor(kStart);
  FakeFiles files;
  files.content["ca"] = "CA";
  Access access;
  access.authority.file = "ca";
  access.certificate.inline_pem = "C";
  access.key.inline_pem = "K";
  access.username = "me";
  access.password = "secret";
  Credentials credentials(executor, access, files.reader());
  std::optional<Identity> got;
  credentials.get([&](const Result<Identity>& identity) { got = *identity; });
  ASSERT_TRUE(got);
  EXPECT_EQ(got->authorization, "Basic bWU6c2VjcmV0");
  EXPECT_EQ(got->tls.authority_pem, "CA");
  EXPECT_EQ(got->tls.certificate_pem, "C");
  EXPECT_EQ(got->tls.key_pem, "K");
}

}  // namespace
}  // namespace berth::kube::credentials_test
