#include "embedded/lab/command/monkeys_command.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/shared_flags.h"
#include "embedded/lab/monkeys/live.h"
#include "http/asio_executor.h"

namespace berth::lab {
namespace {

struct MonkeysFlags {
  cli::AccessFlags access;
  std::uint64_t seed = 0;
  std::string length;
  bool disposable = false;
  cli::LogFlags log{"warn"};
};

constexpr Duration kBetweenReports = std::chrono::seconds(30);

std::string described(const MonkeyLog& log) {
  return std::to_string(log.actions) + " actions: " + std::to_string(log.accepted) + " writes accepted, " +
         std::to_string(log.refused) + " refused, " + std::to_string(log.unanswered) + " unanswered";
}

Result<LiveMonkeysOptions> options_of(const MonkeysFlags& flags) {
  if (!flags.disposable)
    return fail(
        "monkeys change and delete objects of every kind in every namespace. Add --disposable-cluster if nobody needs "
        "what is on this cluster");
  LiveMonkeysOptions options;
  options.seed = flags.seed;
  if (!flags.length.empty()) {
    const auto length = parse_duration(flags.length);
    if (!length || *length <= Duration::zero())
      return fail("--for: expected a duration as 90s, 10m or 1h, got \"" + flags.length + "\"");
    options.length = *length;
  }
  return options;
}

Result<void> play(const MonkeysFlags& flags, const LiveMonkeysOptions& options) {
  const auto found = cli::find_access(flags.access);
  if (!found) return tl::unexpected(found.error());
  http::AsioExecutor executor;
  const auto clients = cli::unlimited_clients(executor, found->access, "berth-lab");
  if (!clients) return tl::unexpected(clients.error());

  Result<void> outcome;
  std::unique_ptr<LiveMonkeys> monkeys;
  monkeys = std::make_unique<LiveMonkeys>(*clients->client, executor, options, [&](Result<void> done) {
    std::printf("monkeys: %s%s\n", described(monkeys->log()).c_str(), done ? "; everything is right again" : "");
    outcome = std::move(done);
    executor.stop();
  });
  std::function<void()> report = [&] {
    const std::string wrong = monkeys->still_wrong();
    std::fprintf(stderr, "monkeys: %s%s\n", described(monkeys->log()).c_str(),
                 wrong.empty() ? "" : ("; restoring " + wrong).c_str());
    executor.after(kBetweenReports, report);
  };
  cli::AccessCheck check(*clients->prompt, executor, found->access, {{{"", "v1", "nodes"}}, {{"", "v1", "pods"}}},
                         [&](Result<void> may) {
                           if (!may) {
                             outcome = std::move(may);
                             return executor.stop();
                           }
                           std::printf("ready\n");
                           std::fflush(stdout);
                           monkeys->start();
                           executor.after(kBetweenReports, report);
                         });
  executor.on_signals({SIGTERM, SIGINT}, [&, asked = false](int) mutable {
    if (std::exchange(asked, true)) std::_Exit(130);
    std::fprintf(stderr, "putting things right; once more to leave them as they are\n");
    monkeys->stop();
  });
  executor.post([&] { check.start(); });
  executor.run();
  return outcome;
}

int run(const MonkeysFlags& flags) {
  if (const auto configured = cli::configure_log(flags.log); !configured)
    return cli::misuse(configured.error().message);
  const auto options = options_of(flags);
  if (!options) return cli::misuse(options.error().message);
  std::signal(SIGPIPE, SIG_IGN);
  const auto done = play(flags, *options);
  return done ? 0 : cli::failure(done.error().message);
}

}  // namespace

cli::Command add_monkeys(CLI::App& root) {
  auto* app = root.add_subcommand(
      "monkeys",
      "Let monkeys play: clients that do whatever the API permits with every kind that Berth reads. For tests of "
      "controllers only");
  auto flags = std::make_shared<MonkeysFlags>();
  cli::add_access_flags(*app, flags->access);
  app->add_option("--seed", flags->seed, "Chooses what they do")->check(cli::whole_number())->type_name("SEED");
  app->add_option("--for", flags->length,
                  "How long they play, as 10m; then they put things right. Without it until a signal")
      ->type_name("DURATION");
  app->add_flag("--disposable-cluster", flags->disposable, "Needed: what is on the cluster may be lost");
  cli::add_log_level_flag(*app, flags->log);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace berth::lab
