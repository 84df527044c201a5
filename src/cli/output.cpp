#include "cli/output.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

namespace berth::cli {

void add_output_option(CLI::App& app, std::string& format) {
  app.add_option("-o,--output", format, "Output format: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

int failure(const std::string& message) {
  std::fprintf(stderr, "berth: %s\n", message.c_str());
  return 1;
}

int misuse(const std::string& message) {
  failure(message);
  return 2;
}

bool wants_colour() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace berth::cli
