// Which fields of a Workload its CRD lets change, and when.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/embedded.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::workload_rules_test {
namespace {

using schema_support::texts;
using schema_support::yaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SchemaPtr schema_of(std::string_view version) {
  for (const embedded::File& file : embedded::crds()) {
    const Json crd = yaml(file.content);
    if (string_at(crd, {"spec", "names", "kind"}) != "Workload") continue;
    for (const Json& v : array_at(crd, {"spec", "versions"})) {
      if (string_at(v, {"name"}) != version) continue;
      api::FieldErrors errors;
      SchemaPtr compiled = compile_schema(*find_path(v, {"schema", "openAPIV3Schema"}), "schema", errors);
      EXPECT_THAT(texts(errors), IsEmpty());
      return compiled;
    }
  }
  ADD_FAILURE() << version;
  return nullptr;
}

constexpr const char* kWaits = "";
constexpr const char* kReserved =
    ", status: {conditions: [{type: PodsReady, status: 'False'}, {type: QuotaReserved, status: 'True'}]}";
constexpr const char* kLost = ", status: {conditions: [{type: QuotaReserved, status: 'False'}]}";
constexpr const char* kAdmitted =
    ", status: {conditions: [{type: QuotaReserved, status: 'True'}, {type: Admitted, status: 'True'}]}";

std::string workload(const std::string& spec, const char* status) { return "{spec: {" + spec + "}" + status + "}"; }

struct Case {
  const char* from;
  const char* to;
  const char* message;  // the error while quota is reserved; empty: the change is allowed
};

std::vector<std::string> errors(const SchemaPtr& schema, const std::string& to, const std::string& from) {
  Json now = yaml(to), before = yaml(from);
  return texts(validate_rules(now, &before, *schema, ""));
}

void expect_frozen(const SchemaPtr& schema, const Case& c, const char* held) {
  const auto refused = errors(schema, workload(c.to, held), workload(c.from, held));
  if (*c.message == '\0') {
    EXPECT_THAT(refused, IsEmpty()) << c.from << " -> " << c.to;
  } else {
    EXPECT_THAT(refused, ElementsAre(::testing::EndsWith(c.message))) << c.from << " -> " << c.to;
  }
  EXPECT_THAT(errors(schema, workload(c.to, kWaits), workload(c.from, kWaits)), IsEmpty()) << c.from << " -> " << c.to;
  EXPECT_THAT(errors(schema, workload(c.to, kLost), workload(c.from, kLost)), IsEmpty()) << c.from << " -> " << c.to;
}

TEST(WorkloadRules, QueueAndPriorityClassStayWhileQuotaIsReserved) {
  const SchemaPtr schema = schema_of("v1beta2");
  const Case cases[] = {
      {"queueName: a", "queueName: a, active: false", ""},
      {"queueName: a", "queueName: b", "queueName is immutable while workload quota reserved"},
      {"active: true", "queueName: b", "queueName is immutable while workload quota reserved"},
      {"queueName: a", "active: true", "queueName is immutable while workload quota reserved"},
      {"active: true", "active: false", ""},
      {"priority: 1", "priority: 1, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: a}",
       "priorityClassRef is immutable while workload quota reserved"},
      {"priority: 1, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: a}", "priority: 1",
       "priorityClassRef is immutable while workload quota reserved"},
      {"priority: 1, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: a}",
       "priority: 2, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: b}", ""},
      {"priority: 1, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: a}",
       "priority: 1, priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: a}",
       "priorityClassRef.group is immutable while workload quota reserved"},
      {"priority: 1, priorityClassRef: {group: x.example.com, kind: A, name: a}",
       "priority: 1, priorityClassRef: {group: x.example.com, kind: B, name: a}",
       "priorityClassRef.kind is immutable while workload quota reserved"},
      {"priority: 1, priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: a}",
       "priority: 1, priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: b}",
       "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota reserved"},
  };
  for (const Case& c : cases) expect_frozen(schema, c, kReserved);
}

TEST(WorkloadRules, TheExecutionTimeStaysWhileAdmitted) {
  const SchemaPtr schema = schema_of("v1beta2");
  const std::string message = "maximumExecutionTimeSeconds is immutable while workload quota reserved";
  expect_frozen(schema, {"maximumExecutionTimeSeconds: 5", "maximumExecutionTimeSeconds: 6", message.c_str()},
                kAdmitted);
  expect_frozen(schema, {"active: true", "maximumExecutionTimeSeconds: 6", message.c_str()}, kAdmitted);
  expect_frozen(schema, {"maximumExecutionTimeSeconds: 5", "active: true", message.c_str()}, kAdmitted);
  EXPECT_THAT(
      errors(schema, workload("maximumExecutionTimeSeconds: 6", kReserved), workload("active: true", kReserved)),
      IsEmpty());
}

TEST(WorkloadRules, AnAdmissionIsOfAsManyPodSets) {
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const SchemaPtr schema = schema_of(version);
    const auto admitted = [&](const std::string& spec, const std::string& assignments, const char* reserved) {
      Json object = yaml("{spec: {" + spec + "}, status: {conditions: [{type: QuotaReserved, status: '" + reserved +
                         "'}], admission: {clusterQueue: c, podSetAssignments: [" + assignments + "]}}}");
      return texts(validate_rules(object, nullptr, *schema, ""));
    };
    const auto refused =
        ElementsAre(::testing::EndsWith("podSetAssignments must have the same number of podSets as the spec"));
    EXPECT_THAT(admitted("podSets: [{name: a, count: 1}]", "{name: a}", "True"), IsEmpty());
    EXPECT_THAT(admitted("podSets: [{name: a, count: 1}]", "{name: a}, {name: b}", "True"), refused);
    EXPECT_THAT(admitted("queueName: a", "{name: a}", "True"), refused);
    EXPECT_THAT(admitted("queueName: a", "{name: a}", "False"), IsEmpty());
  }
}

