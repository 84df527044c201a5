// berth simulate: plays a scenario in virtual time and prints the results.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/read_file.h"
#include "cli/output.h"
#include "cli/shared_flags.h"
#include "embedded/commands/commands.h"
#include "embedded/simulate/html/page.h"
#include "embedded/simulate/play.h"
#include "embedded/simulate/rack_picture.h"
#include "embedded/simulate/report.h"

namespace berth::cli {
namespace {

struct SimulateFlags {
  std::string file;
  std::string format = "text";
  std::uint64_t seed = 1;
  bool story = false;
  std::string feature_gates;
  std::string report;  // file for the HTML page; empty: none
};

std::string bold(const std::string& text) { return wants_colour() ? "\033[1m" + text + "\033[0m" : text; }

Result<void> write_report(const std::string& file, const std::string& page) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << page;
  out.close();
  if (!out) return fail("--report " + file + ": cannot be written");
  return {};
}

int play_scenario(const SimulateFlags& options) {
  const auto text = read_file(options.file);
  if (!text) return failure(text.error().message + "; name the YAML file of a scenario (see config/samples)");
  const auto scenario = simulate::parse_scenario(*text);
  if (!scenario) return failure(options.file + ": " + scenario.error().message);

  simulate::PlayOptions play;
  play.seed = options.seed;
  auto gates = controller::parse_feature_gates(options.feature_gates);
  if (!gates) return failure("--feature-gates: " + gates.error().message);
  play.feature_gates = std::move(*gates);
  if (options.story && options.format == "text") {
    std::printf("%s\n%s\n(Time is virtual: what takes minutes in a cluster is played in a moment.)\n\n",
                bold(scenario->name).c_str(), scenario->about.c_str());
    play.on_moment = [&](const simulate::Moment& moment) {
      std::printf("%s\n", simulate::to_line(moment, scenario->start).c_str());
    };
    play.on_say = [&](Time when, const std::string& said) {
      std::printf("\n%s\n", bold(simulate::format_since(when, scenario->start) + "  " + said).c_str());
    };
    play.colour = wants_colour();
    play.on_racks = [first = true](const std::string& picture) mutable {
      const std::string key = std::exchange(first, false) ? std::string(simulate::kPictureKey) + "\n" : "";
      std::printf("\n%s%s\n", picture.c_str(), key.c_str());
    };
  }
  const auto played = simulate::play(*scenario, play);
  if (!played) return failure(options.file + ": " + played.error().message);
  if (options.format == "json") {
    std::printf("%s\n", to_pretty_string(simulate::to_json(*scenario, *played)).c_str());
  } else {
    std::printf("%s%s", options.story ? "\n" : "", simulate::to_table(*scenario, *played).c_str());
  }
  if (!options.report.empty()) {
    if (auto written = write_report(options.report, simulate::to_html(*scenario, *played)); !written)
      return failure(written.error().message);
    if (options.format == "text") std::printf("\nCharts: %s\n", options.report.c_str());
  }
  return played->failures.empty() ? 0 : 1;
}

}  // namespace

Command add_simulate(CLI::App& root) {
  auto* app = root.add_subcommand("simulate", "Play a scenario of real manifests in virtual time");
  auto options = std::make_shared<SimulateFlags>();
  app->add_option("SCENARIO", options->file, "YAML file: manifests, a timeline, expectations")->required();
  app->add_option("--seed", options->seed, "Seed of generated names and delays")
      ->check(whole_number())
      ->capture_default_str();
  app->add_flag("--story", options->story, "Tell what happens, as it happens");
  add_feature_gates_flag(*app, options->feature_gates, "; they go before the scenario's own");
  app->add_option(
      "--report", options->report,
      "Write a page with charts to this HTML file: utilisation, shares, waiting times, a strip per workload");
  add_output_option(*app, options->format);
  app->footer("Exit code 1 when an expectation of the scenario does not hold.");
  return {app, [options] { return play_scenario(*options); }};
}

}  // namespace berth::cli
