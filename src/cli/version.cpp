#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace berth::cli {

Command add_version(CLI::App& root) {
  auto* app = root.add_subcommand("version", "Print the version");
  auto format = std::make_shared<std::string>("text");
  add_output_option(*app, *format);
  return {app, [format] {
            const Json version =
                JsonObject{{"version", BERTH_VERSION}, {"kueueApi", "v1beta2"}, {"compiler", __VERSION__}};
            if (*format == "json") {
              std::printf("%s\n", to_pretty_string(version).c_str());
            } else {
              std::printf("berth %s (Kueue API v1beta2)\n", BERTH_VERSION);
            }
            return 0;
          }};
}

}  // namespace berth::cli
