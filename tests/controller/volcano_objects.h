// A server with or without Volcano's kinds, and a controller on it, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller {

class VolcanoObjects : public apiserver::ServerTest {
 protected:
  VolcanoObjects() {
    install([](std::string_view file) { return file.find("volcano-") == std::string_view::npos; });
    restart_controller();
  }
  template <typename Wanted>
  void install(const Wanted& wanted) {
    for (const auto& file : embedded::crds()) {
      if (!wanted(file.name)) continue;
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
  }
  void install_volcano() {
    install([](std::string_view file) { return file.find("volcano-") != std::string_view::npos; });
    pass(std::chrono::minutes(1));  // after many refused lists, a cache retries less often
  }
  void restart_controller(bool volcano = true) {
    controller.reset();
    ControllerOptions options;
    options.volcano.enabled = volcano;
    controller.emplace(*server, executor, options);
    controller->start();
    controller->lead();
    pass();
  }
  void pass(Duration d = std::chrono::seconds(5)) { executor.run_until(executor.now() + d); }

  // The body needs no apiVersion and kind.
  api::RestResponse create(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view body) {
    static const std::map<std::string, std::string> kinds{
        {"queues", "Queue"},     {"podgroups", "PodGroup"},
        {"commands", "Command"}, {"clusterqueues", "ClusterQueue"},
        {"cohorts", "Cohort"},   {"resourceflavors", "ResourceFlavor"}};
    auto r = request(api::Verb::kCreate, gvr, ns, "", body);
    ensure_path(r.body, {"apiVersion"}) = gvr.group + "/" + gvr.version;
    ensure_path(r.body, {"kind"}) = kinds.at(gvr.resource);
    return call(std::move(r));
  }
  void queue(const std::string& name, const std::string& spec) {
    const auto made = create(api::kVolcanoQueues, "", R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
    EXPECT_TRUE(made.ok()) << made.body;
  }
  void group(const std::string& name, const std::string& queue, int pods, int cpu) {
    const auto made =
        create(api::kPodGroups, "default",
               R"({"metadata":{"name":")" + name + R"("},"spec":{"queue":")" + queue + R"(","minMember":)" +
                   std::to_string(pods) + R"(,"minResources":{"cpu":)" + std::to_string(cpu) + "}}}");
    EXPECT_TRUE(made.ok()) << made.body;
  }
  void bound_pod(const std::string& name, const std::string& group, int cpu) {
    const auto made = ServerTest::create(
        api::kPods, "default",
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
            R"(","annotations":{"scheduling.k8s.io/group-name":")" + group +
            R"("}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":)" +
            std::to_string(cpu) + "}}}]}}");
    EXPECT_TRUE(made.ok()) << made.body;
  }
  std::string phase(const std::string& group) {
    return std::string(string_at(get(api::kPodGroups, "default", group).body, {"status", "phase"}));
  }
  std::string state(const std::string& queue) {
    return std::string(string_at(get(api::kVolcanoQueues, "", queue).body, {"status", "state"}));
  }
  void command(const std::string& action, const std::string& queue, std::string_view more = "") {
    const auto made =
        create(api::kVolcanoCommands, "default",
               R"({"metadata":{"generateName":"c-"},"action":")" + action +
                   R"(","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","uid":"","name":")" +
                   queue + "\"" + std::string(more) + "}}");
    EXPECT_TRUE(made.ok()) << made.body;
  }
  // "reason: note" of the events about an object, ordered by the names of the events.
  std::vector<std::string> events(std::string_view kind, std::string_view name) {
    std::vector<std::string> out;
    const auto all = list({"events.k8s.io", "v1", "events"}, "");
    for (const Json& event : array_at(all.body, {"items"})) {
      if (string_at(event, {"regarding", "kind"}) != kind || string_at(event, {"regarding", "name"}) != name) continue;
      out.push_back(std::string(string_at(event, {"reason"})) + ": " + std::string(string_at(event, {"note"})));
    }
    return out;
  }
  std::string allocated(const std::string& queue, std::string_view resource = "cpu") {
    return std::string(string_at(get(api::kVolcanoQueues, "", queue).body, {"status", "allocated", resource}));
  }

  std::optional<Controller> controller;
};

}  // namespace berth::controller
