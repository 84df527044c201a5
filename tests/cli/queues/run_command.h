// Runs a command on queues inside the test.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/queues/commands.h"

namespace berth::cli::queues::testing_support {

struct Ran {
  int code = -1;
  std::string said;  // on both streams
};

// `words`: of the command line, without "berth".
inline Ran run_command(std::vector<std::string> words, Connect connect = {}) {
  std::ostringstream out;
  Session session;
  session.out = session.err = &out;
  session.connect = std::move(connect);
  CLI::App root{"", "berth"};
  const auto commands = add_commands(root, session);
  std::ranges::reverse(words);  // CLI11 reads from the end
  root.parse(words);
  for (const auto& command : commands) {
    if (command.app->parsed()) return {command.run(), out.str()};
  }
  return {-1, out.str()};
}

}  // namespace berth::cli::queues::testing_support
