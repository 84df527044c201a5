// A command's API server that is a world in the test, and the commands that bring a cluster to Berth.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/status.h"
#include "cli/migrate/commands.h"
#include "embedded/simulate/world.h"

namespace berth::cli::migrate::testing_support {

class WorldServer final : public queues::Server {
 public:
  explicit WorldServer(simulate::World& world) : world_(world) {}
  api::RestResponse call(api::RestRequest request) override { return world_.call(std::move(request)); }
  api::RestResponse get(const std::string& path) override {
    api::RestRequest request;
    request.path = path;
    return world_.call(std::move(request));
  }
  Time now() const override { return world_.executor().now(); }
  void sleep(Duration time) override { world_.run_for(time); }
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse& answer, const api::GroupVersionResource&) const override {
    return api::failure_text(answer);
  }

 private:
  simulate::World& world_;
};

struct Ran {
  int code = -1;
  std::string said;  // on both streams
};

// `words`: of the command line, without "berth".
inline Ran run(simulate::World& world, std::vector<std::string> words, bool progress = false) {
  std::ostringstream out;
  queues::Session session;
  session.out = session.err = &out;
  session.progress = progress;
  session.connect = [&world](const AccessFlags&) -> Result<std::unique_ptr<queues::Server>> {
    return std::make_unique<WorldServer>(world);
  };
  CLI::App root{"", "berth"};
  const std::vector<Command> commands = {add_import(root, session), add_migrate(root, session)};
  std::ranges::reverse(words);  // CLI11 reads from the end
  try {
    root.parse(words);
  } catch (const CLI::ParseError& error) {
    return {2, error.what()};
  }
  for (const auto& command : commands) {
    if (command.app->parsed()) return {command.run(), out.str()};
  }
  return {-1, out.str()};
}

}  // namespace berth::cli::migrate::testing_support
