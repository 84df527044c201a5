// Shell completion, generated from the definition of the command line.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

// A script for "bash", "zsh" or "fish" that completes subcommands and options; empty for another shell.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace berth::cli
