#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "base/embedded.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"

namespace berth::cli {

const controller::BuildInfo& this_build() {
  static const controller::BuildInfo kBuild{BERTH_VERSION, BERTH_COMMIT, BERTH_BUILD_DATE};
  return kBuild;
}

Command add_version(CLI::App& root, std::ostream& out) {
  auto* app = root.add_subcommand("version", "Print the version");
  auto format = std::make_shared<std::string>("text");
  add_output_option(*app, *format);
  return {app, [format, &out] {
            const bool console = !embedded::console().empty();
            const Json version = JsonObject{
                {"version", BERTH_VERSION}, {"kueueApi", "v1beta2"}, {"console", console}, {"compiler", __VERSION__}};
            if (*format == "json") {
              out << to_pretty_string(version) << "\n";
            } else {
              out << "berth " << BERTH_VERSION << " (Kueue API v1beta2" << (console ? ", with console" : "") << ")\n";
            }
            return 0;
          }};
}

}  // namespace berth::cli
