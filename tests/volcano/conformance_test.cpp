// Volcano's own scenarios of queue admission, with their names and verdicts in Volcano's tests, run through all steps
// of admission: defaults, checks of the object, checks against other objects. Where Berth is stricter on purpose, a
// scenario occurs twice, the second time with the option that gives Volcano's verdict.
#include <gmock/gmock.h>

#include "base/yaml.h"
#include "volcano/admission_rules.h"
#include "volcano/support.h"

namespace berth::volcano::conformance_test {
namespace {

enum class Ask : std::uint8_t { kCreate, kUpdate, kDelete };
using Switch = void (*)(AdmissionOptions&);

struct Scenario {
  const char* name;
  std::vector<const char*> queues;  // the present queues
  Ask ask;
  const char* object;   // the queue; for kDelete the name of the queue
  const char* refused;  // a part of the message; "": admitted
  Switch options = nullptr;
  std::vector<const char*> holders = {};  // queues in which a workload holds quota before any pod runs
};
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

class VolcanoScenarios : public ::testing::TestWithParam<Scenario> {
 protected:
  std::string verdict() {
    const Scenario& scenario = GetParam();
    std::map<std::string, Json, std::less<>> objects;
    for (const char* text : scenario.queues) {
      Json object = yaml(text);
      const std::string name(string_at(object, {"metadata", "name"}));
      forest_.set(testing::pointer(*api::volcano::decode_queue(object)));
      objects[name] = std::move(object);
    }
    AdmissionOptions options;
    if (scenario.options != nullptr) scenario.options(options);
    const auto admission = std::make_shared<const Admission>(forest_, options, [&](std::string_view queue) {
      return static_cast<std::size_t>(std::ranges::count(scenario.holders, queue));
    });
    if (scenario.ask == Ask::kDelete) {
      const auto removed = admission->remove(scenario.object);
      return removed ? "" : removed.error().message;
    }
    Json object = yaml(scenario.object);
    const auto rules = admission_rules("scheduling.volcano.sh", "queues", admission);
    const api::kueue::AdmissionContext context{[](const auto&, auto, auto) { return JsonPtr(); }, {}};
    const Json* old = nullptr;
    if (scenario.ask == Ask::kUpdate) {
      old = &objects.at(std::string(string_at(object, {"metadata", "name"})));
    } else {
      rules.mutate(object, context);
    }
    return to_string(rules.check(object, old, "", context));
  }

