// The embedded server's admission of Volcano's objects, with the messages that kubectl and vcctl show. The verdicts
// are those of Volcano's webhooks, except where Berth is stricter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/config/configuration.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/yaml.h"
#include "embedded/simulate/world.h"

namespace berth::simulate::volcano_admission_test {
namespace {

using ::testing::HasSubstr;

Json yaml(std::string_view text) { return parse_yaml(text).value().at(0); }

WorldOptions without_controller() {
  WorldOptions options;
  options.controller = false;
  return options;
}

class VolcanoAdmission : public testing::Test {
 protected:
  explicit VolcanoAdmission(const WorldOptions& options = without_controller()) : world_(World::make(options).value()) {
    EXPECT_EQ(queue("root", "{reclaimable: false}"), "");
    EXPECT_EQ(queue("default"), "");
  }

  // "" on success, otherwise the server's message.
  static std::string outcome(const api::RestResponse& response) {
    return response.ok() ? "" : std::string(api::status_message(response));
  }
  std::string create(Json object) {
    const auto created = world_->create(std::move(object));
    return created ? "" : created.error().message;
  }
  std::string queue(std::string_view name, std::string_view spec = "{}") {
    Json object = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue}");
    ensure_path(object, {"metadata", "name"}) = name;
    ensure_path(object, {"spec"}) = yaml(spec);
    return create(std::move(object));
  }
  std::string child(std::string_view name, std::string_view parent) {
    return queue(name, "{parent: " + std::string(parent) + "}");
  }
  std::string patch(const api::GroupVersionResource& what, std::string_view name, std::string_view merge,
                    std::string_view subresource = "", std::string_view ns = "") {
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.resource = what;
    request.ns = ns;
    request.name = name;
    request.subresource = subresource;
    request.body = yaml(merge);
    return outcome(world_->call(std::move(request)));
  }
  std::string set_status(std::string_view name, std::string_view status) {
    return patch(api::kVolcanoQueues, name, "{status: " + std::string(status) + "}", "status");
  }
  api::RestResponse remove(std::string_view name) {
    api::RestRequest request;
    request.verb = api::Verb::kDelete;
    request.resource = api::kVolcanoQueues;
    request.name = name;
    return world_->call(std::move(request));
  }
  std::string group(std::string_view name, std::string_view queue) {
    return create(yaml(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {namespace: default, name: " +
        std::string(name) + "}, spec: {minMember: 1, minResources: {cpu: 1}, queue: " + std::string(queue) + "}}"));
  }
  std::string vcjob(std::string_view name, std::string_view queue) {
    return create(yaml("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {namespace: default, name: " +
                       std::string(name) + "}, spec: {queue: " + std::string(queue) +
                       ", tasks: [{replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}]}}"));
  }

  std::unique_ptr<World> world_;
};

// The rules about spec.parent, in the order in which they are checked.
TEST_F(VolcanoAdmission, AParentThatIsEmptyOrRootIsFine) {
  EXPECT_EQ(queue("a"), "");
  EXPECT_EQ(child("b", "root"), "");
}

TEST_F(VolcanoAdmission, AQueueIsNotItsOwnParentAndItsParentExists) {
  EXPECT_THAT(child("a", "a"), HasSubstr("queue a cannot be its own parent"));
  EXPECT_THAT(child("a", "nobody"), HasSubstr("there is no queue nobody"));
}

TEST_F(VolcanoAdmission, ATreeIsFiveLevelsDeepAtMost) {
  EXPECT_EQ(queue("l1"), "");
  for (int level = 2; level <= 5; ++level)
    EXPECT_EQ(child("l" + std::to_string(level), "l" + std::to_string(level - 1)), "");
  EXPECT_THAT(child("l6", "l5"), HasSubstr("would be at level 6 below root, the limit is 5"));
  // The queues below the moved queue count too.
  EXPECT_EQ(queue("m1"), "");
  EXPECT_EQ(child("m2", "m1"), "");
  EXPECT_THAT(patch(api::kVolcanoQueues, "m1", "{spec: {parent: l4}}"), HasSubstr("would reach down to level 6"));
  EXPECT_EQ(patch(api::kVolcanoQueues, "m1", "{spec: {parent: l3}}"), "");
}

TEST_F(VolcanoAdmission, ABusyQueueWithoutChildrenDoesNotBecomeAParent) {
  EXPECT_EQ(queue("team"), "");
  EXPECT_EQ(set_status("team", "{allocated: {cpu: 1, pods: 1}}"), "");
  EXPECT_THAT(child("first", "team"),
              HasSubstr("queue team cannot become the parent of queue first while 1 pod is allocated in it"));
  EXPECT_EQ(set_status("team", "{allocated: {cpu: 0, pods: 0}}"), "");
  EXPECT_EQ(child("first", "team"), "");
}

TEST_F(VolcanoAdmission, AParentAcceptsAnotherChildWhateverRunsBelowIt) {
  EXPECT_EQ(queue("tenant-a"), "");
  EXPECT_EQ(child("q1", "tenant-a"), "");
  EXPECT_EQ(set_status("q1", "{allocated: {cpu: 4, pods: 4}}"), "");
  EXPECT_EQ(set_status("tenant-a", "{allocated: {cpu: 4, pods: 4}}"), "");
  EXPECT_EQ(child("q2", "tenant-a"), "");
}

// Stricter than Volcano: an admitted PodGroup counts before any of its pods runs.
TEST_F(VolcanoAdmission, AReservationMakesAQueueBusy) {
  EXPECT_EQ(queue("team"), "");
  EXPECT_EQ(group("g", "team"), "");
  EXPECT_EQ(patch(api::kPodGroups, "g", "{status: {phase: Pending}}", "", "default"), "");
  EXPECT_EQ(patch(api::kPodGroups, "g", "{status: {phase: Inqueue}}", "", "default"), "");
  EXPECT_THAT(child("first", "team"), HasSubstr("while 1 workload holds quota in it"));
  EXPECT_EQ(patch(api::kPodGroups, "g", "{status: {phase: Completed}}", "", "default"), "");
  EXPECT_EQ(child("first", "team"), "");
}

TEST_F(VolcanoAdmission, AQueueDoesNotMoveBelowItself) {
  EXPECT_EQ(queue("a"), "");
  EXPECT_EQ(child("b", "a"), "");
  EXPECT_EQ(child("c", "b"), "");
  EXPECT_THAT(patch(api::kVolcanoQueues, "a", "{spec: {parent: c}}"), HasSubstr("queue c is below queue a"));
  // The refused change had no effect.
  EXPECT_EQ(patch(api::kVolcanoQueues, "c", "{spec: {parent: a}}"), "");
}

TEST_F(VolcanoAdmission, ADryRunLeavesNothingBehind) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = api::kVolcanoQueues;
  request.dry_run = true;
  request.body = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: ghost}, spec: {}}");
  EXPECT_EQ(outcome(world_->call(std::move(request))), "");
  EXPECT_THAT(child("a", "ghost"), HasSubstr("there is no queue ghost"));
}

