// The two admission rules for Volcano's objects: those of the embedded server, which sees each write, and those
// behind the controller's webhooks, which judge by its caches. Both ask the same ledger which workloads hold quota.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "api/status.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/world.h"

namespace berth::simulate::volcano_webhooks_test {
namespace {

using ::testing::HasSubstr;

Json yaml(std::string_view text) { return parse_yaml(text).value().at(0); }

Json queue(std::string_view name, std::string_view spec) {
  Json object = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue}");
  ensure_path(object, {"metadata", "name"}) = name;
  ensure_path(object, {"spec"}) = yaml(spec);
  return object;
}
Json group(std::string_view name, std::string_view queue) {
  return yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {namespace: default, name: " +
              std::string(name) + "}, spec: {minMember: 1, minResources: {cpu: 1}, queue: " + std::string(queue) +
              "}}");
}
Json vcjob(std::string_view queue) {
  return yaml(
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {namespace: default, name: j}, spec: {queue: " +
      std::string(queue) + ", tasks: [{replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}]}}");
}

// Drops the patches that would show the server that a PodGroup was admitted: its phase and the status of its queue.
class Silent final : public api::RestClient {
 public:
  explicit Silent(api::RestClient& server) : server_(server) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    const bool reports = request.resource.resource == "podgroups" || request.subresource == "status";
    if (request.verb == api::Verb::kPatch && request.resource.group == "scheduling.volcano.sh" && reports) return;
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  api::RestClient& server_;
};

class VolcanoWebhooks : public testing::Test {
 protected:
  static WorldOptions silent() {
    WorldOptions options;
    options.between = [](api::RestClient& server, Executor&) { return std::make_unique<Silent>(server); };
    return options;
  }
  void start(WorldOptions options = {}) {
    world_ = World::make(options).value();
    world_->run_for(std::chrono::seconds(5));
  }
  void have(Json object) {
    const auto made = world_->create(std::move(object));
    ASSERT_TRUE(made) << made.error().message;
    world_->run_for(std::chrono::seconds(5));
  }
  std::pair<std::string, std::string> resource_of(const Json& object) {
    const auto request = world_->request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}), "", "");
    return {request->resource.group, request->resource.resource};
  }
  // "" when the embedded server would accept the creation, otherwise its message. A dry run.
  std::string at_the_server(const Json& object) {
    auto request = *world_->request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}), "", "");
    request.verb = api::Verb::kCreate;
    request.dry_run = true;
    request.body = object;
    const auto response = world_->call(std::move(request));
    return response.ok() ? "" : std::string(api::status_message(response));
  }
  std::string at_the_controller(Json object) {
    const auto [api_group, resource] = resource_of(object);
    const auto rules = world_->controller().volcano_rules(api_group, resource);
    const api::kueue::ObjectGetter get = [this](const auto& gvr, std::string_view ns, std::string_view name) {
      return world_->controller().find(gvr, ns, name);
    };
    const api::kueue::AdmissionPolicy policy;
    rules.mutate(object, {get, policy});
    return api::to_string(rules.check(object, nullptr, "", {get, policy}));
  }
  void expect_refused(const Json& object, const std::string& why) {
    EXPECT_THAT(at_the_controller(object), HasSubstr(why)) << to_string(object);
    EXPECT_THAT(at_the_server(object), HasSubstr(at_the_controller(object)));
  }
  void expect_allowed(const Json& object) {
    EXPECT_EQ(at_the_controller(object), "") << to_string(object);
    EXPECT_EQ(at_the_server(object), "") << to_string(object);
  }

  std::unique_ptr<World> world_;
};

TEST_F(VolcanoWebhooks, JudgeAsTheServerDoesInProcess) {
  start();
  have(queue("team", "{deserved: {cpu: 4}}"));
  have(queue("leaf", "{parent: team, deserved: {cpu: 2}}"));
  have(queue("busy", "{}"));
  have(group("g", "busy"));
  expect_allowed(queue("q", "{parent: team, deserved: {cpu: 2}}"));
  expect_refused(queue("q", "{parent: team, deserved: {cpu: 3}}"), "more than its own 4");
  expect_refused(queue("q", "{parent: nobody}"), "there is no queue nobody");
  expect_refused(queue("q", "{parent: busy}"), "queue busy cannot become the parent of queue q while");
  expect_refused(queue("q", "{guarantee: {resource: {cpu: 1}}}"), "spec.deserved.cpu");
  for (const auto& work : {&vcjob, +[](std::string_view name) { return group("h", name); }}) {
    expect_allowed(work("leaf"));
    expect_refused(work("team"), "queue team has 1 child queue(s) and takes no work itself");
    expect_refused(work("nobody"), "there is no queue nobody");
    expect_refused(work("root"), "the queue root takes no work itself");
  }
  const auto remove = world_->controller().volcano_rules("scheduling.volcano.sh", "queues").remove;
  const api::kueue::ObjectGetter nothing = [](auto&&...) { return nullptr; };
  EXPECT_EQ(remove(queue("team", "{}"), {nothing, {}}).error().message,
            "queue team cannot be deleted: it has 1 child queue(s): leaf. Delete or move them first");
}

// An admission counts once it is decided, before it is written. Otherwise a queue could become a parent in between.
TEST_F(VolcanoWebhooks, KnowWhoHoldsQuotaBeforeAnythingIsWritten) {
  start(silent());
  have(queue("busy", "{}"));
  expect_allowed(queue("q", "{parent: busy}"));
  have(group("g", "busy"));
  const Json unwritten = world_->get("scheduling.volcano.sh/v1beta1", "PodGroup", "default", "g").value();
  EXPECT_NE(string_at(unwritten, {"status", "phase"}), "Inqueue") << "nobody could tell";
  expect_refused(queue("q", "{parent: busy}"), "while 1 workload holds quota in it");
}

TEST_F(VolcanoWebhooks, FollowTheConfiguration) {
  WorldOptions options = silent();
  options.volcano.admission.count_reservations = false;
  start(options);
  have(queue("busy", "{}"));
  have(group("g", "busy"));
  expect_allowed(queue("q", "{parent: busy}"));
}

TEST_F(VolcanoWebhooks, SayNothingWhenVolcanosPartIsOff) {
  WorldOptions options;
  options.volcano.enabled = false;
  start(options);
  for (const char* resource : {"queues", "podgroups"}) {
    const auto rules = world_->controller().volcano_rules("scheduling.volcano.sh", resource);
    EXPECT_FALSE(rules.mutate || rules.check || rules.remove) << resource;
  }
  EXPECT_EQ(world_->controller().volcano_holders("default"), 0u);
  EXPECT_EQ(at_the_server(queue("q", "{parent: nobody}")), "");
}

}  // namespace
}  // namespace berth::simulate::volcano_webhooks_test
