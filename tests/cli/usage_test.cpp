// Wrong values of flags: one line that names the flag, and exit code 2, before anything else is done.
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/main/command_line.h"

namespace berth::cli::usage_test {
namespace {

struct Ran {
  int code = -1;
  std::string said;
};

Ran run(std::vector<std::string> words) {
  CLI::App app{"", "berth"};
  app.require_subcommand(1);
  tell_errors_in_one_line(app);
  std::vector<Command> commands;
  for (const auto add : {add_up, add_controller, add_console, add_cluster, add_simulate, add_replay, add_load})
    commands.push_back(add(app));
  std::ostringstream out, err;
  testing::internal::CaptureStderr();  // for what commands say themselves
  const int code = run_command_line(app, commands, std::move(words), out, err);
  return {code, err.str() + testing::internal::GetCapturedStderr()};
}

TEST(Usage, WrongValuesAreToldWithTheirFlag) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--wrong"}, "berth: unknown flag '--wrong' before a command"},
      {{"controller", "--feature-gates", "x"}, "--feature-gates: \"x\": expected NAME=true"},
      {{"up", "--feature-gates", "Wrong=true"}, "--feature-gates: feature gate \"Wrong\": Berth does not have it"},
      {{"simulate", "--feature-gates", "MultiKueue=true", "f"}, "feature gate \"MultiKueue\": Berth does not have"},
      {{"controller", "--namespace", "A b"}, "--namespace: a lowercase RFC 1123 label"},
      {{"controller", "--journal-max-size", "1Gi"}, "--journal-max-size requires --journal"},
      {{"controller", "--journal", "d", "--journal-max-size", "3x"}, "--journal-max-size: \"3x\" is no quantity"},
      {{"up", "--journal-max-age", "5m"}, "--journal-max-age: \"5m\" is no duration of at least 1h"},
      {{"replay", "--until", "x", "j"}, "--until: invalid time \"x\""},
      {{"console", "--tls-cert", "c"}, "--tls-cert requires --tls-key"},
      {{"console", "--trusted-proxies", "x"}, "--trusted-proxies: x: expected an address"},
      {{"console", "--listen", "0.0.0.0:1"}, "tokens must not travel in plain text"},
      {{"cluster", "--monkeys", "1"}, "--monkeys: monkeys change and delete objects"},
      {{"cluster", "--monkeys-for", "1m"}, "--monkeys-for requires --monkeys"},
      {{"load", "--kubeconfig", "k", "--qps", "-1", "f"}, "--qps: expected a number from 0, got -1"},
  };
  for (const auto& [words, expected] : cases) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << ran.said;
    EXPECT_NE(ran.said.find(expected), std::string::npos) << ran.said;
  }
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