 private:
  QueueForest forest_;
};

TEST_P(VolcanoScenarios, HasItsVerdict) {
  const std::string said = verdict();
  if (*GetParam().refused == '\0') {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_THAT(said, ::testing::HasSubstr(GetParam().refused));
  }
}

std::string name_of_scenario(const ::testing::TestParamInfo<Scenario>& info) { return info.param.name; }

const std::vector<Scenario> kAdmitHierarchicalQueues{
    {"QueueCannotUseItselfAsParent",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {parent: q}}",
     "queue q cannot be its own parent"},
    {"ParentQueueHasJobs",
     {"{metadata: {name: parent}, spec: {parent: root}, status: {allocated: {pods: 1}}}"},
     Ask::kCreate,
     "{metadata: {name: child}, spec: {parent: parent}}",
     "1 pod is allocated in it"},
    {"ParentQueueHasNoJobs",
     {"{metadata: {name: parent}, spec: {parent: root}, status: {allocated: {pods: \"0\"}}}"},
     Ask::kCreate,
     "{metadata: {name: child}, spec: {parent: parent}}",
     ""},
    {"ParentQueueHasNoJobsButAReservation",
     {"{metadata: {name: parent}, spec: {parent: root}}"},
     Ask::kCreate,
     "{metadata: {name: child}, spec: {parent: parent}}",
     "1 workload holds quota in it",
     nullptr,
     {"parent"}},
    {"ParentQueueHasNoJobsButAReservationAsInVolcano",
     {"{metadata: {name: parent}, spec: {parent: root}}"},
     Ask::kCreate,
     "{metadata: {name: child}, spec: {parent: parent}}",
     "",
     [](AdmissionOptions& options) { options.count_reservations = false; },
     {"parent"}},
    {"ParentQueueHasChildWithJobs",
     {"{metadata: {name: parent}, spec: {parent: root}, status: {allocated: {pods: 1}}}",
      "{metadata: {name: a}, spec: {parent: parent}, status: {allocated: {pods: 1}}}"},
     Ask::kCreate,
     "{metadata: {name: b}, spec: {parent: parent}}",
     "",
     nullptr,
     {"a"}},
    {"DeleteQueueWithChildQueue",
     {"{metadata: {name: parent}}", "{metadata: {name: child}, spec: {parent: parent}}"},
     Ask::kDelete,
     "parent",
     "it has 1 child queue(s): child"},
    {"DeleteQueueWithAllocatedPods",
     {"{metadata: {name: q}, status: {allocated: {pods: 1}}}"},
     Ask::kDelete,
     "q",
     "1 pod is allocated in it",
     [](AdmissionOptions& options) { options.delete_only_unallocated = true; }},
    {"DeleteQueueWithoutChildQueue",
     {"{metadata: {name: q}}"},
     Ask::kDelete,
     "q",
     "",
     [](AdmissionOptions& options) { options.delete_only_unallocated = true; }},
    {"ChildCapabilityExceedsParentCapability",
     {"{metadata: {name: parent}, spec: {capability: {cpu: 10}}}"},
     Ask::kCreate,
     "{metadata: {name: child}, spec: {parent: parent, capability: {cpu: 20}}}",
     "ancestor parent, which has 10"},
    {"SiblingsGuaranteeSumExceedsParentGuarantee",
     {"{metadata: {name: parent}, spec: {deserved: {cpu: 8, memory: 16Gi}, guarantee: {resource: {cpu: 8, "
      "memory: "
      "16Gi}}}}",
      "{metadata: {name: sibling}, spec: {parent: parent, deserved: {cpu: 2, memory: 4Gi}, guarantee: "
      "{resource: {cpu: "
      "2, memory: 4Gi}}}}"},
     Ask::kCreate,
     "{metadata: {name: new}, spec: {parent: parent, deserved: {cpu: 7, memory: 14Gi}, guarantee: {resource: "
     "{cpu: 7, "
     "memory: 14Gi}}}}",
     "guarantee cpu of the children of queue parent is 9, more than its own 8"},
    {"ParentCapabilityLessThanChildCapabilityOnUpdate",
     {"{metadata: {name: parent}, spec: {capability: {cpu: 20}}}",
      "{metadata: {name: child}, spec: {parent: parent, capability: {cpu: 12}}}"},
     Ask::kUpdate,
     "{metadata: {name: parent}, spec: {capability: {cpu: 10}}}",
     "descendant child, which has 12"},
    {"SumOfChildrensGuaranteeExceedsParentGuaranteeOnUpdate",
     {"{metadata: {name: parent}, spec: {deserved: {cpu: 15}, guarantee: {resource: {cpu: 15}}}}",
      "{metadata: {name: a}, spec: {parent: parent, deserved: {cpu: 8}, guarantee: {resource: {cpu: 8}}}}",
      "{metadata: {name: b}, spec: {parent: parent, deserved: {cpu: 5}, guarantee: {resource: {cpu: 5}}}}"},
     Ask::kUpdate,
     "{metadata: {name: parent}, spec: {deserved: {cpu: 15}, guarantee: {resource: {cpu: 10}}}}",
     "the guarantee cpu of the children of queue parent is 13 together"},
    {"UpdateQueueWithEmptyParentShouldValidateChildConstraints",
     {"{metadata: {name: top}, spec: {capability: {cpu: 100}}}",
      "{metadata: {name: child}, spec: {parent: top, capability: {cpu: 50}}}"},
     Ask::kUpdate,
     "{metadata: {name: top}, spec: {parent: \"\", capability: {cpu: 30}}}",
     "descendant child, which has 50"},
    {"NegativeCapability",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {capability: {cpu: -10}}}",
     "spec.capability.cpu: Invalid value: -10: must be greater than or equal to 0"},
    {"NegativeDeserved",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {deserved: {cpu: -5}}}",
     "spec.deserved.cpu: Invalid value: -5: must be greater than or equal to 0"},
    {"NegativeGuarantee",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {guarantee: {resource: {cpu: -2}}}}",
     "spec.guarantee.resource.cpu: Invalid value: -2: must be greater than or equal to 0"},
    {"NegativeGuaranteeReportsMissingDeservedToo",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {guarantee: {resource: {cpu: -2}}}}",
     "spec.deserved.cpu: Required value"},
};
INSTANTIATE_TEST_SUITE_P(TestAdmitHierarchicalQueues, VolcanoScenarios, ::testing::ValuesIn(kAdmitHierarchicalQueues),
                         name_of_scenario);

