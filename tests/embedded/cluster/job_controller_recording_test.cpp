// Compares the Job controller with a recording of a real cluster: the same writes, and after each write the same Job
// and pods.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "embedded/cluster/job_controller.h"
#include "embedded/cluster/world.h"
#include "source_dir.h"

namespace berth::cluster::job_controller_recording_test {
namespace {

using namespace testing_support;

// Placeholders of the recording and their values in this test.
class Bindings {
 public:
  // Empty when `got` equals the recorded value; otherwise the path and the difference.
  std::string difference(const Json& want, const Json& got, const std::string& path) {
    if (want.is_string() && got.is_string()) return text(view(want.get_string()), view(got.get_string()), path);
    if (want.is_object() && got.is_object()) return members(want.get_object(), got.get_object(), path);
    if (want.is_array() && got.is_array() && want.get_array().size() == got.get_array().size()) {
      for (std::size_t i = 0; i < want.get_array().size(); ++i) {
        auto d = difference(want.get_array()[i], got.get_array()[i], path + "[" + std::to_string(i) + "]");
        if (!d.empty()) return d;
      }
      return {};
    }
    return json_equal(want, got) ? "" : path + ": expected " + to_string(want) + ", got " + to_string(got);
  }

  std::string substitute(std::string text) const {
    for (const auto& [placeholder, value] : values_) {
      for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
        text.replace(at, placeholder.size(), value);
      }
    }
    return text;
  }
  bool bound(const std::string& placeholder) const { return values_.contains(placeholder); }
  bool taken(const std::string& value) const {
    return std::any_of(values_.begin(), values_.end(), [&](const auto& binding) { return binding.second == value; });
  }
  std::string value(const std::string& placeholder) const { return values_.at(placeholder); }

 private:
  std::string text(std::string_view want, std::string_view got, const std::string& path) {
    if (want == "<time>") return parse_time(got) ? "" : path + ": expected a time, got " + std::string(got);
    std::string expected = substitute(std::string(want));
    if (expected.starts_with('<') && expected.ends_with('>') && !taken(std::string(got))) {
      values_.emplace(expected, got);
      return {};
    }
    return expected == got ? "" : path + ": expected " + expected + ", got " + std::string(got);
  }

  std::string members(const JsonObject& want, const JsonObject& got, const std::string& path) {
    for (const auto& [key, value] : want) {
      const Json* other = got.if_contains(key);
      if (other == nullptr) return path + "." + std::string(key) + ": missing";
      auto d = difference(value, *other, path + "." + std::string(key));
      if (!d.empty()) return d;
    }
    for (const auto& [key, value] : got) {
      if (!want.contains(key)) return path + "." + std::string(key) + ": not expected, got " + to_string(value);
    }
    return {};
  }

  std::map<std::string, std::string> values_;
};

class Player {
 public:
  Player() : world_("jc"), controller_(*world_.server, world_.executor) {
    controller_.start();
    wait(1);
  }

  void wait(int seconds) { world_.run_for(std::chrono::seconds(seconds)); }

