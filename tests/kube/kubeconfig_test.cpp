#include "kube/kubeconfig.h"

#include <gtest/gtest.h>

#include <map>

#include "base/base64.h"

namespace berth::kube::kubeconfig_test {
namespace {

using Files = std::map<std::string, std::string>;

Result<Access> load(const Files& files, std::string_view context = {},
                    std::vector<std::string> order = {"/etc/a.yaml"}) {
  return load_kubeconfig(order, context, [&](const std::string& path) -> Result<std::string> {
    const auto it = files.find(path);
    return it == files.end() ? fail("cannot read " + path + ": No such file or directory")
                             : Result<std::string>(it->second);
  });
}

std::string config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts: [{name: main, context: {cluster: c, user: u, namespace: team}}]\n"
         "clusters: [{name: c, cluster: " +
         cluster +
         "}]\n"
         "users: [{name: u, user: " +
         user + "}]\n";
}

std::string error_of(const std::string& cluster, const std::string& user) {
  const auto access = load({{"/etc/a.yaml", config(cluster, user)}});
  return access ? "no error" : access.error().message;
}

TEST(Kubeconfig, ReadsInlineCertificatesBeforeFiles) {
  const auto access =
      load({{"/etc/a.yaml",
             config("{server: 'https://h:6443/', certificate-authority: ca.crt, certificate-authority-data: " +
                        base64_encode("CA") + ", tls-server-name: api}",
                    "{client-certificate: pki/me.crt, client-key: /abs/me.key}")}});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://h:6443");
  EXPECT_EQ(access->authority.inline_pem, "CA");
  EXPECT_EQ(access->authority.file, "");
  EXPECT_EQ(access->tls_server_name, "api");
  EXPECT_EQ(access->certificate.file, "/etc/pki/me.crt") << "relative to the file that names it";
  EXPECT_EQ(access->key.file, "/abs/me.key");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->origin, "context \"main\" of /etc/a.yaml");
}

TEST(Kubeconfig, MergesFilesTheFirstWins) {
  const std::string first = "current-context: two\nclusters: [{name: c, cluster: {server: 'https://first'}}]\n";
  const std::string second =
      "current-context: one\nclusters: [{name: c, cluster: {server: 'https://second'}}]\n"
      "contexts: [{name: two, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t, tokenFile: tok}}]\n";
  const auto access = load({{"/1/a", first}, {"/2/b", second}}, "", {"/1/a", "/missing", "/2/b"});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://first");
  EXPECT_EQ(access->token, "t");
  EXPECT_EQ(access->token_file, "/2/tok");
  EXPECT_EQ(access->ns, "default");
}

TEST(Kubeconfig, ReadsExecPlugins) {
  const auto access = load(
      {{"/etc/a.yaml",
        config(
            "{server: 'https://h', extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]}",
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, args: [-x, '1'], "
            "env: [{name: A, value: b}], installHint: install it, provideClusterInfo: true}}")}});
  ASSERT_TRUE(access) << access.error().message;
  ASSERT_TRUE(access->exec);
  EXPECT_EQ(access->exec->command, "/etc/get-token");
  EXPECT_EQ(access->exec->args, (std::vector<std::string>{"-x", "1"}));
  EXPECT_EQ(access->exec->env.at(0).second, "b");
  EXPECT_TRUE(access->exec->provide_cluster_info);
  EXPECT_EQ(string_at(access->exec->cluster_config, {"audience"}), "x");
}

TEST(Kubeconfig, ErrorsNameFileAndField) {
  EXPECT_EQ(error_of("{server: h}", "{}"),
            "/etc/a.yaml: cluster \"c\".server: expected https://HOST[:PORT], found \"h\"");
  EXPECT_EQ(error_of("{server: 'https://h', certificate-authority-data: '%%'}", "{}"),
            "/etc/a.yaml: cluster \"c\".certificate-authority-data: expected base64");
  EXPECT_EQ(error_of("{server: 'https://h'}", "{client-certificate: x}"),
            "/etc/a.yaml: user \"u\": client-certificate and client-key must be given together");
  EXPECT_EQ(error_of("{server: 'https://h', proxy-url: 'socks5://p:1'}", "{}"),
            "/etc/a.yaml: cluster \"c\".proxy-url: expected http://HOST:PORT, found \"socks5://p:1\"");
  EXPECT_EQ(
      error_of("{server: 'https://h'}", "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}"),
      "/etc/a.yaml: user \"u\".exec.apiVersion: expected client.authentication.k8s.io/v1 or v1beta1, found "
      "\"client.authentication.k8s.io/v1alpha1\"");
  const Files files{{"/etc/a.yaml", config("{server: 'https://h'}", "{}")}};
  EXPECT_EQ(load(files, "other").error().message, "/etc/a.yaml: there is no context \"other\" (there are: main)");
  EXPECT_EQ(load({}).error().message, "cannot read /etc/a.yaml: No such file or directory");
  EXPECT_EQ(load({{"/etc/a.yaml", "contexts: []"}}).error().message,
            "/etc/a.yaml: current-context is not set (contexts: none)");
  const std::string no_yaml = load({{"/etc/a.yaml", "a: [1"}}).error().message;
  EXPECT_TRUE(no_yaml.starts_with("/etc/a.yaml: ") && no_yaml.find("line 1") != std::string::npos) << no_yaml;
}

TEST(Kubeconfig, TheFlagGoesBeforeTheEnvironmentAndThatBeforeTheHome) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(kubeconfig_files("x", "a:b", "/h"), (Names{"x"}));
  EXPECT_EQ(kubeconfig_files("", "a::b:a", "/h"), (Names{"a", "b"}));
  EXPECT_EQ(kubeconfig_files("", "", "/h"), (Names{"/h/.kube/config"}));
  EXPECT_EQ(kubeconfig_files("", nullptr, nullptr), Names{});
}

TEST(InClusterAccess, IsMadeOfTheServiceAccount) {
  const auto access = in_cluster_access("fd00::1", "443");
  ASSERT_TRUE(access);
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_FALSE(in_cluster_access(nullptr, "443"));
  EXPECT_FALSE(in_cluster_access("h", ""));
}

}  // namespace
}  // namespace berth::kube::kubeconfig_test
