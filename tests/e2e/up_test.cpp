// Start, stop and failures of `berth up`.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "e2e/server.h"

namespace berth::e2e::up_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string first_line_only(const Finished& finished, int code = 1) {
  EXPECT_EQ(finished.exit_code, code) << finished.out << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  return finished.err;
}

TEST(Up, ContinuesAfterAStopAndAfterAKill) {
  Server server(std::vector<std::string>{});
  struct stat info{};
  ASSERT_EQ(::stat(server.kubeconfig().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_TRUE(has(server.must({"version"}), "berth"));
  EXPECT_TRUE(has(server.must({"get", "--raw", "/metrics"}), "kueue_build_info{")) << "of the controller, too";
  server.must({"create", "configmap", "kept", "--from-literal=a=1"});
  const std::string uid = server.must({"get", "cm", "kept", "-o", "jsonpath={.metadata.uid}"});
  EXPECT_FALSE(has(server.output(), "state: continued")) << server.output();
  const Finished stopped = server.stop();
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  server.start();
  EXPECT_TRUE(has(server.output(), "state: continued from " + server.dir())) << server.output();
  EXPECT_EQ(server.must({"get", "cm", "kept", "-o", "jsonpath={.metadata.uid}"}), uid);
  server.must({"patch", "cm", "kept", "-p", R"({"data":{"a":"2"}})"});
  const std::string version = server.must({"get", "cm", "kept", "-o", "jsonpath={.metadata.resourceVersion}"});
  server.kill();
  server.start();
  EXPECT_EQ(server.must({"get", "cm", "kept", "-o", "jsonpath={.data.a}"}), "2");
  EXPECT_EQ(server.must({"get", "cm", "kept", "-o", "jsonpath={.metadata.resourceVersion}"}), version);
}

TEST(Up, OptionsThatChangeNothingForNodesOfAnEarlierRunAreSaid) {
  Server server({"--nodes", "1x1x2"});
  EXPECT_FALSE(has(server.output(), "note: ")) << server.output();
  server.stop();
  server.start({"--nodes", "1x1x1", "--node-resources", "cpu=96"});
  EXPECT_TRUE(has(server.output(), "note: --nodes 1x1x1 leaves 1 node (b1-r1-n2)")) << server.output();
  EXPECT_TRUE(has(server.output(), "note: --node-resources changes nothing for 1 node (b1-r1-n1)")) << server.output();
  server.must({"delete", "node", "b1-r1-n1", "b1-r1-n2"});
  server.stop();
  server.start({"--nodes", "1x1x1", "--node-resources", "cpu=96"});
  EXPECT_FALSE(has(server.output(), "note: ")) << server.output();
  EXPECT_EQ(server.must({"get", "node", "b1-r1-n1", "-o", "jsonpath={.status.capacity.cpu}"}), "96");
}

TEST(Up, ASecondOneOnTheSameDirectorySaysSo) {
  Server server(std::vector<std::string>{});
  const Finished second =
      run({BERTH_PROGRAM, "up", "--data-dir", server.dir() + "/data", "--listen", "127.0.0.1:0"}, {});
  const std::string line = first_line_only(second);
  EXPECT_TRUE(has(line, "is in use by another berth")) << line;
}

TEST(Up, APortInUseIsSaid) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string where = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const std::string kubeconfig = testing::TempDir() + "berth_e2e_kubeconfig";
  const Finished failed = run({BERTH_PROGRAM, "up", "--ephemeral", "--listen", where, "--kubeconfig", kubeconfig}, {});
  const std::string line = first_line_only(failed);
  EXPECT_TRUE(has(line, "cannot listen on " + where)) << line;
  EXPECT_FALSE(std::filesystem::exists(kubeconfig));
  ::close(taken);
}

TEST(Up, ADirectoryThatCannotBeWrittenIsSaid) {
  const std::string line =
      first_line_only(run({BERTH_PROGRAM, "up", "--data-dir", "/proc/berth", "--listen", "127.0.0.1:0"}, {}));
  EXPECT_TRUE(has(line, "the data directory /proc/berth")) << line;
}

TEST(Up, OptionsThatMakeNoSenseAreSaid) {
  const std::string dir = testing::TempDir();
  const std::string kubeconfig = dir + "berth_e2e_unused";
  const auto up = [&](std::vector<std::string> more) {
    std::vector<std::string> command = {BERTH_PROGRAM, "up",           "--ephemeral", "--listen",
                                        "127.0.0.1:0", "--kubeconfig", kubeconfig};
    command.insert(command.end(), more.begin(), more.end());
    return run(command, {});
  };
  EXPECT_TRUE(
      has(first_line_only(
              run({BERTH_PROGRAM, "up", "--ephemeral", "--listen", "nowhere", "--kubeconfig", kubeconfig}, {}), 2),
          "--listen"));
  EXPECT_TRUE(has(first_line_only(up({"--nodes", "0x4"}), 2), "0x4"));
  EXPECT_TRUE(has(first_line_only(up({"--load", dir + "berth_no_such_file.yaml"})), "berth_no_such_file.yaml"));
  EXPECT_TRUE(has(first_line_only(up({"--log-level", "loud"}), 2), "--log-level"));
  EXPECT_TRUE(has(first_line_only(up({"--scale-up", "2x2x2"}), 2), "expected RACKSxNODES"));
  EXPECT_TRUE(has(first_line_only(up({"--provisioning-delay", "soon"}), 2), "--provisioning-delay soon"));
  EXPECT_TRUE(has(first_line_only(up({"--feature-gates", "TASBalanced=true"}), 2),
                  "\"TASBalanced\": neither Kueue nor Berth has it; did you mean TASBalancedPlacement?"));
  EXPECT_TRUE(has(first_line_only(up({"--feature-gates", "TASBalancedPlacement"}), 2), "--feature-gates"));
  EXPECT_TRUE(has(first_line_only(up({"--config", dir + "berth_no_such_file.yaml"})), "--config: "));
  EXPECT_TRUE(has(first_line_only(up({"--config", "/tmp"})), "--config: cannot read /tmp: Is a directory"));
  EXPECT_TRUE(has(first_line_only(up({"--console", "nowhere"}), 2), "--console nowhere: expected ADDRESS:PORT"));
  EXPECT_TRUE(has(first_line_only(up({"--metrics-listen", "nowhere"}), 2), "--metrics-listen nowhere: expected"));
  EXPECT_TRUE(has(first_line_only(up({"--token-file", "/tmp"})), "--token-file: cannot read /tmp: Is a directory"));
  EXPECT_TRUE(has(first_line_only(up({"--kinds", "jobsets,jobset"}), 2), "--kinds: unknown kind \"jobset\"; expected"));
  EXPECT_EQ(up({"--no-such-option"}).exit_code, 2);
  std::filesystem::remove(kubeconfig);
}

TEST(Up, LoadsManifests) {
  const std::string file = testing::TempDir() + "berth_e2e_load.yaml";
  std::ofstream(file)
      << "apiVersion: v1\nkind: Namespace\nmetadata: {name: loaded}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: loaded}\ndata: {a: '1'}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: some-, namespace: loaded}\n";
  Server server({"--load", file});
  EXPECT_EQ(server.must({"get", "cm", "c", "-n", "loaded", "-o", "jsonpath={.data.a}"}), "1");
  EXPECT_TRUE(has(server.must({"get", "cm", "-n", "loaded", "-o", "name"}), "configmap/some-"));
  EXPECT_EQ(server.stop().exit_code, 0);
  std::filesystem::remove(file);
}

TEST(Up, ServesTheChosenKindsOfJobs) {
  Server server({"--nodes", "1", "--kinds", "jobset.x-k8s.io/jobset,trainjobs"});
  const std::string served = server.must({"api-resources", "--no-headers", "-o", "name"});
  for (const std::string kind : {"jobsets.jobset.x-k8s.io", "trainjobs.trainer", "clustertrainingruntimes.trainer"})
    EXPECT_TRUE(has(served, kind)) << served;
  for (const std::string kind : {"rayjobs", "leaderworkersets"}) EXPECT_FALSE(has(served, kind)) << served;
}

TEST(Up, ADefinitionOfTheUserTakesThePlaceOfOursAndStays) {
  Server server({"--nodes", "1", "--kinds", "tfjobs,jobsets"});
  const std::string theirs =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: tfjobs.kubeflow.org}\n"
      "spec: {group: kubeflow.org, scope: Namespaced, names: {kind: TFJob, plural: tfjobs, shortNames: [tf]}, "
      "versions: "
      "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: "
      "object, properties: {theirs: {type: string, description: their own words}}}}}}}]}\n";
  server.must({"apply", "-f", "-"}, theirs);
  const auto served = [&] { return has(server.kubectl({"explain", "tf.spec"}).out, "their own words"); };
  EXPECT_TRUE(testing_support::eventually(served));
  server.must({"create", "-f", "-"},
              "---\n{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: a}, spec: {theirs: kept}}");
  EXPECT_EQ(server.must({"get", "tf", "a", "-o", "jsonpath={.spec.theirs}"}), "kept");
  EXPECT_EQ(server.stop().exit_code, 0);
  server.start();
  EXPECT_TRUE(served()) << "also after a restart";
  EXPECT_EQ(server.must({"get", "tf", "a", "-o", "jsonpath={.spec.theirs}"}), "kept");
}

