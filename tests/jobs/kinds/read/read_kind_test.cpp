// Reading descriptions: the shipped ones are right, and mistakes have a line and a field.
#include <gmock/gmock.h>

#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"
#include "jobs/kinds/support.h"

namespace berth::jobs::kinds::read_kind_test {
namespace {

using support::yaml;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kGood = R"(apiVersion: berth.dev/v1alpha1
kind: JobKind
metadata: {name: flux}
spec:
  group: flux.example.org
  version: v1
  kind: MiniCluster
  suspend: spec.suspend
  podSets:
    - name: main
      template: spec.template
      count: self.spec.size
  finished: "'Done' in conditions"
  active: self.?status.?active.orValue(0) > 0
  ready: "'Ready' in conditions"
)";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(std::string_view text) {
  const auto kind = read_job_kind(text, "flux.yaml");
  return kind ? "" : kind.error().message;
}

TEST(ReadKind, AllShippedDescriptionsAreRight) {
  EXPECT_GE(shipped_job_kinds().size(), 13u);
  for (const auto& kind : shipped_job_kinds()) EXPECT_FALSE(kind->framework.empty());
}

TEST(ReadKind, NamesAreDerived) {
  const auto kind = read_job_kind(kGood, "flux.yaml");
  ASSERT_TRUE(kind) << kind.error().message;
  EXPECT_EQ((*kind)->resource.resource, "miniclusters");
  EXPECT_EQ((*kind)->framework, "flux.example.org/minicluster");
  EXPECT_EQ((*kind)->webhook_path(), "flux-example-org-v1-minicluster");
}

TEST(ReadKind, MistakesHaveALineAndAField) {
  EXPECT_THAT(error_of(with("  suspend: spec.suspend\n", "")), HasSubstr("flux.yaml:5: spec.suspend: required"));
  EXPECT_THAT(error_of(with("count: self.spec.size", "count: self.spec.name == 'a'")),
              HasSubstr("expected a CEL expression of type int"));
  EXPECT_THAT(error_of(with("count: self.spec.size", "count: job.spec.size")),
              HasSubstr("undeclared reference to 'job'"));
  EXPECT_THAT(error_of(with("  ready:", "  redy: \"true\"\n  ready:")),
              HasSubstr("flux.yaml:15: spec.redy: unknown field"));
  EXPECT_THAT(error_of(with("group: flux.example.org", "group: Flux_")), HasSubstr("flux.yaml:5: spec.group"));
  EXPECT_THAT(error_of(with("berth.dev/v1alpha1", "berth.dev/v9")), HasSubstr("flux.yaml:1: apiVersion"));
  EXPECT_THAT(error_of(with("name: main", "name: Main_")), HasSubstr("flux.yaml:10: spec.podSets[0].name"));
  EXPECT_THAT(error_of("- 1\n"), HasSubstr("flux.yaml"));
  EXPECT_THAT(error_of(""), HasSubstr("expected one JobKind"));
}

TEST(ReadKind, AnExpressionThatIsNoTextIsOneMistake) {
  EXPECT_EQ(error_of(with("ready: \"'Ready' in conditions\"", "ready: true")),
            "flux.yaml:15: spec.ready: is true, expected a CEL expression as a text, in quotes");
  EXPECT_EQ(error_of(with("count: self.spec.size", "count: 3")),
            "flux.yaml:12: spec.podSets[0].count: is 3, expected a CEL expression as a text, in quotes");
}

// Elsewhere they would be empty, and the job would never end.
TEST(ReadKind, VariablesAreKnownInTheirPlaces) {
  EXPECT_THAT(error_of(with("ready: \"'Ready' in conditions\"", "ready: \"phase == 'Running'\"")),
              HasSubstr("flux.yaml:15: spec.ready: is \"phase == 'Running'\", expected a CEL expression of self, "
                        "conditions, which are known here; found phase"));
  EXPECT_THAT(error_of(with("ready: \"'Ready' in conditions\"", "ready: item.ready")), HasSubstr("found item"));
  EXPECT_THAT(error_of(with("count: self.spec.size", "count: size(pods)")),
              HasSubstr("of self, item, index, conditions, which are known here; found pods"));
  EXPECT_EQ(error_of(with("count: self.spec.size", "count: item.spec.size + index")), "");
}