  void create(std::string_view name, std::string_view spec) {
    Json job = yaml(
        "{apiVersion: batch/v1, kind: Job, spec: {template: {metadata: {labels: {mine: x}}, spec: "
        "{restartPolicy: "
        "Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}");
    ensure_path(job, {"metadata", "name"}) = name;
    const Json given = yaml(spec);
    for (const auto& [key, value] : given.as_object()) {
      ensure_path(job, {"spec", std::string_view(key.data(), key.size())}) = value;
    }
    world_.create(kJobs, std::move(job));
  }
  void spec(std::string_view job, std::string_view patch) {
    world_.patch(kJobs, job, "{spec: " + std::string(patch) + "}");
  }
  void pod_status(const std::string& placeholder, std::string_view status) {
    world_.patch(kPods, bindings_.value(placeholder), "{status: " + std::string(status) + "}", "status");
  }
  void finish(const std::string& placeholder, bool well) { finish_pod(bindings_.value(placeholder), well); }
  void finish_pod(const std::string& name, bool well) {
    const std::string now = format_time(world_.executor.now());
    world_.patch(kPods, name,
                 "{status: {phase: " + std::string(well ? "Succeeded" : "Failed") +
                     ", containerStatuses: [{name: c, ready: false, restartCount: 0, image: i, imageID: '', "
                     "lastState: "
                     "{}, state: {terminated: {exitCode: " +
                     (well ? "0" : "1") + ", reason: " + (well ? "Completed" : "Error") + ", startedAt: '" + now +
                     "', finishedAt: '" + now + "'}}}]}}",
                 "status");
  }
  std::string pod_of(const std::string& job) {
    const auto pods = world_.list(kPods, "job-name=" + job);
    return pods.empty() ? "" : std::string(string_at(pods.front(), {"metadata", "name"}));
  }
  void remove_pod(const std::string& name) { EXPECT_TRUE(world_.remove(kPods, name).ok()); }

  // Compares the current state with the state that the recording shows in this step.
  void check(const Json& step) {
    if (find(step, "method") != nullptr) return check_request(step);
    if (find(step, "events") != nullptr) return check_events(step);
    if (const auto count = optional_int_at(step, {"count"})) return check_count(step, *count);
    if (find(step, "job") == nullptr) return check_orphans(step);
    const Json& want = step.at("job");
    const std::string name(string_at(want, {"metadata", "labels", "job-name"}));
    check_job(want, world_.get(kJobs, name));
    check_pods(array_at(step, {"pods"}), world_.list(kPods, "job-name=" + name));
  }

 private:
  void check_job(const Json& want, Json got) {
    erase_path(got, {"metadata", "managedFields"});
    if (find(want, "kind") == nullptr) {  // the recording shows only what changes
      Json part = JsonObject();
      for (std::string_view member : {"generation", "labels"}) {
        if (const Json* value = find_path(got, {"metadata", member})) ensure_path(part, {"metadata", member}) = *value;
      }
      ensure_path(part, {"status"}) = object_at(got, {"status"});
      got = part;
    }
    EXPECT_EQ(bindings_.difference(want, got, "job"), "");
  }

  static Json shown(const Json& pod) {
    Json part = JsonObject();
    for (std::string_view member : {"name", "generateName", "labels", "annotations", "finalizers"}) {
      if (const Json* value = find_path(pod, {"metadata", member})) ensure_path(part, {"metadata", member}) = *value;
    }
    Json& spec = ensure_path(part, {"spec"}) = JsonObject();
    for (std::string_view member : {"hostname", "nodeName"}) {
      if (const Json* value = find_path(pod, {"spec", member})) ensure_path(spec, {member}) = *value;
    }
    ensure_path(part, {"phase"}) = string_at(pod, {"status", "phase"});
    return part;
  }

  void check_pods(const JsonArray& wanted, std::vector<Json> pods) {
    EXPECT_EQ(wanted.size(), pods.size());
    for (auto& pod : pods) erase_path(pod, {"metadata", "managedFields"});
    for (const auto& want : wanted) {
      const std::string name(string_at(want, {"metadata", "name"}));
      const auto matches = [&](const Json& pod) {
        const auto actual = std::string(string_at(pod, {"metadata", "name"}));
        if (bindings_.bound(name)) return bindings_.value(name) == actual;
        return !bindings_.taken(actual) &&
               string_at(pod, {"metadata", "generateName"}) == string_at(want, {"metadata", "generateName"});
      };
      const auto at = std::find_if(pods.begin(), pods.end(), matches);
      if (at == pods.end()) {
        ADD_FAILURE() << "no pod for " << name;
        continue;
      }
      EXPECT_EQ(bindings_.difference(want, find(want, "status") != nullptr ? without_kind(*at) : shown(*at), name), "");
      pods.erase(at);
    }
  }
  static Json without_kind(Json pod) {
    erase_path(pod, {"kind"});
    erase_path(pod, {"apiVersion"});
    return pod;
  }