TEST(Up, AConfigurationIsFollowed) {
  const std::string file = testing::TempDir() + "berth_e2e_configuration.yaml";
  std::ofstream(file) << "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                         "volcano: {admission: {maxQueueDepth: 1}}\n";
  Server server({"--config", file});
  const auto queue = [](const std::string& name, const std::string& spec) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: " + spec +
           "\n";
  };
  server.must({"create", "-f", "-"}, queue("top", "{}"));
  const Finished refused = server.kubectl({"create", "-f", "-"}, queue("below", "{parent: top}"));
  EXPECT_TRUE(has(refused.err, "would be at level 2 below root, the limit is 1")) << refused.err;
  EXPECT_EQ(server.stop().exit_code, 0);
  std::filesystem::remove(file);
}

TEST(Up, TokensOfAFileAreAccepted) {
  const std::string file = testing::TempDir() + "berth_e2e_tokens.csv";
  std::ofstream(file) << "s3cret,alice,u1,\"system:masters\"\n";
  Server server({"--token-file", file});
  const std::vector<std::string> base = {"--kubeconfig=/dev/null", "--server=" + server.url(),
                                         "--insecure-skip-tls-verify"};
  const auto with_token = [&](const std::string& token) {
    auto arguments = base;
    arguments.insert(arguments.end(), {"--token=" + token, "get", "namespaces"});
    return server.kubectl(arguments);
  };
  EXPECT_EQ(with_token("s3cret").exit_code, 0) << with_token("s3cret").err;
  const Finished refused = with_token("wrong");
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_TRUE(has(refused.err, "Unauthorized") || has(refused.err, "logged in")) << refused.err;
  std::filesystem::remove(file);
}

