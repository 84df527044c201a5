// Invalid Volcano queues on a whole cluster: what the schema, the admission rules and the controller answer. One
// invalid queue does not stop the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::volcano_bad_input_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kScheduling = "scheduling.volcano.sh/v1beta1";

class VolcanoBadInput : public testing::Test {
 protected:
  void make(bool admission_state) {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.webhooks = admission_state;
    world_ = simulate::World::make(options).value();
    pass();
  }
  void pass() { world_->run_for(std::chrono::seconds(10)); }
  std::string write(std::string_view kind, std::string_view name, std::string_view spec) {
    Json object = JsonObject{{"apiVersion", kScheduling}, {"kind", kind}};
    ensure_path(object, {"metadata", "name"}) = name;
    ensure_path(object, {"spec"}) = parse_yaml(spec).value().at(0);
    const auto written = world_->apply(std::move(object));
    return written ? "" : written.error().message;
  }
  std::string queue(std::string_view name, std::string_view spec = "{}") { return write("Queue", name, spec); }
  std::string group(std::string_view name, std::string_view queue, int cpu) {
    return write("PodGroup", name,
                 "{minMember: 1, minResources: {cpu: " + std::to_string(cpu) + "}, queue: " + std::string(queue) + "}");
  }
  void order(const std::string& name, const std::string& action, const std::string& queue) {
    const auto made = world_->create(
        parse_yaml("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: " + name +
                   ", namespace: default}, action: " + action + ", target: {apiVersion: " + std::string(kScheduling) +
                   ", kind: Queue, uid: '', name: " + queue + "}}")
            .value()
            .at(0));
    EXPECT_TRUE(made) << made.error().message;
    pass();
    EXPECT_TRUE(list_all(*world_, "bus.volcano.sh/v1alpha1", "Command").empty()) << "taken up and deleted";
  }
  Json get(std::string_view kind, std::string_view name) {
    return world_->get(kScheduling, kind, kind == "Queue" ? "" : "default", name).value_or(Json());
  }
  std::string state(std::string_view name) { return std::string(string_at(get("Queue", name), {"status", "state"})); }
  std::string phase(std::string_view name) {
    return std::string(string_at(get("PodGroup", name), {"status", "phase"}));
  }
  std::string refusal(std::string_view group) {
    const Json object = get("PodGroup", group);
    for (const auto& condition : array_at(object, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == "Unschedulable") return std::string(string_at(condition, {"message"}));
    }
    return "none";
  }

  std::unique_ptr<simulate::World> world_;
};

TEST_F(VolcanoBadInput, TheSchemaNamesTheFieldThatIsNoneOfItsKind) {
  make(true);
  EXPECT_THAT(queue("q", "{weight: -1}"), HasSubstr("spec.weight"));
  EXPECT_THAT(queue("q", "{weight: 70000}"), HasSubstr("spec.weight"));
  EXPECT_THAT(queue("q", "{priority: -1}"), HasSubstr("spec.priority"));
  EXPECT_THAT(queue("q", "{parent: 7}"), HasSubstr("spec.parent"));
  EXPECT_THAT(queue("q", "{parent: Not_A_Name}"), HasSubstr("spec.parent"));
  EXPECT_THAT(queue("q", "{dequeueStrategy: lifo}"), HasSubstr("spec.dequeueStrategy"));
  EXPECT_THAT(queue("q", "{capability: [1]}"), HasSubstr("spec.capability"));
  EXPECT_THAT(queue("q", "{capability: {cpu: true}}"), HasSubstr("spec.capability.cpu"));
  EXPECT_THAT(queue("q", "{deserved: {cpu: 1.5.2}}"), HasSubstr("spec.deserved.cpu"));
  EXPECT_THAT(queue("q", "{guarantee: {resource: {memory: 1Qi}}}"), HasSubstr("spec.guarantee.resource.memory"));
  EXPECT_EQ(queue("q"), "") << "nothing of that was kept";
}

TEST_F(VolcanoBadInput, AChangeIsJudgedAsACreationIs) {
  make(true);
  ASSERT_EQ(queue("top", "{capability: {cpu: 8}, deserved: {cpu: 8}}"), "");
  ASSERT_EQ(queue("q", "{parent: top, deserved: {cpu: 4}}"), "");
  EXPECT_THAT(queue("q", "{deserved: {cpu: -4}}"), HasSubstr("must be greater than or equal to 0"));
  EXPECT_THAT(queue("q", "{deserved: {cpu: 9}}"), HasSubstr("more than its own 8"));
  EXPECT_THAT(queue("q", "{capability: {cpu: 9}}"), HasSubstr("ancestor top, which has 8"));
  EXPECT_THAT(queue("q", "{parent: q}"), HasSubstr("cannot be its own parent"));
  EXPECT_THAT(queue("q", "{parent: nobody}"), HasSubstr("there is no queue nobody"));
  EXPECT_THAT(queue("top", "{parent: q}"), HasSubstr("queue q is below queue top"));
  EXPECT_EQ(int_at(get("Queue", "q"), {"spec", "deserved", "cpu"}), 4);
}