TEST_F(VolcanoAdmission, AmountsStayWithinThoseAround) {
  EXPECT_EQ(queue("team", "{capability: {cpu: 10}, deserved: {cpu: 8}, guarantee: {resource: {cpu: 8}}}"), "");
  EXPECT_EQ(queue("one", "{parent: team, deserved: {cpu: 5}, guarantee: {resource: {cpu: 5}}}"), "");
  EXPECT_THAT(queue("two", "{parent: team, deserved: {cpu: 4}, guarantee: {resource: {cpu: 4}}}"),
              HasSubstr("guarantee"));
  EXPECT_THAT(queue("two", "{parent: team, deserved: {cpu: 4}}"), HasSubstr("deserved"));
  EXPECT_THAT(queue("two", "{parent: team, capability: {cpu: 20}}"), HasSubstr("capability"));
  EXPECT_THAT(patch(api::kVolcanoQueues, "team", "{spec: {deserved: {cpu: 4}, guarantee: {resource: {cpu: 4}}}}"),
              HasSubstr("guarantee"));
  EXPECT_EQ(queue("two", "{parent: team, capability: {cpu: 10}, deserved: {cpu: 3}, guarantee: {resource: {cpu: 3}}}"),
            "");
}

TEST_F(VolcanoAdmission, AmountsAreQuantitiesInTheirOrder) {
  EXPECT_THAT(queue("a", "{capability: {cpu: ten}}"), HasSubstr("spec.capability"));
  EXPECT_THAT(queue("a", "{capability: {cpu: -10}}"), HasSubstr("spec.capability"));
  EXPECT_THAT(queue("a", "{deserved: {cpu: -5}}"), HasSubstr("spec.deserved"));
  EXPECT_THAT(queue("a", "{guarantee: {resource: {cpu: -2}}}"), HasSubstr("spec.guarantee"));
  EXPECT_THAT(queue("a", "{guarantee: {resource: {cpu: 2}}}"), HasSubstr("deserved")) << "a missing one is 0";
  EXPECT_THAT(queue("a", "{capability: {cpu: 2}, deserved: {cpu: 3}}"), HasSubstr("deserved"));
  EXPECT_THAT(queue("a", "{capability: {example.com/gpu: 500m}}"), HasSubstr("spec.capability"));
}

