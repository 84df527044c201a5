#include "cli/queues/configuration_check.h"

#include <utility>

#include "api/resources.h"

namespace berth::cli::queues {
namespace {

constexpr std::string_view kKey = "controller_manager_config.yaml";

}  // namespace

Result<std::optional<ConfigurationSource>> read_config_map(Server& server, std::string_view given) {
  const std::string at(given.empty() ? kConfigMap : given);
  const auto slash = at.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == at.size())
    return fail("--configmap: is \"" + at + "\", expected NAMESPACE/NAME");
  api::RestRequest request;
  request.resource = api::kConfigMaps;
  request.ns = at.substr(0, slash);
  request.name = at.substr(slash + 1);
  const auto answer = server.call(std::move(request));
  if (answer.code == 404) return std::nullopt;
  if (!answer.ok()) return fail(server.explain(answer, api::kConfigMaps));
  const auto text = string_at(answer.body, {"data", kKey});
  if (text.empty())
    return fail("ConfigMap " + at + ": has no key " + std::string(kKey) + ", expected the Configuration");
  return ConfigurationSource{"ConfigMap " + at, std::string(text)};
}

ConfigurationVerdict judge(const ConfigurationSource& source, const controller::FeatureGates& gates) {
  const auto configuration = api::config::read_configuration(source.text, source.name);
  if (!configuration) return {configuration.error().message, {}, {}};
  auto options = controller::controller_options(*configuration, gates);
  if (!options) return {source.name + ": " + options.error().message, configuration->warnings, {}};
  return {"", configuration->warnings, std::move(options->not_honoured)};
}

}  // namespace berth::cli::queues
