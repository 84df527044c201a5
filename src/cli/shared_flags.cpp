#include "cli/shared_flags.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <system_error>

#include "base/log.h"
#include "controller/feature_gates.h"

namespace berth::cli {

std::function<std::string(const std::string&)> whole_number(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped_at, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stopped_at == end && value >= least && value <= most) return std::string();
    return "expected a number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " + text;
  };
}

void add_log_level_flag(CLI::App& app, LogFlags& flags) {
  app.add_option("--log-level", flags.level, "debug, info, warn or error")->capture_default_str();
}

void add_log_flags(CLI::App& app, LogFlags& flags) {
  add_log_level_flag(app, flags);
  app.add_option("--log-format", flags.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

Result<void> configure_log(const LogFlags& flags) {
  const auto level = log::parse_level(flags.level);
  if (!level) return fail("--log-level: " + level.error().message);
  log::configure(*level, flags.format == "json" ? log::Format::kJson : log::Format::kText);
  return {};
}

void add_config_flag(CLI::App& app, std::string& file, const std::string& remark) {
  app.add_option("--config", file, "A file with Kueue's Configuration, v1beta2 or v1beta1" + remark);
}

CLI::Option* add_feature_gates_flag(CLI::App& app, std::string& gates, const std::string& remark) {
  return app
      .add_option(
          "--feature-gates", gates,
          std::string("Kueue's feature gates, such as TASBalancedPlacement=true,PartialAdmission=false") + remark)
      ->check(parses_with([](const std::string& text) -> Result<void> {
        const auto gates_now = controller::parse_feature_gates(text);
        if (!gates_now) return tl::unexpected(gates_now.error());
        return controller::check_feature_gates(*gates_now);
      }));
}

void add_job_kinds_flag(CLI::App& app, std::string& directory) {
  app.add_option("--job-kinds", directory,
                 "A directory with descriptions of further kinds of jobs (*.yaml); see berth kinds");
}

void add_allow_changes_flag(CLI::App& app, bool& allowed) {
  app.add_flag("--allow-changes", allowed,
               "Users of the console may stop and resume queues, and activate and deactivate workloads, with their own "
               "rights");
}

}  // namespace berth::cli
