// berth config: what Berth makes of a Configuration, before it is used.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/read_file.h"
#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/queues/commands.h"
#include "cli/queues/configuration_check.h"
#include "cli/queues/session.h"
#include "cli/shared_flags.h"

namespace berth::cli::queues {
namespace {

struct ConfigFlags {
  AccessFlags access;
  std::string file, config_map, gates, format = "text";
};

Result<ConfigurationSource> read_source(const ConfigFlags& flags) {
  if (!flags.file.empty()) {
    auto text = read_file(flags.file);
    if (!text) return tl::unexpected(text.error());
    return ConfigurationSource{flags.file, std::move(*text)};
  }
  auto server = connect(flags.access);
  if (!server) return tl::unexpected(server.error());
  auto found = read_config_map(**server, flags.config_map);
  if (!found) return tl::unexpected(found.error());
  if (!*found)
    return fail("there is no ConfigMap " + (flags.config_map.empty() ? std::string(kConfigMap) : flags.config_map) +
                "; name another with --configmap NAMESPACE/NAME, or give a FILE");
  return std::move(**found);
}

void print_text(const ConfigurationSource& source, const ConfigurationVerdict& verdict) {
  std::printf("%s: Berth starts with it", source.name.c_str());
  std::printf(verdict.not_honoured.empty() ? " and honours all of it\n" : "; it does not honour:\n");
  for (const auto& each : verdict.not_honoured) std::printf("  %s\n", each.line.c_str());
  if (!verdict.warnings.empty()) std::printf("Without effect:\n");
  for (const auto& warning : verdict.warnings) std::printf("  %s\n", warning.c_str());
}

void print_json(const ConfigurationSource& source, const ConfigurationVerdict& verdict) {
  JsonArray missing;
  for (const auto& each : verdict.not_honoured)
    missing.push_back(JsonObject{{"setting", each.setting}, {"message", each.line}});
  const Json out = JsonObject{{"source", source.name},
                              {"starts", verdict.refused.empty()},
                              {"refused", verdict.refused},
                              {"notHonoured", std::move(missing)},
                              {"withoutEffect", JsonArray(verdict.warnings.begin(), verdict.warnings.end())}};
  std::printf("%s\n", to_pretty_string(out).c_str());
}

int check(const ConfigFlags& flags) {
  const auto gates = controller::parse_feature_gates(flags.gates);
  if (!gates) return misuse("--feature-gates: " + gates.error().message);
  const auto source = read_source(flags);
  if (!source) return failure(source.error().message);
  const ConfigurationVerdict verdict = judge(*source, *gates);
  if (flags.format == "json") {
    print_json(*source, verdict);
    return verdict.refused.empty() ? 0 : 1;
  }
  if (!verdict.refused.empty()) return failure(verdict.refused);
  print_text(*source, verdict);
  return 0;
}

}  // namespace

Command add_config(CLI::App& root) {
  auto* app = root.add_subcommand("config", "Check a Configuration before it is used");
  auto flags = std::make_shared<ConfigFlags>();
  app->require_subcommand(1);
  auto* checks = app->add_subcommand(
      "check", "Say whether Berth starts with Kueue's Configuration, and what of it is not honoured");
  auto* file = checks->add_option("FILE", flags->file, "The file; default: the ConfigMap of a cluster");
  checks
      ->add_option("--configmap", flags->config_map,
                   "NAMESPACE/NAME of the ConfigMap (default: " + std::string(kConfigMap) + ")")
      ->excludes(file);
  add_feature_gates_flag(*checks, flags->gates, "; as given to the process, beside the file");
  add_access_flags(*checks, flags->access);
  add_output_option(*checks, flags->format);
  checks->footer("Exit code 0: Berth starts with it. 1: Berth refuses it, or it cannot be read.");
  return {app, [flags] { return check(*flags); }};
}

}  // namespace berth::cli::queues
