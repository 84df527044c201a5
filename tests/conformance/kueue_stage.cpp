#include "conformance/kueue_stage.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "api/status.h"

namespace berth::conformance {
namespace {

bool owned_by(const Json& object, std::string_view name) {
  const JsonArray& owners = array_at(object, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(),
                     [&](const Json& owner) { return string_at(owner, {"name"}) == name; });
}

template <typename Change>
Json with_texts(const Json& value, const Change& change) {
  if (value.is_string()) return Json(change(std::string(view(value.get_string()))));
  Json copy = value;
  if (auto* object = copy.if_object()) {
    for (auto& [key, item] : *object) item = with_texts(item, change);
  } else if (auto* array = copy.if_array()) {
    for (auto& item : *array) item = with_texts(item, change);
  }
  return copy;
}

// Whether a pod waits where the recorded one does, and has the same queue.
bool looks_alike(const Json& pod, const Json& recorded) {
  const auto waits = [](const Json* gates) { return gates != nullptr && !gates->is_null(); };
  constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name";
  return waits(find_path(pod, {"spec", "schedulingGates"})) == waits(find_path(recorded, {"gates"})) &&
         string_at(pod, {"metadata", "labels", kQueue}) == string_at(recorded, {"labels", kQueue}) &&
         string_at(pod, {"status", "phase"}) == string_at(recorded, {"phase"});
}

// Whether the workload's name was generated from its owner, as "job-a-1b2c3" for the Job a.
bool is_made_up(const Json& workload, const Json& owner) {
  std::string kind(string_at(owner, {"kind"}));
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string prefix = kind + "-" + std::string(string_at(owner, {"name"})) + "-";
  return string_at(workload, {"metadata", "name"}).starts_with(prefix);
}

}  // namespace

const api::RestResponse& must(const api::RestResponse& response, const std::string& on) {
  if (!response.ok()) throw std::runtime_error(on + ": " + std::string(api::status_message(response)));
  return response;
}

void Stage::enter(const std::string& ns, const Json& labels) {
  ns_ = ns;
  if (site_.get("v1", "Namespace", "", ns)) return;
  Json object = JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", ns}}}};
  if (labels.is_object()) ensure_path(object, {"metadata", "labels"}) = labels;
  if (const auto created = site_.create(std::move(object)); !created)
    throw std::runtime_error("Namespace " + ns + ": " + created.error().message);
}

std::vector<Json> Stage::list(std::string_view api_version, std::string_view kind) {
  auto request = site_.request_for(api_version, kind, ns_, {});
  if (!request) throw std::runtime_error(request.error().message);
  request->verb = api::Verb::kList;
  const auto response = site_.call(std::move(*request));
  const JsonArray& items = array_at(must(response, std::string(kind)).body, {"items"});
  return {items.begin(), items.end()};
}

Json Stage::workload_of(std::string_view job) {
  for (auto& workload : workloads()) {
    if (owned_by(workload, job)) return std::move(workload);
  }
  return nullptr;
}

std::vector<Json> Stage::pods_of(std::string_view name) {
  const std::vector<Json> all = list("v1", "Pod");
  const auto those = [&all](const auto& wanted) {
    std::vector<Json> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found), wanted);
    return found;
  };
  const auto labelled = [&](std::string_view label) {
    return [label, name](const Json& pod) { return string_at(pod, {"metadata", "labels", label}) == name; };
  };
  const auto of_group = [in = labelled("kueue.x-k8s.io/pod-group-name")](const Json& pod) {
    return in(pod) && array_at(pod, {"metadata", "ownerReferences"}).empty();
  };
  auto found = those(labelled("job-name"));
  if (found.empty()) found = those(of_group);
  if (found.empty()) found = those(labelled("app"));
  if (found.empty()) found = those([name](const Json& pod) { return owned_by(pod, name); });
  if (found.empty()) found = those([name](const Json& pod) { return string_at(pod, {"metadata", "name"}) == name; });
  return found;
}