TEST(Up, TokensOfServiceAccountsAreMadeAndHoldAsLongAsTheAccount) {
  if (kubectl_minor() < 24) GTEST_SKIP() << "kubectl has no \"create token\" before 1.24";
  Server server;
  server.must({"create", "serviceaccount", "robot"});
  const auto token_for = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"create", "token", "robot"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Finished made = server.kubectl(arguments);
    if (made.out.ends_with('\n')) made.out.pop_back();
    return made;
  };
  const auto who = [&](const std::string& token) {
    return server.kubectl({"--kubeconfig=/dev/null", "--server=" + server.url(), "--insecure-skip-tls-verify",
                           "--token=" + token, "create", "-o", "jsonpath={.status.userInfo.username}", "-f", "-"},
                          "apiVersion: authentication.k8s.io/v1\nkind: SelfSubjectReview\n");
  };
  const Finished made = token_for({});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(who(made.out).out, "system:serviceaccount:default:robot") << who(made.out).err;
  const Finished too_short = token_for({"--duration=5m"});
  EXPECT_TRUE(has(too_short.err, "may not specify a duration less than 10 minutes")) << too_short.err;
  const Finished elsewhere = token_for({"--audience=vault"});
  EXPECT_NE(who(elsewhere.out).exit_code, 0) << "meant for somebody else";
  const auto reviewed = [&](const std::string& audiences) {
    return server.must(
        {"create", "-o", "jsonpath={.status.authenticated} {.status.user.username} {.status.audiences}", "-f", "-"},
        "apiVersion: authentication.k8s.io/v1\nkind: TokenReview\nspec: {token: " + elsewhere.out +
            ", audiences: " + audiences + "}\n");
  };
  EXPECT_EQ(reviewed("[vault, other]"), "true system:serviceaccount:default:robot [\"vault\"]");
  EXPECT_TRUE(has(reviewed("[other]"), "another audience") || !has(reviewed("[other]"), "true"));

  server.must({"create", "clusterrolebinding", "robots", "--clusterrole=none", "--serviceaccount=default:robot"});
  server.must({"create", "clusterrole", "none", "--verb=get,list", "--resource=namespaces"});
  const auto list = [&] {
    return server.kubectl({"--kubeconfig=/dev/null", "--server=" + server.url(), "--insecure-skip-tls-verify",
                           "--token=" + made.out, "get", "namespaces"});
  };
  EXPECT_EQ(list().exit_code, 0) << list().err;

  server.stop();
  server.start();
  EXPECT_EQ(list().exit_code, 0) << "after a restart: " << list().err;
  server.must({"delete", "serviceaccount", "robot"});
  EXPECT_NE(list().exit_code, 0);
  server.must({"create", "serviceaccount", "robot"});
  EXPECT_NE(list().exit_code, 0) << "another account of that name";
}