// Two parts of the controller would start and stop its jobs in turns.
TEST(ReadKind, AKindThatHasCodeCannotBeDescribed) {
  EXPECT_EQ(error_of(with("flux.example.org\n  version: v1\n  kind: MiniCluster", "batch\n  version: v1\n  kind: Job")),
            "flux.yaml:7: spec.kind: Job of batch cannot be described: Berth has code for it");
  EXPECT_THAT(error_of(with("flux.example.org\n  version: v1\n  kind: MiniCluster",
                            "apps\n  version: v1\n  kind: StatefulSet")),
              HasSubstr("StatefulSet of apps cannot be described"));
  EXPECT_EQ(error_of(with("kind: MiniCluster", "kind: Job")), "");
}

// A job whose pod sets change when it runs would be stopped, and then started again.
TEST(ReadKind, PodSetsDoNotDependOnTheStatus) {
  for (const std::string_view count :
       {"self.?status.?active.orValue(1)", "has(self.status) ? 2 : 1", "item.status.active", "self['status'].active",
        "self[self.spec.name].size()", "'Ready' in conditions ? 2 : 1", "[self].map(j, self.status.active)[0]"}) {
    EXPECT_EQ(
        error_of(with("self.spec.size", "\"" + std::string(count) + "\"")),
        "flux.yaml:12: spec.podSets[0].count: must not read the status: the job would be stopped whenever its pod "
        "sets change")
        << count;
  }
  EXPECT_THAT(error_of(with("count: self.spec.size", "when: \"'Ready' in conditions\"")),
              HasSubstr("spec.podSets[0].when: must not read the status"));
  EXPECT_EQ(error_of(with("self.spec.size", "self.spec.status")), "");
  EXPECT_EQ(error_of(with("self.spec.size", "self.spec.size\n      reclaimable: self.status.done")), "");
}

TEST(ReadKind, WhatCannotWorkIsRefused) {
  const auto with_operator = [](std::string_view rule) {
    return error_of(std::string(kGood) + "  operator: {" + std::string(rule) + "}\n");
  };
  EXPECT_EQ(with_operator("status: \"{'active': 1}\", decides: [main], podIndexLabel: flux.example.org/rank"), "");
  EXPECT_THAT(
      with_operator("status: \"1\""),
      HasSubstr("spec.operator.status: is \"1\", expected a CEL expression of type map, found one of type int"));
  EXPECT_THAT(with_operator("status: \"{'active': 1}\", decides: [main, nope]"),
              HasSubstr("spec.operator.decides[1]: is \"nope\", expected the name of a pod set: main"));
  EXPECT_THAT(with_operator("status: \"{'active': 1}\", podIndexLabel: not a label!"),
              HasSubstr("spec.operator.podIndexLabel: is \"not a label!\", expected the key of a label: name part"));
  EXPECT_THAT(
      error_of(with("count: self.spec.size", "podIndexLabel: not a label!")),
      HasSubstr("flux.yaml:12: spec.podSets[0].podIndexLabel: is \"not a label!\", expected the key of a label"));
  for (const std::string framework : {"batch/job", "ray.io/rayjob"})
    EXPECT_EQ(error_of(with("kind: MiniCluster", "kind: MiniCluster\n  framework: " + framework)),
              "flux.yaml:8: spec.framework: is \"" + framework +
                  "\", expected a name of its own, such as flux.example.org/minicluster: another kind has this");
  EXPECT_EQ(error_of(with("kind: MiniCluster", "kind: MiniCluster\n  framework: flux/mini")), "");
}

