#include "cli/load_live.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "http/asio_executor.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace berth::cli {

Result<simulate::LoadReport> run_live_load(const simulate::Load& load, const LiveLoadOptions& options) {
  for (const auto& object : load.objects) {
    if (string_at(object, {"kind"}) == "Topology")
      return fail("load.topology: its nodes exist in virtual time only; leave out --kubeconfig");
  }
  std::signal(SIGPIPE, SIG_IGN);
  auto access = kube::load_kubeconfig(
      kube::kubeconfig_files(options.kubeconfig, std::getenv("KUBECONFIG"), std::getenv("HOME")));
  if (!access) return tl::unexpected(access.error());
  http::AsioExecutor executor;
  kube::ClientOptions client_options;
  client_options.user_agent = "berth-load";
  client_options.rate = {options.qps, options.qps};
  auto client = kube::Client::make(executor, *access, client_options);
  if (!client) return tl::unexpected(client.error());

  Result<simulate::LoadReport> outcome = fail("interrupted");
  simulate::LoadPlayOptions play_options;
  play_options.as = options.as;
  play_options.on_progress = options.on_progress;
  std::optional<simulate::LoadPlay> play;
  play.emplace(load, **client, executor, std::move(play_options));
  bool over = false;
  const auto finish = [&] {
    if (std::exchange(over, true)) return executor.stop();  // asked twice: at once
    play.reset();
    if (options.keep) return executor.stop();
    simulate::remove_load(load, options.as, **client, [&] { executor.stop(); });
  };
  executor.on_signals({SIGTERM, SIGINT}, [&](int) { finish(); });
  executor.post([&] {
    play->start([&](Result<simulate::LoadReport> report) {
      outcome = std::move(report);
      executor.post(finish);  // not inside of the play
    });
  });
  executor.run();
  return outcome;
}

}  // namespace berth::cli
