// berth config: what Berth makes of a Configuration, before it is used.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/config/configuration.h"
#include "base/read_file.h"
#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/queues/commands.h"
#include "cli/queues/session.h"
#include "cli/shared_flags.h"
#include "controller/configure.h"

namespace berth::cli::queues {
namespace {

// Where Kueue's manifests and chart keep the file.
constexpr std::string_view kConfigMap = "kueue-system/kueue-manager-config";
constexpr std::string_view kKey = "controller_manager_config.yaml";

struct ConfigFlags {
  AccessFlags access;
  std::string file, config_map, gates, format = "text";
};

struct Source {
  std::string name, text;
};

Result<Source> read_config_map(const ConfigFlags& flags) {
  const std::string at = flags.config_map.empty() ? std::string(kConfigMap) : flags.config_map;
  const auto slash = at.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == at.size())
    return fail("--configmap: is \"" + at + "\", expected NAMESPACE/NAME");
  auto server = connect(flags.access);
  if (!server) return tl::unexpected(server.error());
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = {"", "v1", "configmaps"};
  request.ns = at.substr(0, slash);
  request.name = at.substr(slash + 1);
  const api::GroupVersionResource resource = request.resource;
  const auto answer = (*server)->call(std::move(request));
  if (answer.code == 404)
    return fail("there is no ConfigMap " + at + "; name another with --configmap NAMESPACE/NAME, or give a FILE");
  if (!answer.ok()) return fail((*server)->explain(answer, resource));
  const auto text = string_at(answer.body, {"data", kKey});
  if (text.empty())
    return fail("ConfigMap " + at + ": has no key " + std::string(kKey) + ", expected the Configuration");
  return Source{"ConfigMap " + at, std::string(text)};
}

Result<Source> read_source(const ConfigFlags& flags) {
  if (flags.file.empty()) return read_config_map(flags);
  auto text = read_file(flags.file);
  if (!text) return tl::unexpected(text.error());
  return Source{flags.file, std::move(*text)};
}

struct Verdict {
  std::string refused;                // "" when Berth starts with it
  std::vector<std::string> warnings;  // parts that change nothing
  std::vector<api::config::NotHonoured> not_honoured;
};

Verdict judge(const Source& source, const controller::FeatureGates& gates) {
  const auto configuration = api::config::read_configuration(source.text, source.name);
  if (!configuration) return {configuration.error().message, {}, {}};
  auto options = controller::controller_options(*configuration, gates);
  if (!options) return {source.name + ": " + options.error().message, configuration->warnings, {}};
  return {"", configuration->warnings, std::move(options->not_honoured)};
}

void print_text(const Source& source, const Verdict& verdict) {
  std::printf("%s: Berth starts with it", source.name.c_str());
  std::printf(verdict.not_honoured.empty() ? " and honours all of it\n" : "; it does not honour:\n");
  for (const auto& each : verdict.not_honoured) std::printf("  %s\n", each.line.c_str());
  if (!verdict.warnings.empty()) std::printf("Without effect:\n");
  for (const auto& warning : verdict.warnings) std::printf("  %s\n", warning.c_str());
}

void print_json(const Source& source, const Verdict& verdict) {
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
  const Verdict verdict = judge(*source, *gates);
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
