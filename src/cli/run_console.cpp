#include "cli/run_console.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "cli/console_host.h"
#include "http/asio_executor.h"

namespace berth::cli {
namespace {

constexpr std::chrono::seconds kConsoleGrace{3};
// Changes that arrive within this time are handled together.
constexpr Duration kConsoleRest = std::chrono::milliseconds(20);

}  // namespace

Result<void> run_console(const RunConsoleOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto found = find_access(options.access);
  if (!found) return tl::unexpected(found.error());
  http::AsioExecutor executor;
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
    std::printf("console: %s\n", (*host)->url().c_str());
    std::fflush(stdout);
  });
  executor.run(kConsoleRest);
  return {};
}

}  // namespace berth::cli
