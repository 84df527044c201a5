// Migration from Kueue to Berth: objects as a real Kueue left them (tests/conformance/recordings/kueue) do not
// change.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "controller/controller.h"
#include "embedded/simulate/world.h"
#include "install/manifests.h"
#include "jobs/workload_name.h"

namespace berth::install::takeover_test {
namespace {

constexpr std::string_view kNamespace = "s-basics";

class Takeover : public testing::Test {
 protected:
  Takeover() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-11-21T09:00:00Z").value();
    options.nodes = "1x1x4";
    options.controller = false;
    world_ = simulate::World::make(options).value();
    make(JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", kNamespace}}}});
    recording_ = read_documents("tests/conformance/recordings/kueue/basics.yaml").at(0);
  }

  void make(Json object) {
    const bool wide =
        kind_of(object) == "ResourceFlavor" || kind_of(object) == "ClusterQueue" || kind_of(object) == "Namespace";
    if (!wide) ensure_path(object, {"metadata", "namespace"}) = kNamespace;
    const auto made = world_->create(object);
    ASSERT_TRUE(made) << name_of(object) << ": " << made.error().message;
  }

  // Creates the recorded objects up to the state `see`, and returns that recorded state.
  const Json& play_until(std::string_view see) {
    for (const Json& step : array_at(recording_, {"steps"})) {
      if (string_at(step, {"see"}) == see) return step;
      if (string_at(step, {"do"}) != "create") continue;
      for (const Json& object : array_at(step, {"objects"})) make(object);
    }
    throw std::runtime_error("the recording never shows: " + std::string(see));
  }

  Json job(std::string_view name) { return world_->get("batch/v1", "Job", kNamespace, name).value(); }
  std::string workload_of(const Json& job) {
    return jobs::workload_name("batch", "Job", name_of(job), string_at(job, {"metadata", "uid"}));
  }

  // A recorded value with the placeholders replaced by this world's values.
  Json filled(const Json& value, const Json& job) {
    std::string text = to_string(value);
    const auto put = [&](const std::string& placeholder, const std::string& to) {
      boost::replace_all(text, placeholder, to);
    };
    put("<uid1>", std::string(string_at(job, {"metadata", "uid"})));
    put("<workload of one>", workload_of(job));
    put("<time>", format_time(world_->executor().now()));
    return parse_json(text).value();
  }

  void patch(std::string_view kind, std::string_view name, std::string_view subresource, Json body) {
    auto request = world_->request_for("", kind, kNamespace, name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = subresource;
    request.body = std::move(body);
    request.field_manager = "kueue-admission";
    const auto answer = world_->call(std::move(request));
    ASSERT_TRUE(answer.ok()) << to_string(answer.body);
  }

  // Creates the workload of job `one`, and starts the job as Kueue did.
  void leave(const Json& seen) {
    const Json one = job("one");
    Json workload = filled(array_at(seen, {"workloads"})[0], one);
    workload.as_object()["apiVersion"] = "kueue.x-k8s.io/v1beta2";
    workload.as_object()["kind"] = "Workload";
    make(workload);
    patch("Workload", workload_of(one), "status", JsonObject{{"status", *find(workload, "status")}});
    const Json& started = array_at(seen, {"jobs"})[0];
    Json change = JsonObject();
    ensure_path(change, {"spec", "suspend"}) = false;
    ensure_path(change, {"spec", "template"}) = filled(*find(started, "template"), one);
    patch("Job", "one", "", std::move(change));
  }

  Json workload(const std::string& name) {
    return world_->get("kueue.x-k8s.io/v1beta2", "Workload", kNamespace, name).value();
  }

  std::unique_ptr<simulate::World> world_;
  Json recording_;
};

TEST_F(Takeover, WhatKueueAdmittedRunsOnAndComesToItsEnd) {
  leave(play_until("it fits"));
  const std::string name = workload_of(job("one"));
  const Json before = workload(name);
  controller::Controller controller(world_->client(), world_->executor(), {});
  controller.lead();
  controller.start();
  world_->run_for(std::chrono::seconds(2));
  ASSERT_TRUE(controller.leading());
  EXPECT_EQ(job("one").at("spec").at("suspend"), Json(false));
  EXPECT_EQ(int_at(job("one"), {"status", "active"}), 3);
  const Json now = workload(name);
  EXPECT_TRUE(json_equal(*find(now, "spec"), *find(before, "spec")));
  EXPECT_TRUE(json_equal(*find_path(now, {"status", "admission"}), *find_path(before, {"status", "admission"})));
  for (const auto& [request, count] : controller.request_counts()) {
    EXPECT_THAT(request, testing::AnyOf("patch clusterqueues/status", "patch localqueues/status",
                                        "update workloads/status", "patch workloads/status", "patch clusterqueues",
                                        "patch resourceflavors", "create queues", "patch queues/status"))
        << "neither jobs nor workloads are touched, but for PodsReady; of Volcano's queues two always exist";
  }

  world_->run_for(std::chrono::minutes(1));
  EXPECT_EQ(int_at(job("one"), {"status", "succeeded"}), 3);
  const Json after = workload(name);
  EXPECT_EQ(string_at(after, {"metadata", "uid"}), string_at(before, {"metadata", "uid"})) << "the same workload";
  EXPECT_THAT(to_string(*find_path(after, {"status", "conditions"})), testing::HasSubstr("\"Finished\""));
}

}  // namespace
}  // namespace berth::install::takeover_test