TEST(Up, ServesTheControllersMetrics) {
  Server server({"--metrics-listen", "127.0.0.1:0"});
  const std::string own = server.must({"get", "--raw", "/metrics"});
  EXPECT_TRUE(has(own, "kueue_build_info")) << own;
  EXPECT_TRUE(has(own, "berth_store_revision")) << own;
  const std::string said = server.output(), before = "metrics: ";
  const auto at = said.find(before);
  ASSERT_NE(at, std::string::npos) << said;
  const std::string url = said.substr(at + before.size(), said.find("/metrics\n", at) - at - before.size());
  EXPECT_TRUE(has(server.must({"--server=" + url, "get", "--raw", "/metrics"}), "kueue_build_info"));
  EXPECT_NE(server.kubectl({"--server=" + url, "get", "--raw", "/version"}).exit_code, 0) << "nothing but metrics";
  const Finished anonymous = server.kubectl({"--kubeconfig=/dev/null", "--server=" + url, "--insecure-skip-tls-verify",
                                             "--token=wrong", "get", "--raw", "/metrics"});
  EXPECT_NE(anonymous.exit_code, 0);
  EXPECT_FALSE(has(anonymous.out, "kueue_"));
  // The CA of client certificates is published where extension servers look for it.
  EXPECT_TRUE(has(server.must({"-n", "kube-system", "get", "configmap", "extension-apiserver-authentication", "-o",
                               "jsonpath={.data.client-ca-file}"}),
                  "BEGIN CERTIFICATE"));
}

TEST(Help, IsEverywhereAndCompletionNamesEverything) {
  EXPECT_EQ(run({BERTH_PROGRAM, "--help"}, {}).exit_code, 0);
  const Finished help = run({BERTH_PROGRAM, "up", "--help"}, {});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--data-dir", "--listen", "--kubeconfig", "--nodes", "--node-resources", "--load",
                             "--ephemeral", "--log-level"}) {
    EXPECT_TRUE(has(help.out, option)) << option;
    EXPECT_TRUE(has(run({BERTH_PROGRAM, "__complete", "up", "--"}, {}).out, std::string(option) + "\n")) << option;
  }
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_TRUE(has(run({BERTH_PROGRAM, "completion", shell}, {}).out, "berth __complete")) << shell;
  EXPECT_TRUE(has(run({BERTH_PROGRAM, "version"}, {}).out, "berth "));
}

TEST(Completion, WorksInBash) {
  const std::string script = run({BERTH_PROGRAM, "completion", "bash"}, {}).out;
  const std::string program =
      "berth() { '" + std::string(BERTH_PROGRAM) + "' \"$@\"; }\n";  // it need not be on the PATH
  const Finished completed = run(
      {"bash", "-c", program + script + "\nCOMP_WORDS=(berth up --da); COMP_CWORD=2; _berth; echo \"${COMPREPLY[@]}\""},
      {});
  EXPECT_EQ(completed.out, "--data-dir\n") << completed.err;
}

}  // namespace
}  // namespace berth::e2e::up_test