TEST_F(VolcanoAdmission, QueuesAreFilledIn) {
  ASSERT_EQ(queue("a"), "");
  const Json made = world_->get("scheduling.volcano.sh/v1beta1", "Queue", "", "a").value();
  EXPECT_EQ(int_at(made, {"spec", "weight"}), 1);
  EXPECT_TRUE(bool_at(made, {"spec", "reclaimable"}));
}

TEST_F(VolcanoAdmission, RootIsProtected) {
  EXPECT_THAT(patch(api::kVolcanoQueues, "root", "{spec: {capability: {cpu: 1}}}"),
              HasSubstr("of the queue root cannot be changed"));
}

TEST_F(VolcanoAdmission, DeletionSparesParentsAndTheQueuesThatAlwaysExist) {
  EXPECT_EQ(queue("a"), "");
  EXPECT_EQ(child("b", "a"), "");
  EXPECT_THAT(outcome(remove("root")), HasSubstr("queue root cannot be deleted"));
  EXPECT_THAT(outcome(remove("default")), HasSubstr("queue default cannot be deleted"));
  const auto refused = remove("a");
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(outcome(refused), HasSubstr("it has 1 child queue(s): b. Delete or move them first"));
  EXPECT_EQ(outcome(remove("b")), "");
  EXPECT_EQ(outcome(remove("a")), "");
  EXPECT_THAT(child("c", "a"), HasSubstr("there is no queue a")) << "it is forgotten at once";
}

TEST_F(VolcanoAdmission, ACollectionIsDeletedAsFarAsItMay) {
  EXPECT_EQ(queue("a"), "");
  EXPECT_EQ(child("b", "a"), "");
  api::RestRequest all;
  all.verb = api::Verb::kDeleteCollection;
  all.resource = api::kVolcanoQueues;
  EXPECT_EQ(world_->call(all).code, 403);
  EXPECT_TRUE(world_->get("scheduling.volcano.sh/v1beta1", "Queue", "", "a"));
}

TEST_F(VolcanoAdmission, QueuesGoWithTheirDefinition) {
  api::RestRequest request;
  request.verb = api::Verb::kDelete;
  request.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  request.name = "queues.scheduling.volcano.sh";
  EXPECT_EQ(outcome(world_->call(request)), "");
  world_->run_for(std::chrono::seconds(5));
  request.verb = api::Verb::kGet;
  EXPECT_EQ(world_->call(request).code, 404) << "root and default kept it";
}

