#include "conformance/player.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/yaml.h"

namespace berth::conformance {
namespace {

using apiserver::http::Header;
using apiserver::http::HttpRequest;
using apiserver::http::HttpResponse;
using apiserver::http::SharedBytes;

constexpr int kMaxTasks = 200'000;  // of one request: a loop that never comes to rest fails here

class Collector final : public apiserver::http::ResponseSink {
 public:
  Played played;
  bool begun = false, over = false;

  void respond(std::function<HttpResponse()> make) override {
    HttpResponse response = make();
    played.status = response.status;
    played.headers = std::move(response.headers);
    played.body = std::move(response.body);
    begun = over = true;
  }
  void begin(int status, std::vector<Header> headers) override {
    played.status = status;
    played.headers = std::move(headers);
    played.stream = begun = true;
  }
  void chunk(SharedBytes bytes) override { played.body += *bytes; }
  void end() override { over = true; }
};

apiserver::http::Identity admin() {
  return apiserver::http::authenticated("kubernetes-admin", "", {"system:masters"});
}

apiserver::http::RouterOptions router_options() {
  apiserver::http::RouterOptions options;
  options.seed = 7;
  options.tokens.add(
      "bobtoken", apiserver::http::authenticated("bob", "5b0c1d2e-0000-4000-8000-0000000000b0", {"team-a"}));
  options.discovery.server_address = "192.0.2.2:16443";
  options.discovery.checks = {{"ping", nullptr}, {"log", nullptr}, {"storage", nullptr}};
  return options;
}

Time start_time() { return parse_time("2026-11-20T10:00:00Z").value(); }

// The body of a request: placeholders get their values, times the one that the object had.
std::string body_of(const Json& body, const Bindings& bindings, Time now) {
  if (body.is_null()) return "";
  Bindings with_time = bindings;
  with_time.bind("<time>", format_time(now));
  return with_time.substitute(body.is_string() ? view(body.get_string()) : std::string_view(to_string(body)));
}

std::string big_config_map(std::size_t bytes) {
  const std::string head = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"a":")",
                    tail = "\"}}";
  return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
}

HttpRequest request_of(const Step& step, const Surroundings& around, const Bindings& bindings, Time now) {
  HttpRequest request;
  request.method = step.method;
  request.target = bindings.substitute(step.path);
  for (const auto& [name, value] : step.headers) request.headers.push_back({name, value});
  if (!step.content_type.empty()) request.headers.push_back({"Content-Type", step.content_type});
  request.body =
      around.body_bytes == 0 ? body_of(step.body, bindings, now) : big_config_map(around.body_bytes);
  if (request.body.size() > apiserver::http::kMaxBodyBytes) {
    request.body.clear();
    request.body_too_large = true;
  }
  if (step.as.empty()) {
    request.peer = {admin().user.name, {"system:masters"}};
  } else if (step.as == "bob") {
    request.headers.push_back({"Authorization", "Bearer bobtoken"});
  } else if (step.as == "badtoken") {
    request.headers.push_back({"Authorization", "Bearer wrong"});
  }
  return request;
}

// The body as a value: JSON, the events of a stream, or text.
Json value_of(const Played& played, bool as_list) {
  if (played.stream) {
    JsonArray events;
    std::string_view rest = played.body;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      auto event = parse_json(rest.substr(0, end));
      events.push_back(event ? std::move(*event) : Json("not JSON: " + std::string(rest.substr(0, end))));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return events;
  }
  if (!played.header("Content-Type").starts_with("application/json")) return Json(played.body);
  auto value = parse_json(played.body);
  if (!value) return Json("not JSON: " + played.body);
  if (as_list) return JsonArray{std::move(*value)};
  return std::move(*value);
}

// Leaves out of `actual[key]` what the recording does not have.
void cut(Json& actual, const Json& recorded, const std::string& key) {
  Json* mine = actual.is_object() ? actual.get_object().if_contains(key) : nullptr;
  const Json* theirs = find(recorded, key);
  if (mine == nullptr || theirs == nullptr) return;
  if (mine->is_object() && theirs->is_object()) {
    JsonObject kept;
    for (const auto& [name, value] : mine->get_object()) {
      if (theirs->get_object().contains(name)) kept[name] = value;
    }
    *mine = std::move(kept);
  } else if (mine->is_array() && theirs->is_array()) {
    JsonArray kept;
    for (const Json& item : mine->get_array()) {
      for (const Json& other : theirs->get_array()) {
        if (string_at(item, {"metadata", "name"}) == string_at(other, {"metadata", "name"}))
          kept.push_back(item);
      }
    }
    *mine = std::move(kept);
  }
}

// What the recording of an OpenAPI document kept of it.
Json openapi_extract(const Json& document, const Json& recorded) {
  JsonArray keys, schemas;
  if (!document.is_object()) return document;
  for (const auto& member : document.get_object()) keys.emplace_back(member.key());
  JsonObject path;
  for (const auto& member : object_at(recorded, {"path"})) {
    if (const Json* found = find_path(document, {"paths", std::string_view(member.key())}))
      path[member.key()] = *found;
  }
  const JsonObject& all = object_at(document, {"components", "schemas"});
  for (const Json& schema : array_at(recorded, {"schemas"})) {
    if (all.contains(view(schema.get_object().at("name").get_string()))) schemas.push_back(schema);
  }
  JsonObject out;
  out["keys"] = std::move(keys);
  out["path"] = std::move(path);
  out["schemas"] = std::move(schemas);
  return out;
}

std::vector<Difference> compare_answer(const Step& step, const Surroundings& around, const Played& played,
                                       Bindings& bindings) {
  std::vector<Difference> all;
  if (played.status != step.status) {
    all.push_back(
        {"status", "expected " + std::to_string(step.status) + ", got " + std::to_string(played.status)});
  }
  for (const auto& [name, value] : step.response_headers) {
    // A header may come several times (Warning); the recording kept one of them.
    std::string got;
    bool matches = false;
    for (const Header& h : played.headers) {
      if (h.name != name) continue;
      got = h.value;
      matches = matches || text_matches(value, got, bindings);
    }
    if (!matches) {
      all.push_back({"headers." + name, "expected " + value + ", got " + (got.empty() ? "none" : got)});
    }
  }
  if (!step.response_headers.count("Warning") && !played.header("Warning").empty()) {
    all.push_back({"headers.Warning", "not expected; got " + std::string(played.header("Warning"))});
  }
  if (step.response.is_null()) return all;
  Json actual = value_of(played, step.response.is_array());
  if (!around.cut.empty()) cut(actual, step.response, around.cut);
  if (around.openapi) actual = openapi_extract(actual, step.response);
  for (Difference& d : compare(step.response, actual, bindings)) all.push_back(std::move(d));
  return all;
}

}  // namespace

Server::Server() : executor_(start_time()) {
  apiserver::ApiServerOptions options;
  options.seed = 1;
  options.controllers = false;  // the recordings were made of an API server alone
  auto core = apiserver::ApiServer::open(executor_, apiserver::make_memory_log(executor_), options);
  if (!core) throw std::runtime_error(core.error().message);
  core_ = std::move(*core);
  router_ = std::make_unique<apiserver::http::Router>(*core_, core_->registry(), executor_, router_options());
}

Server::~Server() = default;

Played Server::send(HttpRequest request, Duration listen, const std::function<void()>& during) {
  auto sink = std::make_shared<Collector>();
  const auto exchange = router_->handle(std::move(request), sink);
  for (int n = 0; !sink->begun && executor_.step(); ++n) {
    if (n == kMaxTasks) throw std::runtime_error("the server does not answer");
  }
  if (!sink->over) {
    if (during) during();
    executor_.run_until(executor_.now() + listen);
  }
  return std::move(sink->played);
}

void Server::send(const Preparation& p, const Bindings& bindings) {
  Step step;
  step.title = "preparation";
  step.method = p.method;
  step.path = p.path;
  step.content_type = p.content_type;
  step.body = p.body;
  const Played played = send(request_of(step, {}, bindings, now()), Duration::zero(), nullptr);
  if (played.status >= 300) {
    throw std::runtime_error("preparation " + p.method + " " + p.path + ": " + std::to_string(played.status) +
                             " " + played.body);
  }
}

void Server::install_kueue() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/config/crd")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const Json crd = load_yaml_file(file);
    send(Preparation{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json",
                     crd},
         {});
  }
  executor_.run_until(executor_.now() + std::chrono::seconds(1));
}

