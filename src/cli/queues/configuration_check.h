// What Berth makes of a Configuration file of Kueue's, before it is used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/configuration.h"
#include "cli/queues/session.h"
#include "controller/configure.h"

namespace berth::cli::queues {

// Where Kueue's manifests and chart keep the file.
inline constexpr std::string_view kConfigMap = "kueue-system/kueue-manager-config";

struct ConfigurationSource {
  std::string name, text;  // the name is for messages
};

// The file in the ConfigMap NAMESPACE/NAME; "": kConfigMap. nullopt: there is no such ConfigMap.
Result<std::optional<ConfigurationSource>> read_config_map(Server& server, std::string_view at);

struct ConfigurationVerdict {
  std::string refused;                // "" when Berth starts with it
  std::vector<std::string> warnings;  // parts that change nothing
  std::vector<api::config::NotHonoured> not_honoured;
};

// `gates`: as given to the process, beside the file.
ConfigurationVerdict judge(const ConfigurationSource& source, const controller::FeatureGates& gates);

}  // namespace berth::cli::queues