std::string Stage::uid_of(const std::string& kind, const std::string& name) {
  const auto object = site_.get("", kind, ns_, name);
  if (!object) throw std::runtime_error(kind + " " + name + ": " + object.error().message);
  return std::string(string_at(*object, {"metadata", "uid"}));
}

Json Stage::resolved(const Json& value) {
  bind_workloads();
  return with_texts(value, [this](std::string text) {
    static const re2::RE2 uid("<uid of ([^/>]+)/([^>]+)>");
    std::string kind, name;
    if (text == "<time>") return format_time(site_.now());
    while (re2::RE2::PartialMatch(text, uid, &kind, &name)) re2::RE2::Replace(&text, uid, uid_of(kind, name));
    return bindings_.substitute(text);
  });
}

Json Stage::substituted(const Json& value) const {
  return with_texts(value, [this](const std::string& text) { return bindings_.substitute(text); });
}

void Stage::bind_workloads() {
  for (const auto& [name, placeholder] : placeholders_) bindings_.bind(placeholder, name);
  std::vector<Json> all = workloads();
  std::stable_sort(all.begin(), all.end(), [](const Json& a, const Json& b) {
    return string_at(a, {"metadata", "creationTimestamp"}) < string_at(b, {"metadata", "creationTimestamp"});
  });
  for (const Json& workload : all) {
    const std::string name(string_at(workload, {"metadata", "name"}));
    if (placeholders_.contains(name)) continue;
    for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
      if (!is_made_up(workload, owner)) continue;
      const std::string job(string_at(owner, {"name"}));
      const int number = ++bound_[job];
      const std::string placeholder = "<workload of " + job + (number == 1 ? "" : " " + std::to_string(number)) + ">";
      bindings_.bind(placeholder, name);
      placeholders_[name] = placeholder;
      break;
    }
  }
}

void Stage::name_pod(const std::string& name, const std::string& placeholder) {
  pods_[name] = placeholder;
  bindings_.bind(placeholder, name);
  const std::string wanted = "<workload of " + placeholder.substr(1);
  for (auto& [workload, reported] : placeholders_) {
    if (reported == "<workload of " + name + ">") reported = wanted;
    if (reported == wanted) bindings_.bind(wanted, workload);
  }
}

void Stage::name_pods(const Json& look) {
  if (named_for_ != &look) pods_before_ = pods_;
  pods_ = pods_before_;
  named_for_ = &look;
  std::set<std::string> known;
  for (const auto& [name, placeholder] : pods_before_) known.insert(placeholder);
  for (const auto& [name, placeholder] : pods_before_) name_pod(name, placeholder);
  for (const auto& [job, recorded] : object_at(look, {"pods"})) {
    std::vector<Json> fresh;
    for (Json& pod : pods_of(job)) {
      if (!pods_.contains(std::string(string_at(pod, {"metadata", "name"})))) fresh.push_back(std::move(pod));
    }
    for (const Json& wanted : recorded.as_array()) {
      const std::string placeholder(string_at(wanted, {"name"}));
      if (fresh.empty() || !placeholder.starts_with("<") || known.contains(placeholder)) continue;
      auto like = std::find_if(fresh.begin(), fresh.end(), [&](const Json& pod) { return looks_alike(pod, wanted); });
      if (like == fresh.end()) like = fresh.begin();
      name_pod(std::string(string_at(*like, {"metadata", "name"})), placeholder);
      fresh.erase(like);
    }
  }
}

std::string Stage::reported(std::string_view text) const {
  std::string out(text);
  for (const auto& [name, placeholder] : pods_)
    re2::RE2::GlobalReplace(&out, "\\b" + re2::RE2::QuoteMeta(name) + "$", placeholder);
  for (const auto& [name, placeholder] : placeholders_)
    re2::RE2::GlobalReplace(&out, re2::RE2::QuoteMeta(name), placeholder);
  return out;
}

}  // namespace berth::conformance
