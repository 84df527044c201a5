#include "cli/run_console.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "cli/console_host.h"
#include "http/asio_executor.h"
#include "kube/client.h"

namespace berth::cli {
namespace {

constexpr std::chrono::seconds kConsoleGrace{3};
// Changes that arrive within this time are handled together.
constexpr Duration kConsoleRest = std::chrono::milliseconds(20);

// Users of the console would only see empty pages.
void warn_of_no_access(const Result<void>& may) {
  if (!may) log::warn("the console cannot read the cluster; it keeps trying", {{"why", may.error().message}});
}

}  // namespace

Result<void> run_console(const RunConsoleOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto found = find_access(options.access);
  if (!found) return tl::unexpected(found.error());
  http::AsioExecutor executor;
  kube::ClientOptions once;
  once.max_tries = 1;
  auto checker = kube::Client::make(executor, found->access, once);
  if (!checker) return tl::unexpected(checker.error());
  AccessCheck check(**checker, executor, found->access, {{api::kClusterQueues}, {api::kWorkloads}}, warn_of_no_access);
  ConsoleHost::Options console;
  console.access = std::move(found->access);
  console.listen = options.listen;
  console.tls_cert = options.tls_cert;
  console.tls_key = options.tls_key;
  console.plain_http = options.plain_http;
  console.allow_changes = options.allow_changes;
  console.journal = options.journal;
  console.audiences = options.audiences;
  console.trusted_proxies = options.trusted_proxies;
  auto host = ConsoleHost::open(executor, std::move(console));
  if (!host) return tl::unexpected(host.error());
  bool stopping = false;
  executor.on_signals({SIGTERM, SIGINT}, [&](int) {
    if (std::exchange(stopping, true)) std::_Exit(130);  // second signal: exit at once
    log::info("stopping");
    (*host)->stop(kConsoleGrace, [&] { executor.stop(); });
  });
  executor.post([&] {
    (*host)->start();
    check.start();
    std::printf("console: %s\n", (*host)->url().c_str());
    std::fflush(stdout);
  });
  executor.run(kConsoleRest);
  return {};
}

}  // namespace berth::cli