  void check_request(const Json& step) {
    // Example: /apis/batch/v1/namespaces/jc/jobs/<name>?propagationPolicy=...
    std::string path = bindings_.substitute(std::string(string_at(step, {"path"})));
    Json options = *(find(step, "body") != nullptr ? find(step, "body") : &null_);
    if (const auto query = path.find("?propagationPolicy="); query != std::string::npos) {
      options = JsonObject{{"propagationPolicy", path.substr(path.find('=') + 1)}};
      path.resize(query);
    }
    const auto& resource = path.find("/jobs/") != std::string::npos ? kJobs : kPods;
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool is_delete = string_at(step, {"method"}) == "DELETE";
    const auto response = is_delete ? world_.remove(resource, name, options)
                                    : world_.call(world_.request(api::Verb::kGet, resource, name));
    EXPECT_EQ(response.code, int_at(step, {"status"}));
    Json body = response.body;
    if (!is_delete) erase_path(body, {"metadata", "managedFields"});
    EXPECT_EQ(bindings_.difference(step.at("response"), body, "response"), "");
  }

  void check_count(const Json& step, std::int64_t count) {
    const std::string job(string_at(step, {"title"}).substr(0, 1));
    EXPECT_EQ(static_cast<std::int64_t>(world_.list(kPods, "job-name=" + job).size()), count);
  }

  void check_orphans(const Json& step) {
    for (const auto& want : array_at(step, {"pods"})) {
      const auto pod = world_.get(kPods, bindings_.substitute(std::string(string_at(want, {"name"}))));
      EXPECT_TRUE(pod.is_object());
      EXPECT_EQ(find_path(pod, {"metadata", "ownerReferences"}), nullptr);
      EXPECT_EQ(find_path(pod, {"metadata", "finalizers"}), nullptr);
    }
  }

  // The expected events exist, and no others. A pod name that the recording does not bind matches any pod.
  void check_events(const Json& step) {
    const auto anonymous = [&](std::string message) {
      const auto name = message.rfind(": ");
      if (name != std::string::npos && !bindings_.taken(message.substr(name + 2))) message.resize(name);
      return message;
    };
    std::multiset<std::string> want, got;
    for (const auto& text : array_at(step, {"events"})) {
      const Json event = parse_json(bindings_.substitute(std::string(view(text.get_string())))).value();
      want.insert(std::string(string_at(event, {"type"})) + " " + std::string(string_at(event, {"reason"})) + " " +
                  std::string(string_at(event, {"name"})) + " " +
                  anonymous(std::string(string_at(event, {"message"}))));
    }
    for (const auto& event : world_.list(kEvents)) {
      EXPECT_EQ(string_at(event, {"regarding", "kind"}), "Job");
      got.insert(std::string(string_at(event, {"type"})) + " " + std::string(string_at(event, {"reason"})) + " " +
                 std::string(string_at(event, {"regarding", "name"})) + " " +
                 anonymous(std::string(string_at(event, {"note"}))));
    }
    EXPECT_EQ(got, want);
  }

