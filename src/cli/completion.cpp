#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"

namespace berth::cli {
namespace {

struct Flag {
  std::string name;  // "--data-dir"
  std::string about;
  bool takes_value = false;
};

struct Sub {
  std::string name, about;
  std::vector<Flag> flags;
};

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* o : app.get_options([](const CLI::Option* option) { return option->nonpositional(); })) {
    for (const std::string& name : o->get_lnames()) {
      flags.push_back({"--" + name, o->get_description(), o->get_expected_max() > 0});
    }
  }
  return flags;
}

std::vector<Sub> subs_of(const CLI::App& root) {
  std::vector<Sub> subs;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
    subs.push_back({app->get_name(), app->get_description(), flags_of(*app)});
  }
  return subs;
}

// Escapes text for single quotes of a shell.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == ':' || c == '[' || c == ']')
      out += ' ';  // zsh gives these characters a meaning
    else
      out += c;
  }
  return out;
}

std::string bash(const std::vector<Sub>& subs) {
  std::string names, cases;
  for (const Sub& s : subs) {
    names += (names.empty() ? "" : " ") + s.name;
    std::string flags;
    for (const Flag& f : s.flags) flags += (flags.empty() ? "" : " ") + f.name;
    cases += "    " + s.name + ") words='" + flags + "' ;;\n";
  }
  return "_berth() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words='" + names +
         "'\n  if ((COMP_CWORD > 1)); then\n    case ${COMP_WORDS[1]} in\n" + cases +
         "    *) words= ;;\n    esac\n    [[ $cur == -* ]] || words=\n  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _berth berth\n";
}

std::string zsh(const std::vector<Sub>& subs) {
  std::string names, cases;
  for (const Sub& s : subs) {
    names += "    '" + s.name + ":" + escaped(s.about) + "'\n";
    cases += "    " + s.name + ")\n      _arguments";
    for (const Flag& f : s.flags) {
      cases += " \\\n        '" + f.name + "[" + escaped(f.about) + "]" + (f.takes_value ? ":value:_files" : "") + "'";
    }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef berth\n_berth() {\n  local -a commands\n  commands=(\n" + names +
         "  )\n  if ((CURRENT == 2)); then\n    _describe 'command' commands\n    return\n  fi\n"
         "  shift words\n  ((CURRENT--))\n  case $words[1] in\n" +
         cases + "  esac\n}\ncompdef _berth berth\n";
}

std::string fish(const std::vector<Sub>& subs) {
  std::string out;
  for (const Sub& s : subs) {
    out += "complete -c berth -n __fish_use_subcommand -f -a " + s.name + " -d '" + escaped(s.about) + "'\n";
    for (const Flag& f : s.flags) {
      out += "complete -c berth -n '__fish_seen_subcommand_from " + s.name + "' -l " + f.name.substr(2) +
             (f.takes_value ? " -r" : "") + " -d '" + escaped(f.about) + "'\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& root, const std::string& shell) {
  const std::vector<Sub> subs = subs_of(root);
  if (shell == "bash") return bash(subs);
  if (shell == "zsh") return zsh(subs);
  if (shell == "fish") return fish(subs);
  return {};
}

Command add_completion(CLI::App& root) {
  auto* app = root.add_subcommand("completion", "Print a script that completes berth's commands in a shell");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {app, [&root, shell] {
            std::fputs(completion_script(root, *shell).c_str(), stdout);
            return 0;
          }};
}

}  // namespace berth::cli
