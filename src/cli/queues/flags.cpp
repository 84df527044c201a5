#include "cli/queues/flags.h"

#include <CLI/CLI.hpp>

#include <utility>

#include "api/field_error.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {

void add_place_flags(CLI::App& app, CommonFlags& flags) {
  add_access_flags(app, flags.access);
  app.add_option("-n,--namespace", flags.ns, "The namespace (default: the context's)");
}

Result<void> take_name(std::string& name, CommonFlags& flags) {
  const std::string given = name;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    flags.ns = name.substr(0, slash);
    name.erase(0, slash + 1);
    if (!api::check_dns_label(flags.ns).empty()) return wrong_value("NAME", given, "expected NAME or NAMESPACE/NAME");
  }
  if (!flags.ns.empty() && !api::check_dns_label(flags.ns).empty())
    return wrong_value("--namespace", flags.ns, "expected the name of a namespace");
  if (!api::check_dns_subdomain(name).empty()) return wrong_value("NAME", given, "expected NAME or NAMESPACE/NAME");
  return {};
}

void add_output_flag(CLI::App& app, CommonFlags& flags) {
  app.add_option("-o,--output", flags.output, "Output format: json, yaml, name, wide or jsonpath=TEMPLATE");
}

void add_format_flags(CLI::App& app, CommonFlags& flags) {
  add_output_flag(app, flags);
  app.add_flag("--show-managed-fields", flags.managed_fields, "Keep metadata.managedFields in json and yaml");
}

void add_dry_run_flag(CLI::App& app, CommonFlags& flags) {
  app.add_option("--dry-run", flags.dry_run,
                 "none; client: send no write; server: send writes that the server checks but does not store")
      ->capture_default_str();
}

void add_list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& about) {
  app.add_option(name, values, about)->allow_extra_args(false)->type_name("TEXT");
}

Result<DryRun> parse_dry_run(std::string_view text) {
  if (text == "none") return DryRun::kNone;
  if (text == "client") return DryRun::kClient;
  if (text == "server") return DryRun::kServer;
  return wrong_value("--dry-run", text, "expected none, client or server");
}

std::string_view remark(DryRun dry_run) {
  switch (dry_run) {
    case DryRun::kClient:
      return " (client dry run)";
    case DryRun::kServer:
      return " (server dry run)";
    default:
      return "";
  }
}

CLI::App* add_kind_command(CLI::App& group, const Kind& kind, const std::string& about) {
  CLI::App* app = group.add_subcommand(std::string(kind.singular), about);
  for (const std::string_view alias : kind.aliases) app->alias(std::string(alias));
  return app;
}

int with_server(const Session& session, const CommonFlags& flags, const std::function<int(Opened&)>& run) {
  Opened opened;
  auto format = parse_format(flags.output);
  if (!format) return session.misused(format.error().message);
  opened.format = std::move(*format);
  opened.format.managed_fields = flags.managed_fields;
  const auto dry_run = parse_dry_run(flags.dry_run);
  if (!dry_run) return session.misused(dry_run.error().message);
  opened.dry_run = *dry_run;
  auto server = session.connect(flags.access);
  if (!server) return session.failed(server.error().message);
  opened.server = std::move(*server);
  opened.ns = flags.ns.empty() ? opened.server->default_namespace() : flags.ns;
  return run(opened);
}

Command group_of(CLI::App* app, std::vector<Command> subcommands) {
  app->require_subcommand(1);
  return {app, [subcommands = std::move(subcommands)] {
            for (const Command& command : subcommands) {
              if (command.app->parsed()) return command.run();
            }
            return 2;
          }};
}

}  // namespace berth::cli::queues
