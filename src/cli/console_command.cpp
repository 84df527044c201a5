// The command line of berth console.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/console_host.h"
#include "cli/output.h"
#include "cli/run_console.h"
#include "cli/shared_flags.h"
#include "console/proxies.h"
#include "http/listen_address.h"

namespace berth::cli {
namespace {

struct ConsoleFlags {
  RunConsoleOptions console;
  LogFlags log{"info"};
};

int run_console_command(const ConsoleFlags& flags) {
  if (const auto configured = configure_log(flags.log); !configured) return misuse(configured.error().message);
  const auto address = berth::http::parse_listen_address("--listen", flags.console.listen);
  if (!address) return misuse(address.error().message);
  const bool encrypted = !flags.console.tls_cert.empty() || flags.console.plain_http;
  if (const auto safe = check_plain_http(*address, encrypted); !safe) return misuse(safe.error().message);
  const auto done = run_console(flags.console);
  return done ? 0 : failure(done.error().message);
}

}  // namespace

Command add_console(CLI::App& root) {
  auto* app = root.add_subcommand("console", "Serve a web console of a cluster, in it or from outside");
  auto flags = std::make_shared<ConsoleFlags>();
  add_access_flags(*app, flags->console.access);
  app->add_option("--listen", flags->console.listen, "Address and port of the console; port 0 takes a free one")
      ->capture_default_str();
  auto* certificate =
      app->add_option("--tls-cert", flags->console.tls_cert, "A file with the console's certificate, PEM");
  auto* key = app->add_option("--tls-key", flags->console.tls_key, "A file with the certificate's key, PEM");
  certificate->needs(key);
  key->needs(certificate);
  app->add_flag("--plain-http", flags->console.plain_http,
                "Plain HTTP also for other machines: only behind an ingress that ends TLS");
  add_allow_changes_flag(*app, flags->console.allow_changes);
  app->add_option("--journal", flags->console.journal,
                  "The directory of the controller's journal, for the history (default: no history)");
  app->add_option("--audiences", flags->console.audiences,
                  "Audiences for which users' tokens must be made (default: the API server's own)")
      ->delimiter(',');
  app->add_option("--trusted-proxies", flags->console.trusted_proxies,
                  "Addresses and ranges of proxies (10.0.0.0/8) whose X-Forwarded-For names the client (default: none)")
      ->delimiter(',')
      ->check(parses_with([](const std::string& one) { return console::TrustedProxies::parse({one}); }));
  add_log_flags(*app, flags->log);
  app->footer("Users log in with a bearer token of the cluster, and see what they may list.");
  return {app, [flags] { return run_console_command(*flags); }};
}

}  // namespace berth::cli