// Names that an item gives are known only with the job.
TEST(ReadKind, TheRuleForOtherClustersHasPaths) {
  const auto with_rule = [](std::string_view rule) {
    return error_of(std::string(kGood) + "  multikueue: {" + std::string(rule) + "}\n");
  };
  EXPECT_EQ(with_rule("managedBy: spec.managedBy, operator: a/b, drop: [spec.ttl], sync: [spec.config.text]"), "");
  EXPECT_THAT(with_rule("drop: [spec.ttl]"), HasSubstr("spec.multikueue.managedBy: required"));
  EXPECT_EQ(with_rule("managedBy: spec.managedBy, drop: ['metadata.annotations.example\\.org/ttl']"), "");
  EXPECT_THAT(with_rule("managedBy: spec.managedBy, sync: ['metadata.annotations.a']"),
              HasSubstr("expected the path of a field below spec"));
  EXPECT_THAT(with_rule("managedBy: spec.managedBy, drop: [metadata.labels]"),
              HasSubstr("spec.multikueue.drop[0]: is \"metadata.labels\", expected the path of a field below spec"));
  EXPECT_THAT(with_rule("managedBy: spec.managedBy, sync: [spec]"), HasSubstr("spec.multikueue.sync[0]"));
  EXPECT_THAT(with_rule("managedBy: spec.managedBy, keep: [spec.a]"), HasSubstr("spec.multikueue.keep"));
}

TEST(ReadKind, PodSetsWithNamesFromItemsMayDecide) {
  EXPECT_EQ(error_of(with("name: main", "nameFrom: item.spec.name") +
                     "  operator: {status: \"{'active': 1}\", decides: [worker]}\n"),
            "");
}

TEST(ReadKind, TheSchemaOfTheKindIsChecked) {
  cel::Schema text, spec, root;
  text.type = cel::SchemaType::kString;
  spec.type = root.type = cel::SchemaType::kObject;
  spec.properties["size"] = spec.properties["suspend"] = std::make_shared<cel::Schema>(text);
  root.properties["spec"] = std::make_shared<cel::Schema>(spec);
  const auto kind = read_job_kind(kGood, "flux.yaml", cel::type_of_schema(root, true));
  ASSERT_FALSE(kind);
  EXPECT_THAT(
      kind.error().message,
      HasSubstr(
          "flux.yaml:8: spec.suspend: is \"spec.suspend\", expected the path of a bool; the schema has a string"));
  EXPECT_THAT(kind.error().message, HasSubstr("expected a path that the schema of the kind has"));
  EXPECT_THAT(kind.error().message, HasSubstr("expected a CEL expression of type int, found one of type string"));
}

// The types of a definition are any.
TEST(ReadKind, ItemsThatAreNoListAreAMistake) {
  const std::string text = with("- name: main", "- items: spec.parts\n      nameFrom: item.name");
  const auto misfit = [&](const cel::Schema& parts) {
    cel::Schema spec, root;
    spec.type = root.type = cel::SchemaType::kObject;
    spec.properties["parts"] = std::make_shared<cel::Schema>(parts);
    root.properties["spec"] = std::make_shared<cel::Schema>(spec);
    const auto kind = read_job_kind(text, "flux.yaml", cel::type_of_schema(root, true));
    return kind ? std::string() : kind.error().message;
  };
  cel::Schema parts;
  parts.type = cel::SchemaType::kInteger;
  EXPECT_THAT(misfit(parts), HasSubstr("spec.podSets[0].items: is \"spec.parts\", expected the path of a list; the "
                                       "schema has a int"));
  parts.type = cel::SchemaType::kObject;
  parts.additional = std::make_shared<cel::Schema>();
  EXPECT_THAT(misfit(parts), HasSubstr("expected the path of a list; the schema has a map(string, dyn)"));
  parts = {};
  parts.type = cel::SchemaType::kArray;
  EXPECT_THAT(misfit(parts), Not(HasSubstr("spec.parts")));
}

TEST(ReadKind, AWrongExpressionIsNotMissing) {
  const std::string names = error_of(with("name: main", "nameFrom: item..name"));
  EXPECT_THAT(names, HasSubstr("flux.yaml:10: spec.podSets[0].nameFrom"));
  EXPECT_THAT(names, Not(HasSubstr("either")));
  const std::string status = error_of(std::string(kGood) + "  operator: {status: phas}\n");
  EXPECT_THAT(status, HasSubstr("spec.operator.status"));
  EXPECT_THAT(status, Not(HasSubstr("required")));
}

}  // namespace
}  // namespace berth::jobs::kinds::read_kind_test
