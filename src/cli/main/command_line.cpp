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

CLI::App* subcommand_of(CLI::App& app, const std::string& word) {
  const auto known = subcommands_of(app);
  const auto at = std::find_if(known.begin(), known.end(), [&](CLI::App* sub) { return sub->check_name(word); });
  return at == known.end() ? nullptr : *at;
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
    CLI::App* const named = subcommand_of(*app, word);
    if (named == nullptr) {
      std::string names;
      for (CLI::App* sub : known) {
        if (!sub->get_group().empty()) names.append(names.empty() ? "" : ", ").append(sub->get_name());
      }
      return path + ": unknown command '" + word + "'; one of: " + names;
    }
    app = named;
    path += " " + app->get_name();
  }
  return std::nullopt;
}

// The command that the first words name, such as "berth list workload".
std::string command_of(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* app = &root;
  std::string path = root.get_name();
  for (const std::string& word : words) {
    app = subcommand_of(*app, word);
    if (app == nullptr) break;
    path += " " + app->get_name();
  }
  return path;
}

// CLI11 names unexpected words in reverse order.
std::string what_is_wrong(const CLI::App& root, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  std::string out;
  for (const std::string& word : root.remaining(true)) out += (out.empty() ? "not expected: " : " ") + word;
  return out;
}

}  // namespace

int run_command_line(CLI::App& root, const std::vector<Command>& commands, std::vector<std::string> words,
                     std::ostream& out, std::ostream& err) {
  if (const auto unknown = unknown_command(root, words)) {
    err << *unknown << "\n";
    return 2;
  }
  const std::string used = command_of(root, words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    root.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return root.exit(error, out, err);  // help
    err << root.get_name() << ": " << what_is_wrong(root, error) << "; see '" << used << " --help'\n";
    return 2;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}

}  // namespace berth::cli
