// The plain manifests in a cluster: kubectl applies them and shows no difference afterwards, and a controller with
// exactly their roles works.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "e2e/controller.h"
#include "e2e/manifests.h"
#include "e2e/server.h"
#include "source_dir.h"
#include "support/real_api_server.h"

namespace berth::e2e::install_test {
namespace {

const std::string kManifests = source_path("config/install/berth.yaml"),
                  kVolcano = source_path("config/install/volcano.yaml");

// The server validates strictly, with each kubectl that supports server-side validation.
const std::vector<std::string> kApply = {"apply", "--validate=true", "-f"};
const std::vector<std::string> kServerSide = {"apply", "--server-side", "--force-conflicts", "--validate=true", "-f"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& file) {
  arguments.push_back(file);
  return arguments;
}

// The token of the controller's service account.
const std::string kToken =
    R"(t0ken,system:serviceaccount:kueue-system:kueue-controller-manager,1,"system:serviceaccounts,system:authenticated")";

testing_support::RealApiServerOptions with_token() {
  testing_support::RealApiServerOptions options;
  options.tokens = {kToken};
  return options;
}

class RealServer final : public Cluster {
 public:
  std::string kubeconfig() const override { return server_.kubeconfig(); }

 private:
  testing_support::RealApiServer server_{with_token()};
};

// A file that is deleted with this object.
class TokenFile {
 public:
  TokenFile() {
    const int file = ::mkstemp(path_.data());
    std::FILE* out = ::fdopen(file, "w");
    std::fputs((kToken + "\n").c_str(), out);
    std::fclose(out);
  }
  ~TokenFile() { std::filesystem::remove(path_); }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "berth-tokens-XXXXXX";
};

// API servers without any installation that know the service account's token.
class Manifests : public OnBoth {
 protected:
  std::unique_ptr<Cluster> bare() {
    if (GetParam() == On::kRealApiServer) return std::make_unique<RealServer>();
    return std::make_unique<Server>(
        std::vector<std::string>{"--nodes", "none", "--controller=false", "--token-file", tokens_.path()});
  }

 private:
  TokenFile tokens_;
};

TEST_P(Manifests, ApplyAndLeaveNoDifference) {
  const auto server = bare();
  for (const std::string& file : {kManifests, kVolcano}) {
    server->must(with(kApply, file));
    const Finished after = server->kubectl({"diff", "-f", file});
    EXPECT_EQ(after.exit_code, 0) << after.out << after.err;
    server->must(with(kServerSide, file));
    if (kubectl_minor() < 24) continue;  // older versions show the time of the apply as a difference
    const Finished again = server->kubectl({"diff", "--server-side", "--force-conflicts", "-f", file});
    EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, Manifests, both(), name_of);

// Typed clients send protobuf.
TEST(Applications, AreMadeByKubectlCreate) {
  Server server({"--nodes", "none"});
  server.must({"create", "deployment", "a", "--image=i:1"});
  server.must({"create", "service", "clusterip", "a", "--tcp=80:8080"});
  server.must({"create", "role", "a", "--verb=get", "--resource=pods"});
  server.must({"create", "clusterrole", "a", "--verb=list", "--resource=nodes"});
  server.must({"create", "rolebinding", "a", "--role=a", "--user=bob"});
  server.must({"create", "clusterrolebinding", "a", "--clusterrole=a", "--serviceaccount=default:a"});
  if (kubectl_minor() >= 22)  // older versions use policy/v1beta1
    server.must({"create", "poddisruptionbudget", "a", "--selector=app=a", "--min-available=1"});
  server.must({"scale", "deployment", "a", "--replicas=3"});
  EXPECT_EQ(server.must({"get", "deployment", "a", "-o", "jsonpath={.spec.replicas} {.spec.selector.matchLabels.app}"}),
            "3 a");
  EXPECT_EQ(server.must({"get", "service", "a", "-o", "jsonpath={.spec.ports[0].targetPort}"}), "8080");
  EXPECT_EQ(server.stop().exit_code, 0);
}

const std::string kWork = kDefaultFlavor + cluster_queue("all", 2) + local_queue("mine", "all") + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: default, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: none, resources: {requests: {cpu: 1}}}]
)";

// A role that each cluster has in kube-system and that the manifests bind to.
constexpr const char* kAuthenticationReader = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: extension-apiserver-authentication-reader, namespace: kube-system}
rules:
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [extension-apiserver-authentication]
  verbs: [get, list, watch]
)";

// The controller's kubeconfig: the server's kubeconfig with the token of the service account.
std::string kubeconfig_of_account(const Cluster& server) {
  const std::string authority =
      server.must({"config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}"});
  return server.write_file("account.kubeconfig",
                           "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
                           "clusters: [{name: c, cluster: {server: \"" +
                               server.url() + "\", certificate-authority-data: " + authority +
                               "}}]\n"
                               "users: [{name: u, user: {token: t0ken}}]\n"
                               "contexts: [{name: here, context: {cluster: c, user: u}}]\n");
}

TEST_P(Manifests, HaveTheRolesThatTheControllerNeeds) {
  const auto server = bare();
  for (const std::string& file : {kManifests, kVolcano}) server->must(with(kServerSide, file));
  // No webhook server listens behind their Service here.
  server->must({"delete", "mutatingwebhookconfiguration", "kueue-mutating-webhook-configuration"});
  server->must({"delete", "validatingwebhookconfiguration", "kueue-validating-webhook-configuration"});
  if (server->kubectl({"get", "role", "-n", "kube-system", "extension-apiserver-authentication-reader"}).exit_code != 0)
    server->must({"apply", "-f", "-"}, kAuthenticationReader);
  const std::string kubeconfig = kubeconfig_of_account(*server);
  EXPECT_NE(server->kubectl({"--kubeconfig", kubeconfig, "get", "secrets", "-A"}).exit_code, 0)
      << "it reads no Secrets";
  const std::string config = server->write_file("controller.yaml", controller_configuration());
  Process controller({BERTH_PROGRAM, "controller", "--kubeconfig", kubeconfig, "--config", config},
                     server->environment());
  ASSERT_TRUE(controller.wait_for_output("leading\n")) << controller.err();
  server->must({"apply", "-f", "-"}, kWork);
  EXPECT_TRUE(eventually([&] {
    return server->must({"get", "job", "work", "-o", "jsonpath={.spec.suspend}"}) == "false";
  })) << server->must({"get", "workloads", "-o", "yaml"});
  EXPECT_TRUE(eventually([&] {
    return server->must({"get", "localqueue", "mine", "-o", "jsonpath={.status.admittedWorkloads}"}) == "1";
  }));
  controller.signal(SIGTERM);
  const Finished finished = controller.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err.find("forbidden"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace berth::e2e::install_test