// As in Volcano, a closed parent accepts new children, and these are closed too.
TEST_F(VolcanoBadInput, BelowAClosedParentAChildIsClosedAndTakesNoWork) {
  make(true);
  ASSERT_EQ(queue("top"), "");
  order("close", "CloseQueue", "top");
  ASSERT_EQ(state("top"), "Closed");
  ASSERT_EQ(queue("child", "{parent: top}"), "");
  pass();
  EXPECT_EQ(state("child"), "Closed");
  EXPECT_EQ(string_at(get("Queue", "child"), {"metadata", "annotations", "volcano.sh/closed-by-parent"}), "true");
  EXPECT_THAT(group("g", "child", 1), HasSubstr("queue child is Closed: open it first"));
  order("open", "OpenQueue", "child");
  EXPECT_EQ(state("child"), "Closed") << "its parent comes first";
}

TEST_F(VolcanoBadInput, OrdersThatCannotBeFollowedChangeNothingAndAreReported) {
  make(true);
  ASSERT_EQ(queue("q"), "");
  pass();
  order("burn", "BurnQueue", "q");
  order("close-root", "CloseQueue", "root");
  order("close-nobody", "CloseQueue", "nobody");
  EXPECT_EQ(state("q"), "Open");
  EXPECT_EQ(state("root"), "Open");
  std::string reported;
  for (const Json& event : list_all(*world_, "events.k8s.io/v1", "Event"))
    reported += std::string(string_at(event, {"note"})) + "\n";
  EXPECT_THAT(reported, HasSubstr("\"BurnQueue\" cannot be done to queue q"));
  EXPECT_THAT(reported, HasSubstr("queue root cannot be closed"));
}

// Without admission rules: cycles, missing parents, children with more than their parent, negative amounts, PodGroups
// in parent queues.
TEST_F(VolcanoBadInput, OneBadQueueDoesNotStopTheOthers) {
  make(false);
  ASSERT_EQ(queue("good", "{capability: {cpu: 4}}"), "");
  ASSERT_EQ(queue("a", "{parent: b}"), "");
  ASSERT_EQ(queue("b", "{parent: a}"), "");
  ASSERT_EQ(queue("self", "{parent: self}"), "");
  ASSERT_EQ(queue("orphan", "{parent: nobody}"), "");
  ASSERT_EQ(queue("mean", "{capability: {cpu: 1}, deserved: {cpu: 1}}"), "");
  ASSERT_EQ(
      queue("greedy", "{parent: mean, capability: {cpu: 9}, deserved: {cpu: 9}, guarantee: {resource: {cpu: 9}}}"), "");
  ASSERT_EQ(queue("negative", "{deserved: {cpu: -9}, guarantee: {resource: {cpu: -9}}}"), "");
  for (const char* name : {"good", "a", "self", "orphan", "mean", "nobody", "negative"})
    ASSERT_EQ(group(name, name, 2), "");
  pass();
  EXPECT_EQ(phase("good"), "Inqueue");
  EXPECT_EQ(phase("negative"), "Inqueue");
  EXPECT_EQ(phase("a"), "Pending");
  EXPECT_THAT(refusal("a"), HasSubstr("run in a circle"));
  EXPECT_THAT(refusal("self"), HasSubstr("run in a circle"));
  EXPECT_THAT(refusal("orphan"), HasSubstr("lead to queue nobody, which does not exist"));
  EXPECT_THAT(refusal("mean"), HasSubstr("has 1 child queue(s) and takes no work itself"));
  EXPECT_THAT(refusal("nobody"), HasSubstr("there is no queue nobody"));
  // Each queue can be corrected separately.
  ASSERT_EQ(queue("b", "{parent: root}"), "");
  ASSERT_EQ(queue("nobody"), "");
  pass();
  EXPECT_EQ(phase("orphan"), "Inqueue");
  EXPECT_EQ(phase("a"), "Inqueue");
  EXPECT_EQ(phase("self"), "Pending");
}

}  // namespace
}  // namespace berth::simulation::volcano_bad_input_test
