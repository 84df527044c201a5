#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <ostream>

#include "base/similar.h"

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

// "; did you mean X?", or "" when no name is near.
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view meant = most_similar(word, known);
  return meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?";
}

// The long flags of a command, such as "--output".
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
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
      return path + ": unknown flag '" + flag + "' before a command; see '" + path + " --help'" +
             nearest(flag, flags_of(*app));
    }
    CLI::App* const named = subcommand_of(*app, word);
    if (named == nullptr) {
      std::vector<std::string> names;
      std::string all;
      for (CLI::App* sub : known) {
        if (sub->get_group().empty()) continue;
        names.push_back(sub->get_name());
        all.append(all.empty() ? "" : ", ").append(sub->get_name());
      }
      return path + ": unknown command '" + word + "'; one of: " + all + nearest(word, names);
    }
    app = named;
    path += " " + app->get_name();
  }
  return std::nullopt;
}

struct Named {
  CLI::App* app;
  std::string path;  // "berth list workload"
};

// The command that the first words name.
Named command_of(CLI::App& root, const std::vector<std::string>& words) {
  Named out{&root, root.get_name()};
  for (const std::string& word : words) {
    CLI::App* const sub = subcommand_of(*out.app, word);
    if (sub == nullptr) break;
    out.app = sub;
    out.path += " " + sub->get_name();
  }
  return out;
}

// CLI11 names unexpected words in reverse order.
std::string what_is_wrong(const CLI::App& root, const Named& used, const CLI::ParseError& error) {
  const std::string see = "; see '" + used.path + " --help'";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what() + see;
  std::string out, meant;
  for (const std::string& word : root.remaining(true)) {
    out += (out.empty() ? "not expected: " : " ") + word;
    if (meant.empty() && word.starts_with("--")) meant = nearest(word.substr(0, word.find('=')), flags_of(*used.app));
  }
  return out + see + meant;
}

// "help list workload" is "list workload --help", and "--version" is "version": as with other programs.
void take_common_words(std::vector<std::string>& words) {
  if (words.empty()) return;
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  } else if (words.front() == "--version") {
    words.front() = "version";
  }
}

}  // namespace

int run_command_line(CLI::App& root, const std::vector<Command>& commands, std::vector<std::string> words,
                     std::ostream& out, std::ostream& err) {
  take_common_words(words);
  if (const auto unknown = unknown_command(root, words)) {
    err << *unknown << "\n";
    return 2;
  }
  const Named used = command_of(root, words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    root.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return root.exit(error, out, err);  // help
    err << root.get_name() << ": " << what_is_wrong(root, used, error) << "\n";
    return 2;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}

}  // namespace berth::cli
