#include "cli/main/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <ostream>

namespace berth::cli {
namespace {

std::vector<CLI::App*> subcommands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

// CLI11 would only report that a subcommand is missing or that the word was not expected.
std::optional<std::string> unknown_command(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* app = &root;
  std::string path = root.get_name();
  for (const std::string& word : words) {
    const auto known = subcommands_of(*app);
    if (known.empty() || app->get_require_subcommand_min() == 0) return std::nullopt;
    if (word.starts_with('-')) {
      const std::string flag = word.substr(0, word.find('='));
      if (app->get_option_no_throw(flag) != nullptr) return std::nullopt;
      return path + ": unknown flag '" + flag + "' before a command; see '" + path + " --help'";
    }
    const auto at = std::find_if(known.begin(), known.end(), [&](CLI::App* sub) { return sub->check_name(word); });
    if (at == known.end()) {
      std::string names;
      for (CLI::App* sub : known) {
        if (!sub->get_group().empty()) names.append(names.empty() ? "" : ", ").append(sub->get_name());
      }
      return path + ": unknown command '" + word + "'; one of: " + names;
    }
    app = *at;
    path += " " + app->get_name();
  }
  return std::nullopt;
}

}  // namespace

void tell_errors_in_one_line(CLI::App& root) {
  root.failure_message([](const CLI::App* app, const CLI::Error& error) {
    const std::string name = app->get_name();
    return name + ": " + error.what() + "; see '" + name + " --help', or '" + name +
           " COMMAND --help' for one command\n";
  });
}

int run_command_line(CLI::App& root, const std::vector<Command>& commands, std::vector<std::string> words,
                     std::ostream& out, std::ostream& err) {
  if (const auto unknown = unknown_command(root, words)) {
    err << *unknown << "\n";
    return 2;
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    root.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return root.exit(error, out, err) == 0 ? 0 : 2;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}

}  // namespace berth::cli