std::string Server::revision() const { return std::to_string(core_->revision()); }

namespace {

// Sends the steps of a recording; with `results`, compares the answers.
void play_steps(Server& server, const std::string& name, std::vector<StepResult>* results) {
  const Recording recording = load_recording(name);
  const Setup setup = load_setup(name);
  for (const std::string& other : setup.play) play_steps(server, other, nullptr);
  Bindings bindings;
  for (const Preparation& p : setup.start) server.send(p, bindings);
  for (const Step& step : recording.steps) {
    Surroundings around;
    if (const auto it = setup.steps.find(step.title); it != setup.steps.end()) around = it->second;
    for (const Preparation& p : around.before) server.send(p, bindings);
    for (const auto& [placeholder, value] : around.bind) {
      bindings.bind(placeholder, value == "current" ? server.revision() : value);
    }
    const auto during = [&] {
      for (const Preparation& p : around.during) server.send(p, bindings);
    };
    const Played played = server.send(request_of(step, around, bindings, server.now()),
                                      std::chrono::seconds(around.seconds), during);
    // Also when nobody looks: later requests use the values of earlier answers.
    std::vector<Difference> differences = compare_answer(step, around, played, bindings);
    if (results != nullptr) results->push_back({step.title, std::move(differences)});
  }
}

bool needs_kueue(const Setup& setup) {
  if (setup.kueue) return true;
  for (const std::string& other : setup.play) {
    if (needs_kueue(load_setup(other))) return true;
  }
  return false;
}

}  // namespace

std::vector<StepResult> play(const std::string& name) {
  Server server;
  if (needs_kueue(load_setup(name))) server.install_kueue();
  std::vector<StepResult> results;
  play_steps(server, name, &results);
  return results;
}

}  // namespace berth::conformance
