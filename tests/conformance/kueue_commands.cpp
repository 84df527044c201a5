#include "conformance/kueue_commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/status.h"
#include "base/yaml.h"
#include "cli/command_line.h"
#include "cli/queues/commands.h"

namespace berth::conformance {
namespace {

class SiteServer final : public cli::queues::Server {
 public:
  explicit SiteServer(Site& site) : site_(site) {}
  api::RestResponse call(api::RestRequest request) override { return site_.call(std::move(request)); }
  api::RestResponse get(const std::string& path) override {
    HttpAnswer answer = site_.ask("GET", path, "");
    api::RestResponse response;
    response.code = answer.status;
    response.body = std::move(answer.body);
    return response;
  }
  Time now() const override { return site_.now(); }
  void sleep(Duration time) override { site_.wait(time); }
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse& response, const api::GroupVersionResource&) const override {
    return api::failure_text(response);
  }

 private:
  Site& site_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    while (line.ends_with(' ')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

constexpr const char* kGap = "   ";

bool is_header(const std::string& line) {
  return line.find(kGap) != std::string::npos &&
         std::none_of(line.begin(), line.end(), [](unsigned char c) { return std::islower(c) != 0; });
}

// Where the columns of a header begin.
std::vector<std::size_t> columns_of(const std::string& header) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t at = 0; (at = header.find(kGap, at)) != std::string::npos;) {
    at = header.find_first_not_of(' ', at);
    begins.push_back(at);
  }
  return begins;
}

Json table_of(const std::vector<std::string>& lines) {
  const auto begins = columns_of(lines.front());
  const auto cell = [&](const std::string& line, std::size_t column) {
    if (begins[column] >= line.size()) return std::string();
    const std::size_t end = column + 1 < begins.size() ? begins[column + 1] : std::string::npos;
    std::string text = line.substr(begins[column], end == std::string::npos ? end : end - begins[column]);
    while (text.ends_with(' ')) text.pop_back();
    return text;
  };
  JsonArray rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    JsonObject row;
    for (std::size_t column = 0; column < begins.size(); ++column) {
      const std::string name = cell(lines.front(), column);
      std::string text = cell(lines[i], column);
      if ((name == "AGE" || name == "EXEC TIME") && !text.empty()) text = "<age>";
      row[name] = std::move(text);
    }
    rows.push_back(std::move(row));
  }
  return JsonObject{{"table", std::move(rows)}};
}

Json reported(const std::string& text) {
  if (text.starts_with("apiVersion:")) {
    auto documents = parse_yaml(text);
    if (documents && documents->size() == 1) return std::move(documents->front());
  }
  const std::vector<std::string> lines = lines_of(text);
  if (!lines.empty() && is_header(lines.front())) return table_of(lines);
  return JsonArray(lines.begin(), lines.end());
}

// Both programs begin their errors with a word of their own; lines of a log are left out.
Json errors_of(const std::string& text) {
  JsonArray out;
  for (std::string line : lines_of(text)) {
    for (const std::string word : {"Error: ", "berth: "}) {
      if (line.starts_with(word)) line.erase(0, word.size());
    }
    if (!line.starts_with("<log>")) out.emplace_back(line);
  }
  return out;
}

Json result_of(std::int64_t exit, const std::string& out, const std::string& err) {
  return JsonObject{{"exit", exit}, {"stdout", reported(out)}, {"stderr", errors_of(err)}};
}

// The generated end of the name is out, as in the recording.
void hide_generated(std::string& text, const std::vector<Json>& objects) {
  constexpr std::size_t kGenerated = 5;
  for (const Json& object : objects) {
    const std::string name(string_at(object, {"metadata", "name"}));
    if (name.size() <= kGenerated) continue;
    const std::string shown = name.substr(0, name.size() - kGenerated) + "?????";
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) text.replace(at, name.size(), shown);
  }
}

}  // namespace

Json recorded_command(const Json& step) {
  return result_of(int_at(step, {"exit"}), std::string(string_at(step, {"stdout"})),
                   std::string(string_at(step, {"stderr"})));
}

bool only_reads(const Json& step) {
  const JsonArray& command = array_at(step, {"command"});
  return command.size() > 2 && (command[2] == "list" || command[2] == "get");
}

Json run_command(Stage& stage, const Json& step) {
  std::vector<std::string> words;
  for (const Json& word : array_at(step, {"command"})) {
    const Json actual = stage.substituted(word);
    words.emplace_back(view(actual.get_string()));
  }
  words.erase(words.begin(), words.begin() + 2);  // kubectl kueue
  std::istringstream in{std::string(string_at(step, {"stdin"}))};
  std::ostringstream out, err;
  cli::queues::Session session;
  session.connect = [&stage](const cli::AccessFlags&) -> Result<std::unique_ptr<cli::queues::Server>> {
    return std::make_unique<SiteServer>(stage.site());
  };
  session.out = &out;
  session.err = &err;
  session.in = &in;
  // kubectl would need the address of a server; tests/e2e plays the commands that are handed to it.
  session.become = [&out](const std::vector<std::string>& command) {
    for (const std::string& word : command) out << (&word == &command.front() ? "" : " ") << word;
    out << "\n";
    return 0;
  };
  CLI::App root{"", "berth"};
  root.require_subcommand(1);
  std::vector<cli::Command> commands = cli::queues::add_commands(root, session);
  commands.push_back(cli::add_version(root, out));
  const int exit = cli::run_command_line(root, commands, words, out, err);
  std::string said = out.str(), complained = err.str();
  for (std::string* text : {&said, &complained}) {
    hide_generated(*text, stage.workloads());
    hide_generated(*text, stage.list("v1", "Pod"));
  }
  return result_of(exit, said, complained);
}

}  // namespace berth::conformance
