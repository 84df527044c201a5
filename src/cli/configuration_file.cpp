#include "cli/configuration_file.h"

#include <utility>

#include "base/log.h"
#include "base/read_file.h"

namespace berth::cli {

Result<api::config::Configuration> read_configuration_file(const std::string& path, std::string_view own_namespace) {
  std::string text = "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration}";
  if (!path.empty()) {
    auto file = read_file(path);
    if (!file) return fail("--config: " + file.error().message);
    text = std::move(*file);
  }
  auto read = api::config::read_configuration(text, path, own_namespace);
  if (!read) return read;
  for (const auto& warning : read->warnings) log::warn(warning);
  return read;
}

}  // namespace berth::cli