const std::vector<const char*> kChain{"{metadata: {name: q1}, spec: {parent: root}}",
                                      "{metadata: {name: q2}, spec: {parent: q1}}"};
const std::vector<Scenario> kValidateQueueDepthDynamic{
    {"WithinTheDefaultLimit", kChain, Ask::kCreate, "{metadata: {name: q3}, spec: {parent: q2}}", ""},
    {"AtALimitOf3", kChain, Ask::kCreate, "{metadata: {name: q3}, spec: {parent: q2}}", "",
     [](AdmissionOptions& options) { options.max_depth = 3; }},
    {"BeyondALimitOf2", kChain, Ask::kCreate, "{metadata: {name: q3}, spec: {parent: q2}}",
     "queue q3 would be at level 3 below root, the limit is 2",
     [](AdmissionOptions& options) { options.max_depth = 2; }},
    {"MovedSubtreeBeyondALimitOf3",
     {kChain[0], kChain[1], "{metadata: {name: x}}", "{metadata: {name: y}, spec: {parent: x}}"},
     Ask::kUpdate,
     "{metadata: {name: x}, spec: {parent: q2}}",
     "queue x would reach down to level 4 below root, the limit is 3",
     [](AdmissionOptions& options) { options.max_depth = 3; }},
    {"MovedSubtreeBeyondALimitOf3AsInVolcano",
     {kChain[0], kChain[1], "{metadata: {name: x}}", "{metadata: {name: y}, spec: {parent: x}}"},
     Ask::kUpdate,
     "{metadata: {name: x}, spec: {parent: q2}}",
     "",
     [](AdmissionOptions& options) {
       options.max_depth = 3;
       options.measure_moved_subtree = false;
     }},
    {"QueueMovedBelowItself", kChain, Ask::kUpdate, "{metadata: {name: q1}, spec: {parent: q2}}",
     "queue q2 is below queue q1, so q1 cannot be below it"},
    {"QueueMovedBelowItselfAsInVolcano", kChain, Ask::kUpdate, "{metadata: {name: q1}, spec: {parent: q2}}", "",
     [](AdmissionOptions& options) { options.refuse_circles = false; }},
};
INSTANTIATE_TEST_SUITE_P(TestValidateQueueDepthDynamic, VolcanoScenarios,
                         ::testing::ValuesIn(kValidateQueueDepthDynamic), name_of_scenario);

const std::vector<const char*> kAncestors{
    "{metadata: {name: grandparent}, spec: {capability: {cpu: 100, memory: 100Gi, nvidia.com/gpu: 8}}}",
    "{metadata: {name: parent}, spec: {parent: grandparent, capability: {cpu: 50, memory: 50Gi}}}",
    "{metadata: {name: bare}, spec: {parent: grandparent}}"};
const std::vector<Scenario> kValidateChildAgainstAncestor{
    {"CpuExceedsParent", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: parent, capability: {cpu: 60}}}",
     "more cpu than its ancestor parent, which has 50"},
    {"MemoryExceedsParent", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: parent, capability: {memory: 55Gi}}}",
     "more memory than its ancestor parent, which has 50Gi"},
    {"GpuExceedsGrandparent", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: parent, capability: {nvidia.com/gpu: 10}}}",
     "more nvidia.com/gpu than its ancestor grandparent, which has 8"},
    {"CpuExceedsGrandparentThroughParentWithoutCapability", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: bare, capability: {cpu: 200}}}",
     "more cpu than its ancestor grandparent, which has 100"},
    {"AllWithin", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: parent, capability: {cpu: 40, memory: 40Gi, nvidia.com/gpu: 4}}}", ""},
    {"NoCapability", kAncestors, Ask::kCreate, "{metadata: {name: c}, spec: {parent: parent}}", ""},
    {"WithinGrandparentThroughParentWithoutCapability", kAncestors, Ask::kCreate,
     "{metadata: {name: c}, spec: {parent: bare, capability: {cpu: 80}}}", ""},
};
INSTANTIATE_TEST_SUITE_P(TestValidateChildAgainstAncestorForCapability, VolcanoScenarios,
                         ::testing::ValuesIn(kValidateChildAgainstAncestor), name_of_scenario);

