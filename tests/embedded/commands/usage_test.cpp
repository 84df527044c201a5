// Wrong values of flags: one line that names the flag, and exit code 2, before anything else is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/queues/commands.h"
#include "embedded/commands/commands.h"
#include "support/scratch_dir.h"

namespace berth::cli::usage_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Ran {
  int code = -1;
  std::string said;
  std::string printed;
};

Ran run(std::vector<std::string> words) {
  CLI::App app{"", "berth"};
  app.require_subcommand(1);
  std::vector<Command> commands = queues::add_commands(app, queues::Session::of_this_process());
  for (const auto add : {add_up, add_controller, add_console, add_cluster, add_simulate, add_replay, add_load})
    commands.push_back(add(app));
  std::ostringstream out, err;
  commands.push_back(add_version(app, out));
  testing::internal::CaptureStderr();  // for what commands say themselves
  const int code = run_command_line(app, commands, std::move(words), out, err);
  return {code, err.str() + testing::internal::GetCapturedStderr(), out.str()};
}

// A variable of the environment, while this object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Usage, WrongValuesAreReportedWithTheirFlag) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--wrong"}, "berth: unknown flag '--wrong' before a command"},
      {{"controller", "--feature-gates", "x"}, "--feature-gates: \"x\": expected NAME=true"},
      {{"up", "--feature-gates", "Wrong=true"},
       "--feature-gates: feature gate \"Wrong\": neither Kueue nor Berth has it"},
      {{"simulate", "--feature-gates", "ManagedJobsNamespaceSelectorAlwaysRespected=false", "f"},
       "cannot be false in Berth"},
      {{"controller", "--namespace", "A b"}, "--namespace: a lowercase RFC 1123 label"},
      {{"controller", "--journal-max-size", "1Gi"}, "--journal-max-size requires --journal"},
      {{"controller", "--journal", "d", "--journal-max-size", "3x"}, "--journal-max-size: \"3x\" is no quantity"},
      {{"up", "--journal-max-age", "5m"}, "--journal-max-age: \"5m\" is no duration of at least 1h"},
      {{"replay", "--until", "x", "j"}, "--until: invalid time \"x\""},
      {{"console", "--tls-cert", "c"}, "--tls-cert requires --tls-key"},
      {{"console", "--trusted-proxies", "x"}, "--trusted-proxies: x: expected an address"},
      {{"console", "--listen", "0.0.0.0:1"}, "tokens must not travel in plain text"},
      {{"simulate", "--seed", "-1", "f"}, "--seed: expected a number from 0 to 18446744073709551615, got -1"},
      {{"simulate", "--seed", "x", "f"}, "--seed: expected a number from 0 to 18446744073709551615, got x"},
      {{"load", "--seed", "1.5", "f"}, "--seed: expected a number from 0 to 18446744073709551615, got 1.5"},
      {{"load", "--limit", "0", "f"}, "--limit: expected a number from 1 to "},
      {{"list", "workload", "-l", "=="}, "--selector: expected a selector such as team=a,env in (dev,test), got ==: "},
      {{"list", "cq", "--field-selector", "x"}, "--field-selector: expected a selector such as metadata.name=x, got x"},
      {{"load", "--kubeconfig", "k", "--qps", "-1", "f"}, "--qps: expected a number from 0, got -1"},
  };
  for (const auto& [words, expected] : cases) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << ran.said;
    EXPECT_NE(ran.said.find(expected), std::string::npos) << ran.said;
  }
}

TEST(Usage, UnexpectedWordsComeInTheirOrderWithTheHelpOfTheCommand) {
  EXPECT_EQ(run({"list", "wl", "--stats", "pending"}).said,
            "berth: not expected: --stats pending; see 'berth list workload --help'; did you mean '--status'?\n");
  EXPECT_EQ(run({"up", "now", "please"}).said, "berth: not expected: now please; see 'berth up --help'\n");
  EXPECT_NE(run({"explain"}).said.find("; see 'berth explain --help'"), std::string::npos);
  EXPECT_NE(run({"list"}).said.find("; see 'berth list --help'"), std::string::npos);
  EXPECT_NE(run({}).said.find("; see 'berth --help'"), std::string::npos);
}

