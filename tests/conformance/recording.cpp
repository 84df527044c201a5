#include "conformance/recording.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/yaml.h"
#include "source_dir.h"

namespace berth::conformance {
namespace {

std::map<std::string, std::string> texts(const JsonObject& object) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : object) {
    out.emplace(key, value.is_string() ? std::string(view(value.get_string())) : to_string(value));
  }
  return out;
}

Json copy_of_member(const Json& object, std::string_view key) {
  const Json* value = find(object, key);
  return value == nullptr ? Json() : *value;
}

std::string text(const Json& object, std::string_view key) { return std::string(string_at(object, {key})); }

std::vector<Preparation> preparations(const Json& array) {
  std::vector<Preparation> all;
  if (!array.is_array()) return all;
  for (const Json& p : array.get_array()) {
    std::string type = text(p, "contentType");
    if (type.empty() && find(p, "body") != nullptr) type = "application/json";
    all.push_back({text(p, "method"), text(p, "path"), type, copy_of_member(p, "body")});
  }
  return all;
}

}  // namespace

Json load_yaml_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::stringstream bytes;
  bytes << in.rdbuf();
  auto documents = parse_yaml(bytes.str());
  if (!documents) throw std::runtime_error(path + ": " + documents.error().message);
  return documents->empty() ? Json() : std::move(documents->front());
}

Recording load_recording(const std::string& name) {
  const Json file = load_yaml_file(source_path("tests/conformance/recordings/") + name + ".yaml");
  Recording recording{name, {}};
  for (const Json& s : array_at(file, {"steps"})) {
    Step step;
    step.title = text(s, "title");
    step.method = text(s, "method");
    step.path = text(s, "path");
    step.as = text(s, "as");
    step.content_type = text(s, "contentType");
    step.headers = texts(object_at(s, {"headers"}));
    step.body = copy_of_member(s, "body");
    step.status = static_cast<int>(int_at(s, {"status"}));
    step.response_headers = texts(object_at(s, {"responseHeaders"}));
    step.response = copy_of_member(s, "response");
    recording.steps.push_back(std::move(step));
  }
  return recording;
}

Setup load_setup(const std::string& name) {
  const Json file = load_yaml_file(source_path("tests/conformance/setups/") + name + ".yaml");
  Setup setup;
  for (const Json& p : array_at(file, {"play"})) setup.play.emplace_back(view(p.get_string()));
  setup.kueue = bool_at(file, {"kueue"});
  setup.start = preparations(copy_of_member(file, "start"));
  for (const auto& [title, value] : object_at(file, {"steps"})) {
    Surroundings around;
    around.before = preparations(copy_of_member(value, "before"));
    around.during = preparations(copy_of_member(value, "during"));
    around.bind = texts(object_at(value, {"bind"}));
    around.body_bytes = static_cast<std::size_t>(int_at(value, {"bodyBytes"}));
    around.cut = text(value, "cut");
    around.eventually = bool_at(value, {"eventually"});
    around.openapi = bool_at(value, {"openapi"});
    around.seconds = static_cast<int>(int_at(value, {"seconds"}, 3));
    setup.steps.emplace(title, std::move(around));
  }
  return setup;
}

std::vector<std::string> titles_of(const Json& recording) {
  std::vector<std::string> titles;
  std::map<std::string, int> times;
  for (const Json& step : array_at(recording, {"steps"})) {
    std::string title(string_at(step, {"title"}, string_at(step, {"see"}, string_at(step, {"do"}))));
    for (const Json& word : array_at(step, {"command"}))
      title.append(title.empty() ? "" : " ").append(view(word.get_string()));
    if (const int n = ++times[title]; n > 1 && !title.empty()) title += " (" + std::to_string(n) + ")";
    titles.push_back(std::move(title));
  }
  return titles;
}

}  // namespace berth::conformance
