#include "conformance/player.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace berth::conformance {
namespace {

using apiserver::http::Header;
using apiserver::http::HttpRequest;

constexpr std::chrono::seconds kForAnEffect{15};
constexpr std::chrono::milliseconds kBetweenLooks{100};

// These fields have microseconds, and the server rejects them without.
bool is_micro_time(std::string_view key) {
  return key == "eventTime" || key == "lastObservedTime" || key == "acquireTime" || key == "renewTime";
}

Json with_micro_times(Json value, Time now) {
  if (auto* object = value.if_object()) {
    for (auto& [key, item] : *object) {
      const bool time = item.is_string() && view(item.get_string()) == "<time>" && is_micro_time(key);
      item = time ? Json(format_micro_time(now)) : with_micro_times(std::move(item), now);
    }
  } else if (auto* array = value.if_array()) {
    for (auto& item : *array) item = with_micro_times(std::move(item), now);
  }
  return value;
}

// The body of a request: placeholders get their values, <time> the current time.
std::string body_of(const Json& body, const Bindings& bindings, Time now) {
  if (body.is_null()) return "";
  Bindings with_time = bindings;
  with_time.bind("<time>", format_time(now));
  return with_time.substitute(body.is_string() ? std::string(view(body.get_string()))
                                               : to_string(with_micro_times(body, now)));
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
  request.body = around.body_bytes == 0 ? body_of(step.body, bindings, now) : big_config_map(around.body_bytes);
  return request;
}

Caller caller_of(const std::string& as) {
  if (as.empty()) return {};
  return {"", as == "bob" ? kBobsToken : as == "badtoken" ? "wrong" : ""};
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

// Removes from `actual[key]` what the recording does not have.
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
        if (string_at(item, {"metadata", "name"}) == string_at(other, {"metadata", "name"})) kept.push_back(item);
      }
    }
    *mine = std::move(kept);
  }
}

// The part of an OpenAPI document that the recording kept.
Json openapi_extract(const Json& document, const Json& recorded) {
  JsonArray keys, schemas;
  if (!document.is_object()) return document;
  for (const auto& member : document.get_object()) keys.emplace_back(member.key());
  JsonObject path;
  for (const auto& member : object_at(recorded, {"path"})) {
    if (const Json* found = find_path(document, {"paths", std::string_view(member.key())})) path[member.key()] = *found;
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
    all.push_back({"status", "expected " + std::to_string(step.status) + ", got " + std::to_string(played.status)});
  }
  for (const auto& [name, value] : step.response_headers) {
    // A header may occur several times (Warning); the recording kept one of them.
    std::string got;
    bool matches = false;
    for (const Header& h : played.headers) {
      if (!boost::beast::iequals(h.name, name)) continue;
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

void send(Server& server, const Preparation& p, const Bindings& bindings) {
  Step step;
  step.title = "preparation";
  step.method = p.method;
  step.path = p.path;
  step.content_type = p.content_type;
  step.body = p.body;
  const Played played = server.send(request_of(step, {}, bindings, server.now()), {}, {}, nullptr);
  if (played.status >= 300) {
    throw std::runtime_error("preparation " + p.method + " " + p.path + ": " + std::to_string(played.status) + " " +
                             played.body);
  }
}

namespace {

// Sends the steps of a recording. With `results`, also stores the comparison of the answers.
void play_steps(Server& server, const std::string& name, std::vector<StepResult>* results) {
  const Recording recording = load_recording(name);
  const Setup setup = load_setup(name);
  for (const std::string& other : setup.play) play_steps(server, other, nullptr);
  Bindings bindings;
  if (server.real_time()) bindings.let_the_store_move();
  for (const Preparation& p : setup.start) send(server, p, bindings);
  for (const Step& step : recording.steps) {
    Surroundings around;
    if (const auto it = setup.steps.find(step.title); it != setup.steps.end()) around = it->second;
    for (const Preparation& p : around.before) send(server, p, bindings);
    for (const auto& [placeholder, value] : around.bind) {
      bindings.bind(placeholder, value == "current" ? server.revision() : value);
    }
    const auto during = [&] {
      for (const Preparation& p : around.during) send(server, p, bindings);
    };
    const Listen listen{std::chrono::seconds(around.seconds),
                        step.response.is_array() ? step.response.get_array().size() : 0};
    // Compares also without `results`, because later requests use values of earlier answers.
    const auto once = [&](Bindings& known) {
      const HttpRequest request = request_of(step, around, known, server.now());
      return compare_answer(step, around, server.send(request, caller_of(step.as), listen, during), known);
    };
    const Bindings before = bindings;
    std::vector<Difference> differences = once(bindings);
    const auto until = std::chrono::steady_clock::now() + kForAnEffect;
    while (!differences.empty() && around.eventually && server.real_time() &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kBetweenLooks);
      bindings = before;
      differences = once(bindings);
    }
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

std::vector<StepResult> play(Server& server, const std::string& name) {
  if (needs_kueue(load_setup(name))) server.install_kueue();
  std::vector<StepResult> results;
  play_steps(server, name, &results);
  return results;
}

}  // namespace berth::conformance