const std::vector<const char*> kDescendants{
    "{metadata: {name: parent}, spec: {capability: {cpu: 30, nvidia.com/gpu: 8}}}",
    "{metadata: {name: child}, spec: {parent: parent, capability: {nvidia.com/gpu: 5}}}",
    "{metadata: {name: grandchild}, spec: {parent: child, capability: {cpu: 25, nvidia.com/gpu: 3}}}"};
const std::vector<Scenario> kValidateChildrenConstraints{
    {"GrandchildExceedsThroughChildWithoutCpu", kDescendants, Ask::kUpdate,
     "{metadata: {name: parent}, spec: {capability: {cpu: 20, nvidia.com/gpu: 8}}}",
     "less cpu than its descendant grandchild, which has 25"},
    {"ChildExceedsGpu", kDescendants, Ask::kUpdate,
     "{metadata: {name: parent}, spec: {capability: {cpu: 30, nvidia.com/gpu: 4}}}",
     "less nvidia.com/gpu than its descendant child, which has 5"},
    {"WithinLimits", kDescendants, Ask::kUpdate,
     "{metadata: {name: parent}, spec: {capability: {cpu: 25, nvidia.com/gpu: 5}}}", ""},
    {"ParentWithoutCapability", kDescendants, Ask::kUpdate, "{metadata: {name: parent}, spec: {}}", ""},
    {"NoChildren", kDescendants, Ask::kUpdate,
     "{metadata: {name: grandchild}, spec: {parent: child, capability: {cpu: 1}}}", ""},
    {"GrandchildsGpuWithinChilds", kDescendants, Ask::kUpdate,
     "{metadata: {name: child}, spec: {parent: parent, capability: {nvidia.com/gpu: 4}}}", ""},
};
INSTANTIATE_TEST_SUITE_P(TestValidateChildrenConstraintsForCapability, VolcanoScenarios,
                         ::testing::ValuesIn(kValidateChildrenConstraints), name_of_scenario);

const char* const kOther =
    "{metadata: {name: other, annotations: {volcano.sh/hierarchy: root/sci/dev, "
    "volcano.sh/hierarchy-weights: 1/2/8}}}";