TEST_F(VolcanoAdmission, WorkNamesAnOpenLeaf) {
  EXPECT_EQ(queue("team"), "");
  EXPECT_EQ(child("leaf", "team"), "");
  EXPECT_EQ(child("shut", "team"), "");
  EXPECT_EQ(set_status("shut", "{state: Closed}"), "");
  EXPECT_EQ(group("g", "leaf"), "");
  EXPECT_EQ(vcjob("j", "leaf"), "");
  EXPECT_EQ(vcjob("k", "default"), "");
  for (const bool job : {false, true}) {
    const auto ask = [&](std::string_view queue) { return job ? vcjob("x", queue) : group("x", queue); };
    EXPECT_THAT(ask("nobody"), HasSubstr("there is no queue nobody"));
    EXPECT_THAT(ask("shut"), HasSubstr("queue shut is Closed: open it first"));
    EXPECT_THAT(ask("team"), HasSubstr("queue team has 2 child queue(s) and takes no work itself"));
    EXPECT_THAT(ask("root"), HasSubstr("the queue root takes no work itself"));
  }
}

TEST_F(VolcanoAdmission, ANamespaceNamesTheQueueOfItsGroups) {
  EXPECT_EQ(queue("research"), "");
  EXPECT_EQ(create(yaml("{apiVersion: v1, kind: Namespace, metadata: {name: lab, annotations: "
                        "{scheduling.volcano.sh/queue-name: research}}}")),
            "");
  EXPECT_EQ(
      create(yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {namespace: lab, name: g}, "
                  "spec: {minMember: 1}}")),
      "");
  EXPECT_EQ(string_at(world_->get("scheduling.volcano.sh/v1beta1", "PodGroup", "lab", "g").value(), {"spec", "queue"}),
            "research");
}

TEST_F(VolcanoAdmission, AJobKeepsItsQueue) {
  EXPECT_EQ(queue("other"), "");
  EXPECT_EQ(vcjob("j", "default"), "");
  EXPECT_THAT(patch(api::kVolcanoJobs, "j", "{spec: {queue: other}}", "", "default"), HasSubstr("spec"));
}

// --- With other settings in the Configuration.

WorldOptions configured(std::string_view text) {
  WorldOptions options = without_controller();
  const std::string head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nvolcano: ";
  options.volcano = api::config::read_configuration(head + std::string(text), "test").value().volcano;
  return options;
}

class VolcanosWay : public VolcanoAdmission {
 protected:
  VolcanosWay()
      : VolcanoAdmission(configured("{admission: {maxQueueDepth: 3, cycleCheck: false, subtreeDepthCheck: false, "
                                    "reservationsCheck: false, podGroupLeafCheck: false}}")) {}
};

TEST_F(VolcanosWay, LetsInWhatItsWebhooksLetIn) {
  EXPECT_EQ(queue("team"), "");
  EXPECT_EQ(group("g", "team"), "");
  EXPECT_EQ(patch(api::kPodGroups, "g", "{status: {phase: Inqueue}}", "", "default"), "");
  EXPECT_EQ(child("leaf", "team"), "") << "reservations";
  EXPECT_EQ(group("h", "team"), "") << "not a leaf";
  EXPECT_EQ(child("deep", "leaf"), "");
  EXPECT_THAT(child("deeper", "deep"), HasSubstr("would be at level 4 below root, the limit is 3"));
  EXPECT_EQ(queue("other"), "");
  EXPECT_EQ(patch(api::kVolcanoQueues, "team", "{spec: {parent: other}}"), "") << "deep is at level 4 now";
  EXPECT_EQ(patch(api::kVolcanoQueues, "other", "{spec: {parent: team}}"), "") << "a circle";
}

class VolcanoIsOff : public VolcanoAdmission {
 protected:
  VolcanoIsOff() : VolcanoAdmission(configured("{enabled: false}")) {}
};

TEST_F(VolcanoIsOff, NobodyJudges) {
  EXPECT_EQ(child("a", "a"), "");
  EXPECT_EQ(group("g", "nobody"), "");
  EXPECT_EQ(vcjob("j", "nobody"), "");
  EXPECT_EQ(outcome(remove("default")), "");
  EXPECT_EQ(create(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}")), "");
  const Json flavor = world_->get("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "", "f").value();
  EXPECT_FALSE(array_at(flavor, {"metadata", "finalizers"}).empty()) << "Kueue's kinds are looked at all the same";
}

}  // namespace
}  // namespace berth::simulate::volcano_admission_test