TEST(WorkloadRules, OldPriorityClassesStayWhileQuotaIsReserved) {
  const SchemaPtr schema = schema_of("v1beta1");
  const std::string ours = "priorityClassSource: kueue.x-k8s.io/workloadpriorityclass, priority: 1, ";
  const std::string pods = "priorityClassSource: scheduling.k8s.io/priorityclass, priority: 1, ";
  const auto change = [&](const std::string& from, const std::string& to) {
    return errors(schema, workload(to, kReserved), workload(from, kReserved));
  };
  EXPECT_THAT(change(ours + "priorityClassName: a", ours + "priorityClassName: b"), IsEmpty());
  EXPECT_THAT(change(pods + "priorityClassName: a", pods + "priorityClassName: b"),
              ElementsAre(::testing::EndsWith(
                  "priorityClassName is immutable for scheduling.k8s.io/priorityclass while workload quota reserved")));
  EXPECT_THAT(change(ours + "active: true", ours + "priorityClassName: b"),
              ElementsAre(::testing::EndsWith("priorityClassName is immutable while workload quota reserved")));
  EXPECT_THAT(change(ours + "priorityClassName: a", pods + "priorityClassName: a"),
              ElementsAre(::testing::EndsWith("priorityClassSource is immutable while workload quota reserved")));
}

// Kueue 0.20 (#14720): a pod set without pods may say so, and one with pods may start with none.
TEST(WorkloadRules, TheMinimumOfPodsMayBeNone) {
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const SchemaPtr schema = schema_of(version);
    const auto refused = [&](const char* counts) {
      const std::string pod_set = std::string("{name: a, template: {spec: {containers: [{name: c}]}}, ") + counts + "}";
      const Json object = yaml("{spec: {podSets: [" + pod_set + "]}}");
      auto found = texts(validate_schema(object, nullptr, *schema, ""));
      if (found.empty()) found = texts(validate_rules(object, nullptr, *schema, ""));
      return found;
    };
    EXPECT_THAT(refused("count: 0, minCount: 0"), IsEmpty()) << version;
    EXPECT_THAT(refused("count: 3, minCount: 0"), IsEmpty()) << version;
    EXPECT_THAT(refused("count: 3, minCount: -1"), ElementsAre(::testing::HasSubstr("minCount"))) << version;
    EXPECT_THAT(refused("count: 0, minCount: 1"), ElementsAre(::testing::HasSubstr("minCount"))) << version;
  }
}

}  // namespace
}  // namespace berth::apiserver::workload_rules_test
