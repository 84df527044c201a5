#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.h"

namespace berth::cli {
namespace {

// Words that end in / or = go on, so no space comes after them.
constexpr const char* kBash = R"sh(_berth() {
  mapfile -t COMPREPLY < <(berth __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace; fi
}
complete -o default -F _berth berth
)sh";

constexpr const char* kZsh = R"sh(#compdef berth
_berth() {
  local -a found open closed
  found=("${(@f)$(berth __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  if ((${#found} == 0)); then
    _files
    return
  fi
  open=(${(M)found:#*[/=]})
  closed=(${found:#*[/=]})
  compadd -S '' -a open
  compadd -a closed
}
compdef _berth berth
)sh";

constexpr const char* kFish = R"sh(function __berth_complete
  set -l words (commandline -opc)
  set -l found (berth __complete $words[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c berth -f -a '(__berth_complete)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return {};
}

Command add_completion(CLI::App& root) {
  auto* app = root.add_subcommand("completion", "Print a script that completes commands, flags and names in a shell");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {app, [shell] {
            std::fputs(completion_script(*shell).c_str(), stdout);
            return 0;
          }};
}

}  // namespace berth::cli