TEST(Usage, TheNearestCommandOrFlagIsNamed) {
  EXPECT_THAT(run({"lisst"}).said, EndsWith("; did you mean 'list'?\n"));
  EXPECT_THAT(run({"list", "worklaod"}).said, EndsWith("; did you mean 'workload'?\n"));
  EXPECT_THAT(run({"xyzzyx"}).said, Not(HasSubstr("did you mean")));
  EXPECT_EQ(run({"list", "workload", "--outptu", "json"}).said,
            "berth: not expected: --outptu json; see 'berth list workload --help'; did you mean '--output'?\n");
}

TEST(Usage, HelpAndVersionAreUnderstoodAsInOtherPrograms) {
  const Ran help = run({"help", "list", "workload"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.printed, HasSubstr("Usage: berth list workload"));
  EXPECT_THAT(run({"help"}).printed, HasSubstr("Usage: berth"));
  const Ran version = run({"--version"});
  EXPECT_EQ(version.code, 0) << version.said;
  EXPECT_THAT(version.printed, StartsWith("berth "));
}

TEST(Usage, WithoutAnyKubeconfigItIsSaidHowToNameOne) {
  const Variable home("HOME", "/nowhere"), kubeconfig("KUBECONFIG", "");
  for (const char* command : {"controller", "console"}) {
    const Ran ran = run({command});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.said, "berth: no kubeconfig: give --kubeconfig FILE or set KUBECONFIG\n");
  }
  EXPECT_NE(run({"controller", "--kubeconfig", "nowhere"}).said.find("cannot read nowhere"), std::string::npos);
}

TEST(Usage, WhatCannotBeUsedIsReportedWithItsFlag) {
  const std::string dir = testing_support::make_scratch_dir("usage");
  const std::string config = dir + "/config.yaml", empty = dir + "/empty";
  std::filesystem::create_directory(empty);
  std::ofstream(config) << "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\njobKinds: {directory: "
                        << dir << "/none}\n";
  const auto up = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"up", "--ephemeral", "--console", "off", "--nodes", "none", "--kubeconfig"};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words));
  };
  const std::string kubeconfig = dir + "/kubeconfig";
  EXPECT_NE(up({kubeconfig, "--job-kinds", dir + "/none"})
                .said.find("--job-kinds: cannot read the directory " + dir + "/none: No such file"),
            std::string::npos);
  EXPECT_NE(up({kubeconfig, "--config", config})
                .said.find("jobKinds.directory: cannot read the directory " + dir + "/none: No such file"),
            std::string::npos);
  EXPECT_NE(up({kubeconfig, "--listen", "127.0.0.1:0", "--load", empty})
                .said.find("--load: " + empty + ": has no .yaml, .yml or .json files"),
            std::string::npos);
  std::filesystem::remove_all(dir);
}

TEST(Usage, APortThatIsTakenIsReportedWithItsFlag) {
  boost::asio::io_context context;
  using boost::asio::ip::tcp;
  tcp::acceptor other(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const std::string taken = "127.0.0.1:" + std::to_string(other.local_endpoint().port());
  const std::string dir = testing_support::make_scratch_dir("usage");
  const Ran ran = run({"up", "--ephemeral", "--kubeconfig", dir + "/kubeconfig", "--listen", taken});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.said, "berth: cannot listen on " + taken +
                          ": Address already in use; free the port, or choose another address with --listen\n");
  std::filesystem::remove_all(dir);
}

TEST(Usage, AFolderIsNoFile) {
  for (const char* command : {"simulate", "load"}) {
    const Ran ran = run({command, "/tmp"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.said.find("cannot read /tmp: Is a directory"), std::string::npos) << ran.said;
  }
}

}  // namespace
}  // namespace berth::cli::usage_test