  const Json null_;
  World world_;
  JobController controller_;
  Bindings bindings_;
};

// The action before a recorded state. Steps that are requests themselves are not in this table.
struct Action {
  int wait;  // seconds until the state is checked
  std::function<void(Player&)> run;
};

const std::map<std::string, Action>& actions() {
  static const std::map<std::string, Action> kActions = {
      {"a: created suspended (parallelism 2, completions 3)",
       {2, [](Player& p) { p.create("a", "{parallelism: 2, completions: 3, suspend: true}"); }}},
      {"a: resumed", {2, [](Player& p) { p.spec("a", "{suspend: false}"); }}},
      {"a: both run, one is ready",
       {2,
        [](Player& p) {
          p.pod_status("<a-pod1>", "{phase: Running, conditions: [{type: Ready, status: 'True'}]}");
          p.pod_status("<a-pod2>", "{phase: Running}");
        }}},
      {"a: one succeeded", {2, [](Player& p) { p.finish("<a-pod1>", true); }}},
      {"a: suspended in the middle", {2, [](Player& p) { p.spec("a", "{suspend: true}"); }}},
      {"a: resumed again", {2, [](Player& p) { p.spec("a", "{suspend: false}"); }}},
      {"a: all done",
       {2,
        [](Player& p) {
          p.finish("<a-pod4>", true);
          p.finish("<a-pod5>", true);
        }}},
      {"b: indexed, parallelism 2, completions 3",
       {2, [](Player& p) { p.create("b", "{parallelism: 2, completions: 3, completionMode: Indexed}"); }}},
      {"b: index 1 succeeded", {2, [](Player& p) { p.finish("<b-pod2>", true); }}},
      {"b: done",
       {2,
        [](Player& p) {
          p.finish("<b-pod1>", true);
          p.finish("<b-pod3>", true);
        }}},
      {"f: backoffLimit 1", {2, [](Player& p) { p.create("f", "{backoffLimit: 1}"); }}},
      {"f: first failure", {11, [](Player& p) { p.finish("<f-pod1>", false); }}},
      {"f: after the back-off", {10, [](Player&) {}}},
      {"f: second failure", {2, [](Player& p) { p.finish("<f-pod2>", false); }}},
      {"g: parallelism 3 without completions", {2, [](Player& p) { p.create("g", "{parallelism: 3}"); }}},
      {"g: one succeeded, no new pods", {2, [](Player& p) { p.finish("<g-pod1>", true); }}},
      {"g: all succeeded",
       {2,
        [](Player& p) {
          p.finish("<g-pod2>", true);
          p.finish("<g-pod3>", true);
        }}},
      {"h: parallelism 1", {2, [](Player& p) { p.create("h", "{parallelism: 1}"); }}},
      {"h: scaled up", {2, [](Player& p) { p.spec("h", "{parallelism: 3}"); }}},
      {"h: scaled down", {2, [](Player& p) { p.spec("h", "{parallelism: 1}"); }}},
      {"h: scaled to zero", {2, [](Player& p) { p.spec("h", "{parallelism: 0}"); }}},
      {"d: active deadline 3 s", {1, [](Player& p) { p.create("d", "{activeDeadlineSeconds: 3}"); }}},
      {"d: past the deadline", {4, [](Player&) {}}},
      {"t: removed 2 s after it finished",
       {4,
        [](Player& p) {
          p.create("t", "{ttlSecondsAfterFinished: 2}");
          p.wait(1);
          p.finish_pod(p.pod_of("t"), true);
        }}},
      {"g: gone", {2, [](Player&) {}}},
      {"b: its pods stay, without owner", {2, [](Player&) {}}},
      {"h: its pods", {2, [](Player&) {}}},
      {"m: managed by another controller: nothing happens",
       {2, [](Player& p) { p.create("m", "{managedBy: example.com/other}"); }}},
      {"k: its pod was deleted",
       {12,
        [](Player& p) {
          p.create("k", "{}");
          p.wait(1);
          p.remove_pod(p.pod_of("k"));
        }}},
      {"all events of the Job controller", {30, [](Player&) {}}},
  };
  return kActions;
}

TEST(JobControllerRecording, IsFollowedStepByStep) {
  std::ifstream file(source_path("tests/conformance/recordings/job_controller.yaml"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json recording = yaml(text);
  Player player;
  std::size_t played = 0;
  for (const auto& step : array_at(recording, {"steps"})) {
    const std::string title(string_at(step, {"title"}));
    SCOPED_TRACE(title);
    const auto action = actions().find(title);
    if (action != actions().end()) {
      action->second.run(player);
      player.wait(action->second.wait);
      ++played;
    }
    player.check(step);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(played, actions().size()) << "an action's title is not in the recording";
}

}  // namespace
}  // namespace berth::cluster::job_controller_recording_test
