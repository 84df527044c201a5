// The mapping file of berth import.
#include "cli/migrate/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli::migrate::mapping_test {
namespace {

using testing::HasSubstr;

TEST(ImportMapping, TheFileOfKueuesImporterWorksAsItIs) {
  const auto mapping = parse_mapping(R"(
- match:
    labels:
      src.lbl: src-val
  toLocalQueue: user-queue
- match:
    priorityClassName: p-class
    labels:
      src.lbl: src-val2
      src2.lbl: src2-val
  toLocalQueue: user-queue2
- match:
    labels:
      src.lbl: src-val3
  skip: true
)",
                                     "mapping.yaml");
  ASSERT_TRUE(mapping) << mapping.error().message;
  const auto queue_of = [&](const std::string& pod) -> std::string {
    const MappingRule* rule = rule_for(*mapping, parse_json(pod).value());
    return rule == nullptr ? "none" : rule->skip ? "skipped" : rule->local_queue;
  };
  EXPECT_EQ(queue_of(R"({"metadata":{"labels":{"src.lbl":"src-val"}},"spec":{"priorityClassName":"any"}})"),
            "user-queue");
  EXPECT_EQ(queue_of(R"({"metadata":{"labels":{"src.lbl":"src-val2","src2.lbl":"src2-val"}},
                         "spec":{"priorityClassName":"p-class"}})"),
            "user-queue2");
  EXPECT_EQ(queue_of(R"({"metadata":{"labels":{"src.lbl":"src-val2","src2.lbl":"src2-val"}}})"), "none");
  EXPECT_EQ(queue_of(R"({"metadata":{"labels":{"src.lbl":"src-val2"}},"spec":{"priorityClassName":"p-class"}})"),
            "none");
  EXPECT_EQ(queue_of(R"({"metadata":{"labels":{"src.lbl":"src-val3"}}})"), "skipped");
}

TEST(ImportMapping, ErrorsNameTheRuleTheFieldAndWhatWasExpected) {
  const auto error = [](std::string_view yaml) { return parse_mapping(yaml, "m.yaml").error().message; };
  EXPECT_THAT(error("match: {}"), HasSubstr("m.yaml: expected one list of rules"));
  EXPECT_EQ(error("- {match: {labels: {a: b}}, toLocalQeue: q}"),
            "m.yaml: rule 1.toLocalQeue: no such field; did you mean toLocalQueue?");
  EXPECT_EQ(error("- {skip: true}\n- {match: {}}"),
            "m.yaml: rule 2.toLocalQueue: expected the name of a LocalQueue, or skip: true");
  EXPECT_EQ(error("- {match: {labels: {a: 1}}, toLocalQueue: q}"),
            "m.yaml: rule 1.match.labels.a: expected a text; put it in quotes");
  EXPECT_EQ(mapping_of_label("team", {"red"}).error().message, "--queuemapping \"red\": expected VALUE=LOCALQUEUE");
}

}  // namespace
}  // namespace berth::cli::migrate::mapping_test
