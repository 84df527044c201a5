#include "embedded/commands/why_not/stage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "api/object_condition.h"
#include "api/status.h"
#include "base/yaml.h"
#include "cli/queues/commands.h"
#include "cli/queues/pod_waits.h"
#include "cli/queues/workload_facts.h"
#include "cli/visibility.h"
#include "console/rows/pod_row.h"
#include "console/rows/workload_row.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "serve/visibility.h"

namespace berth::cli::why_not {
namespace {

constexpr std::string_view kBase = R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: default}, spec: {clusterQueue: team}}
)";

template <typename Value>
Value must(Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::unique_ptr<simulate::World> world_of(const Setting& setting) {
  simulate::WorldOptions options;
  options.start = must(parse_time("2026-01-01T00:00:00Z"));
  options.nodes = setting.nodes;
  options.node_resources = setting.node_resources;
  api::config::Configuration configuration;
  if (!setting.configuration.empty()) {
    Json document = must(parse_yaml(setting.configuration)).front();
    document.as_object()["apiVersion"] = "config.kueue.x-k8s.io/v1beta2";
    document.as_object()["kind"] = "Configuration";
    configuration = must(api::config::decode_configuration(document, "the setting"));
  }
  options.configure(
      must(controller::controller_options(configuration, must(controller::parse_feature_gates(setting.gates)))));
  return must(simulate::World::make(options));
}

// The world as the server of a command.
class StageServer final : public queues::Server {
 public:
  explicit StageServer(simulate::World& world) : world_(world) {}
  api::RestResponse call(api::RestRequest request) override { return world_.call(std::move(request)); }
  api::RestResponse get(const std::string& path) override {
    if (path.find("visibility.kueue.x-k8s.io") == std::string::npos) {
      api::RestRequest request;
      request.path = path;
      return world_.call(std::move(request));
    }
    const auto source = pending_source([this]() -> const controller::Controller& { return world_.controller(); },
                                       [this] { return world_.executor().now(); });
    const http::HttpResponse response = serve::answer_visibility(source, "GET", must(http::parse_target(path)), "")();
    return {response.status, must(parse_json(response.body)), {}};
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

std::string berth(simulate::World& world, std::vector<std::string> words) {
  std::ostringstream out;
  queues::Session session;
  session.out = session.err = &out;
  session.connect = [&world](const AccessFlags&) -> Result<std::unique_ptr<queues::Server>> {
    return std::make_unique<StageServer>(world);
  };
  CLI::App root{"", "berth"};
  const auto commands = queues::add_commands(root, session);
  std::ranges::reverse(words);  // CLI11 reads from the end
  root.parse(words);
  for (const auto& command : commands) {
    if (command.app->parsed()) command.run();
  }
  return out.str();
}

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

// A word without what differs from run to run: UIDs, and the ends of names that are made of UIDs.
std::string lasting(const std::string& word) {
  std::vector<std::string> parts(1);
  for (const char c : word) {
    if (c == '-') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (word.size() == 36 && parts.size() == 5) return "UID";
  if (parts.size() == 1 || (parts[0] != "job" && parts[0] != "train" && parts[0] != "other")) return word;
  std::string out = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool ending = parts[i].size() == 5 && parts[i] != "train" && parts[i] != "other";
    out += "-" + (ending ? "…" : parts[i]);
  }
  return out;
}

// As a cell of a table.
std::string cell(const std::string& text) {
  std::string out, word;
  for (const char c : text + "\n") {
    if (in_word(c)) {
      word += c;
      continue;
    }
    out += lasting(word);
    word.clear();
    if (c == '|' || c == '<') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string condition_text(const Json& object, std::string_view type) {
  const Json* condition = api::object_condition(object, type);
  if (condition == nullptr) return "";
  return std::string(type) + "=" + std::string(string_at(*condition, {"status"})) + ", " +
         std::string(string_at(*condition, {"reason"})) + ": " + std::string(string_at(*condition, {"message"}));
}

bool is(const Json& object, std::string_view type, std::string_view status) {
  const Json* condition = api::object_condition(object, type);
  return condition != nullptr && string_at(*condition, {"status"}) == status;
}

// The condition that says most about a workload that does not run.
std::string condition_of(const Json& workload, const std::vector<Json>& pods) {
  if (is(workload, api::kueue::kAdmitted, "True")) {
    for (const Json& pod : pods) {
      if (is(pod, "PodScheduled", "False")) return "of a pod: " + condition_text(pod, "PodScheduled");
    }
    return condition_text(workload, api::kueue::kAdmitted);
  }
  if (is(workload, api::kueue::kQuotaReserved, "True")) return condition_text(workload, api::kueue::kAdmitted);
  const bool inactive = !bool_at(workload, {"spec", "active"}, true);
  if (is(workload, api::kueue::kEvicted, "True") && (inactive || is(workload, "Requeued", "False")))
    return condition_text(workload, api::kueue::kEvicted);
  return condition_text(workload, api::kueue::kQuotaReserved);
}

// The newest event of these objects that says more than that something was made or began.
std::string newest_event(const std::vector<Json>& events, const std::set<std::string>& uids) {
  static const std::set<std::string_view> kMade = {"CreatedWorkload", "SuccessfulCreate", "SuccessfulDelete",
                                                   "Suspended",       "Resumed",          "Started",
                                                   "QuotaReserved",   "Admitted"};
  const Json* found = nullptr;
  const auto time_of = [](const Json& event) {
    return std::max({string_at(event, {"series", "lastObservedTime"}), string_at(event, {"eventTime"}),
                     string_at(event, {"deprecatedLastTimestamp"})});
  };
  for (const Json& event : events) {
    if (!uids.contains(std::string(string_at(event, {"regarding", "uid"})))) continue;
    if (kMade.contains(string_at(event, {"reason"}))) continue;
    if (found == nullptr || time_of(*found) <= time_of(event)) found = &event;
  }
  return found == nullptr
             ? ""
             : std::string(string_at(*found, {"reason"})) + ": " + std::string(string_at(*found, {"note"}));
}

std::string explained(const Json& e) {
  std::string out(string_at(e, {"summary"}));
  const JsonArray& blockers = array_at(e, {"blockers"});
  if (!blockers.empty()) {
    if (const auto until = string_at(blockers.front(), {"until"}); !until.empty())
      out += " It ends at " + std::string(until) + ".";
    if (const auto remedy = string_at(blockers.front(), {"remedy"}); !remedy.empty()) out += " " + std::string(remedy);
  }
  for (const Json& each : array_at(e, {"podWaits"})) out += " " + queues::pod_wait_text(each) + ".";
  const JsonArray& changes = array_at(e, {"changes"});
  if (!changes.empty()) {
    out += " " + std::string(string_at(changes.front(), {"text"}));
  } else if (const auto places = string_at(e, {"places"}); !places.empty() && find(e, "never") == nullptr) {
    out += " " + std::string(places) + ".";
  }
  return out;
}

// The row of the list, and what the page of the workload says about its pods.
std::string console_text(const Json& workload, const std::vector<Json>& pods) {
  const auto row = console::workload_row(workload);
  if (!row) return "";
  const Json fields = must(parse_json(row->json));
  std::string out(string_at(fields, {"state"}));
  if (const auto why = string_at(fields, {"why"}); !why.empty()) out += ": " + std::string(why);
  for (const Json& check : array_at(fields, {"checks"}))
    out += "; check " + std::string(string_at(check, {"name"})) + " " + std::string(string_at(check, {"state"}));
  std::map<std::string, int> waits;
  for (const Json& pod : pods) {
    const Json one = console::pod_row(pod);
    if (const auto message = string_at(one, {"message"}); !message.empty()) ++waits[std::string(message)];
  }
  for (const auto& [message, count] : waits)
    out += "; " + std::to_string(count) + (count == 1 ? " pod: " : " pods: ") + message;
  return out;
}

}  // namespace

Stage::Stage(const Setting& setting) : world_(world_of(setting)) {
  apply(std::string(kBase));
  queue("");
}

void Stage::apply(const std::string& manifests) {
  for (Json& document : must(parse_yaml(manifests))) must(world_->apply(std::move(document)));
  wait(seconds(1));
}

void Stage::queue(const std::string& fields, const std::string& cpus) {
  apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team}, spec: {namespaceSelector: "
      "{}, " +
      fields + (fields.empty() ? "" : ", ") +
      "resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: " +
      cpus + "}]}]}]}}");
}

void Stage::job(const std::string& name, const JobShape& shape) {
  const std::string pods = std::to_string(shape.pods);
  apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
        ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + shape.queue +
        (shape.labels.empty() ? "" : ", " + shape.labels) + "}, annotations: {" + shape.annotations +
        "}}, spec: {suspend: true, parallelism: " + pods + ", completions: " + pods +
        ", template: {metadata: {annotations: {berth.dev/run-for: 24h" +
        (shape.pod_annotations.empty() ? "" : ", " + shape.pod_annotations) + "}}, spec: {restartPolicy: Never, " +
        shape.pod + (shape.pod.empty() ? "" : ", ") + "containers: [{name: c, image: i, resources: {requests: {" +
        shape.requests + "}}}]}}}}");
  wait(seconds(4));
}

void Stage::patch(const std::string& kind, const std::string& name, const std::string& body,
                  const std::string& subresource) {
  auto request = must(world_->request_for(kind == "Job" ? "batch/v1" : "", kind, "default", name));
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kMerge;
  request.subresource = subresource;
  request.body = must(parse_yaml(body)).front();
  const auto response = world_->call(std::move(request));
  if (!response.ok()) throw std::runtime_error(kind + " " + name + ": " + api::failure_text(response));
  wait(seconds(2));
}

void Stage::remove(const std::string& kind, const std::string& name) {
  auto request = must(world_->request_for(kind == "Job" ? "batch/v1" : "", kind, "default", name));
  request.verb = api::Verb::kDelete;
  request.body = JsonObject{{"propagationPolicy", "Background"}};
  const auto response = world_->call(std::move(request));
  if (!response.ok()) throw std::runtime_error(kind + " " + name + ": " + api::failure_text(response));
  wait(seconds(2));
}

std::vector<Json> Stage::list(const std::string& kind) {
  const std::string version = kind == "Workload" ? "kueue.x-k8s.io/v1beta2"
                              : kind == "Event"  ? "events.k8s.io/v1"
                                                 : "v1";
  auto request = must(world_->request_for(version, kind, "default", ""));
  request.verb = api::Verb::kList;
  const auto response = world_->call(std::move(request));
  const JsonArray& items = array_at(response.body, {"items"});
  return {items.begin(), items.end()};
}

std::string Stage::workload_of(const std::string& job) {
  const Json object = must(world_->get("batch/v1", "Job", "default", job));
  for (const Json& workload : list("Workload")) {
    if (queues::belongs_to(workload, object)) return std::string(string_at(workload, {"metadata", "name"}));
  }
  return "";
}

Said said_about(Stage& stage, const Situation& situation) {
  const std::string out =
      berth(stage.world(), {"explain", situation.type, situation.object, "-n", "default", "-o", "json"});
  const auto explanation = parse_json(out);
  if (!explanation) return {"", "", out, ""};
  const std::string name(string_at(*explanation, {"metadata", "name"}));
  const Json workload = must(stage.world().get("kueue.x-k8s.io/v1beta2", "Workload", "default", name));
  std::set<std::string> uids = {std::string(string_at(workload, {"metadata", "uid"}))};
  std::vector<Json> pods;
  for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
    uids.emplace(string_at(owner, {"uid"}));
  }
  for (Json& pod : stage.list("Pod")) {
    const auto owned = std::ranges::any_of(array_at(pod, {"metadata", "ownerReferences"}), [&](const Json& owner) {
      return uids.contains(std::string(string_at(owner, {"uid"})));
    });
    const std::string uid(string_at(pod, {"metadata", "uid"}));
    if (owned || uids.contains(uid)) pods.push_back(std::move(pod));
  }
  const bool admitted = is(workload, api::kueue::kAdmitted, "True");
  for (const Json& pod : pods) {
    if (admitted) uids.emplace(string_at(pod, {"metadata", "uid"}));
  }
  const std::string condition = condition_of(workload, pods);
  // kubectl describe shows the conditions, too.
  const std::string event = newest_event(stage.list("Event"), uids);
  const std::string described = event.empty()                ? "no event; the condition"
                                : condition.ends_with(event) ? "the same, as an event"
                                                             : event;
  return {cell(condition), cell(described), cell(explained(*explanation)), cell(console_text(workload, pods))};
}

}  // namespace berth::cli::why_not
