// Flags that mean the same in several commands: berth up, controller, cluster, console, load and simulate.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace berth::cli {

// For CLI::Option::check(): what is wrong with the value of an option, as its parser says; "" when nothing is. So wrong
// values are wrong usage, whatever else the command would do.
template <typename Parse>
std::function<std::string(const std::string&)> parses_with(Parse parse) {
  return [parse = std::move(parse)](const std::string& text) {
    const auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().message;
  };
}

// For CLI::Option::check() of a flag that takes a whole number. CLI11 alone takes -1 for a large number, and does not
// say what it expects.
std::function<std::string(const std::string&)> whole_number(
    std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

struct LogFlags {
  std::string level;            // --log-level: debug, info, warn or error
  std::string format = "text";  // --log-format: text or json
};
void add_log_level_flag(CLI::App& app, LogFlags& flags);
void add_log_flags(CLI::App& app, LogFlags& flags);  // --log-level and --log-format
// Writes the log of this process so. Error: names the flag.
Result<void> configure_log(const LogFlags& flags);

// --config and --feature-gates; `remark`: what else this command says about them.
void add_config_flag(CLI::App& app, std::string& file, const std::string& remark = "");
CLI::Option* add_feature_gates_flag(CLI::App& app, std::string& gates, const std::string& remark = "");
void add_job_kinds_flag(CLI::App& app, std::string& directory);  // --job-kinds
void add_allow_changes_flag(CLI::App& app, bool& allowed);       // --allow-changes, of a console

}  // namespace berth::cli
