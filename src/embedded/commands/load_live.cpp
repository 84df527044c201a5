#include "embedded/commands/load_live.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "api/verb.h"
#include "http/asio_executor.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace berth::cli {
namespace {

// Changes that arrive within this time are handled together, so that the load takes little CPU time from the server
// that it measures.
constexpr Duration kRest = std::chrono::milliseconds(5);

Result<std::unique_ptr<kube::Client>> make_client(Executor& executor, const LiveLoadOptions& options,
                                                  kube::ClientOptions how) {
  std::signal(SIGPIPE, SIG_IGN);
  auto access =
      kube::load_kubeconfig(kube::kubeconfig_files(options.kubeconfig, std::getenv("KUBECONFIG"), std::getenv("HOME")));
  if (!access) return tl::unexpected(access.error());
  how.user_agent = "berth-load";
  how.rate = {options.qps, options.qps};
  return kube::Client::make(executor, *access, std::move(how));
}

// An earlier load with --keep has left objects of the same names.
std::string with_remedy(std::string why) {
  return why.ends_with("already exists") ? why + "; delete what an earlier load left with --remove" : why;
}

}  // namespace

Result<void> remove_live_load(const simulate::Load& load, const LiveLoadOptions& options) {
  http::AsioExecutor executor;
  auto client = make_client(executor, options, {});
  if (!client) return tl::unexpected(client.error());
  executor.post([&] { simulate::remove_load(load, options.as, **client, [&] { executor.stop(); }); });
  executor.run();
  return {};
}

Result<LiveLoadReport> run_live_load(const simulate::Load& load, const LiveLoadOptions& options) {
  for (const auto& object : load.objects) {
    if (string_at(object, {"kind"}) == "Topology")
      return fail("load.topology: its nodes exist in virtual time only; leave out --kubeconfig");
  }
  http::AsioExecutor executor;
  kube::ClientOptions client_options;
  std::map<std::string, std::uint64_t> requests;
  client_options.rate.per_second = 0;  // a load test does not spare the server
  client_options.on_answer = [&requests](const api::RestRequest& request, int code) {
    if (code < 200 || code >= 300) return;
    std::string what = std::string(api::name_of(request.verb)) + " " + request.resource.resource;
    if (!request.subresource.empty()) what.append("/").append(request.subresource);
    ++requests[what];
  };
  auto client = make_client(executor, options, client_options);
  if (!client) return tl::unexpected(client.error());
  // A request limit is for all requests of this process, so there is only one client then.
  auto runs = options.qps > 0 ? Result<std::unique_ptr<kube::Client>>()
                              : make_client(executor, options, std::move(client_options));
  if (!runs) return tl::unexpected(runs.error());

  Result<LiveLoadReport> outcome = fail("interrupted");
  simulate::LoadPlayOptions play_options;
  play_options.as = options.as;
  play_options.runs = runs->get();
  play_options.on_progress = options.on_progress;
  play_options.on_stall = options.on_stall;
  std::optional<simulate::LoadPlay> play;
  play.emplace(load, **client, executor, std::move(play_options));
  bool over = false;
  const auto finish = [&] {
    if (std::exchange(over, true)) return executor.stop();  // second signal: stop at once
    play.reset();
    if (options.keep) return executor.stop();
    simulate::remove_load(load, options.as, **client, [&] { executor.stop(); });
  };
  executor.on_signals({SIGTERM, SIGINT}, [&](int) { finish(); });
  executor.post([&] {
    play->start([&](Result<simulate::LoadReport> report) {
      if (report) {
        outcome = LiveLoadReport{std::move(*report), requests};
      } else {
        outcome = fail(with_remedy(report.error().message));
      }
      executor.post(finish);  // posted, because it destroys the play
    });
  });
  executor.run(kRest);
  return outcome;
}

}  // namespace berth::cli