const std::vector<Scenario> kAdmitQueues{
    {"CreateWithStateNotSet", {}, Ask::kCreate, "{metadata: {name: q}, spec: {weight: 1}}", ""},
    {"CreateWithStateOpen", {}, Ask::kCreate, "{metadata: {name: q}, status: {state: Open}}", ""},
    {"CreateWithStateClosed", {}, Ask::kCreate, "{metadata: {name: q}, status: {state: Closed}}", ""},
    {"CreateWithWrongState",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, status: {state: wrong}}",
     "status.state: Unsupported value: \"wrong\": supported values: \"Open\", \"Closed\""},
    {"UpdateFromOpenToClosed",
     {"{metadata: {name: q}, status: {state: Open}}"},
     Ask::kUpdate,
     "{metadata: {name: q}, status: {state: Closed}}",
     ""},
    {"UpdateFromClosedToOpen",
     {"{metadata: {name: q}, status: {state: Closed}}"},
     Ask::kUpdate,
     "{metadata: {name: q}, status: {state: Open}}",
     ""},
    {"UpdateToWrongState",
     {"{metadata: {name: q}, status: {state: Open}}"},
     Ask::kUpdate,
     "{metadata: {name: q}, status: {state: wrong}}",
     "status.state: Unsupported value"},
    {"DeleteClosedQueue", {"{metadata: {name: q}, status: {state: Closed}}"}, Ask::kDelete, "q", ""},
    {"DeleteOpenQueue", {"{metadata: {name: q}, status: {state: Open}}"}, Ask::kDelete, "q", ""},
    {"DeleteDefaultQueue", {"{metadata: {name: default}}"}, Ask::kDelete, "default", "queue default cannot be deleted"},
    {"NoResources", {}, Ask::kCreate, "{metadata: {name: q}}", ""},
    {"DeservedOnly", {}, Ask::kCreate, "{metadata: {name: q}, spec: {deserved: {cpu: 4}}}", ""},
    {"GuaranteeWithoutDeserved",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {guarantee: {resource: {cpu: 4}}}}",
     "spec.deserved.cpu: Required value"},
    {"DeservedAboveCapability",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {capability: {cpu: 4}, deserved: {cpu: 5}}}",
     "must be at most the capability of 4"},
    {"DeservedBelowGuarantee",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {deserved: {cpu: 3}, guarantee: {resource: {cpu: 4}}}}",
     "must be at least the guarantee of 4"},
    {"HierarchyAndWeightsOfDifferentLength",
     {},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/a/b, volcano.sh/hierarchy-weights: "
     "1/2}}}",
     "one weight for each of the 3 parts"},
    {"NegativeHierarchyWeight",
     {},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/a/b, volcano.sh/hierarchy-weights: "
     "1/-2/3}}}",
     "\"-2\" must be a number above 0"},
    {"MalformedHierarchyWeight",
     {},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/a/b, volcano.sh/hierarchy-weights: "
     "1/a/3}}}",
     "\"a\" must be a number above 0"},
    {"HierarchyThatOthersGoThrough",
     {kOther},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/sci, volcano.sh/hierarchy-weights: "
     "1/2}}}",
     "the hierarchy of queue other goes through it"},
    {"HierarchyThatSharesOnlyTheBeginningOfAName",
     {kOther},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/sci/d, volcano.sh/hierarchy-weights: "
     "1/2/3}}}",
     ""},
};
INSTANTIATE_TEST_SUITE_P(TestAdmitQueues, VolcanoScenarios, ::testing::ValuesIn(kAdmitQueues), name_of_scenario);

const std::vector<Scenario> kEndToEnd{
    {"DeservedAndGuaranteeOfAResourceWithoutCapability",
     {},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {capability: {cpu: 4}, deserved: {memory: 4Gi}, guarantee: {resource: "
     "{memory: 2Gi}}}}",
     ""},
    {"HierarchyWithoutWeights",
     {},
     Ask::kCreate,
     "{metadata: {name: q, annotations: {volcano.sh/hierarchy: root/a}}}",
     "one weight for each of the 2 parts"},
    {"DeleteRegularQueue", {"{metadata: {name: q}}"}, Ask::kDelete, "q", ""},
    {"DeleteRootQueue", {"{metadata: {name: root}}"}, Ask::kDelete, "root", "queue root cannot be deleted"},
    {"CreateWithValidParent",
     {"{metadata: {name: parent}}"},
     Ask::kCreate,
     "{metadata: {name: q}, spec: {parent: parent}}",
     ""},
};
INSTANTIATE_TEST_SUITE_P(EndToEndQueueValidation, VolcanoScenarios, ::testing::ValuesIn(kEndToEnd), name_of_scenario);

// Stricter than Volcano for PodGroups: Volcano lets them name a queue that is not a leaf, and then schedules nothing.
TEST(VolcanoScenariosOfGroups, NonLeafQueueIsRefusedUnlessSwitchedOff) {
  QueueForest forest;
  forest.set(testing::pointer(testing::queue("parent")));
  forest.set(testing::pointer(testing::queue("child", {.parent = "parent"})));
  api::volcano::PodGroup group;
  group.queue = "parent";
  const auto none = [](std::string_view) { return std::size_t{0}; };
  EXPECT_THAT(to_string(Admission(forest, {}, none).create(group)), ::testing::HasSubstr("takes no work itself"));
  EXPECT_EQ(to_string(Admission(forest, {.pod_groups_in_leaves_only = false}, none).create(group)), "");
}

}  // namespace
}  // namespace berth::volcano::conformance_test
