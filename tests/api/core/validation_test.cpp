#include "api/core/validation.h"

#include <gtest/gtest.h>

namespace berth::api::validation_test {
namespace {

TEST(CheckLabels, KeysAndValues) {
  FieldErrors errors;
  check_labels(parse_json(R"({"ok/key":"v","a b":"x","c":"-"})")->get_object(), "metadata.labels", errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_TRUE(to_string(errors[0]).starts_with("metadata.labels: Invalid value: \"a b\": name part must consist of"));
  EXPECT_TRUE(to_string(errors[1]).starts_with("metadata.labels: Invalid value: \"-\": a valid label must be"));
}

TEST(CheckAnnotations, KeysInAnyCaseAndSize) {
  FieldErrors errors;
  check_annotations(parse_json(R"({"Example.COM/Name":"any text at all"})")->get_object(), "a", errors);
  EXPECT_TRUE(errors.empty());
  check_annotations({{"x", std::string(256 << 10, 'y')}}, "a", errors);
  EXPECT_EQ(to_string(errors), "a: Too long: may not be more than 262144 bytes");
}

TEST(CheckLabelSelector, OperatorsAndValues) {
  FieldErrors errors;
  check_label_selector(
      *parse_json(
          R"({"matchExpressions":[{"key":"a","operator":"In"},{"key":"b","operator":"Exists","values":["x"]},{"key":"c","operator":"Near"}]})"),
      "s", errors);
  EXPECT_EQ(to_string(errors),
            "[s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', "
            "s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or "
            "'DoesNotExist', "
            "s.matchExpressions[2].operator: Invalid value: \"Near\": not a valid selector operator]");
}

TEST(CheckTolerations, Rules) {
  const struct {
    std::string toleration, error;
  } cases[] = {
      {R"({"operator":"Exists"})", ""},
      {R"({"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"})", ""},
      {R"({"operator":"Equal"})",
       R"(t[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys")"},
      {R"({"key":"k","operator":"Exists","value":"v"})",
       R"(t[0].operator: Invalid value: {"key":"k","operator":"Exists","value":"v"}: value must be empty when `operator` is 'Exists')"},
      {R"({"key":"k","operator":"Like"})",
       R"(t[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists")"},
      {R"({"key":"k","tolerationSeconds":5,"effect":"NoSchedule"})",
       R"(t[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when `tolerationSeconds` is set)"},
      {R"({"key":"k","effect":"Maybe"})",
       R"(t[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute")"},
  };
  for (const auto& c : cases) {
    FieldErrors errors;
    check_tolerations(JsonArray{*parse_json(c.toleration)}, "t", errors);
    EXPECT_EQ(to_string(errors), c.error);
  }
}

TEST(CheckTaints, EffectsAndUniqueness) {
  FieldErrors errors;
  check_taints(
      parse_json(
          R"([{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute"},{"key":"a","value":"x","effect":"NoSchedule"},{"key":"b","effect":"Nope"}])")
          ->get_array(),
      "t", errors);
  EXPECT_EQ(
      to_string(errors),
      R"([t[2]: Duplicate value: {"key":"a","value":"x","effect":"NoSchedule"}, )"
      R"(t[3].effect: Unsupported value: "Nope": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"])");
}

TEST(CheckUnchanged, MissingEqualsNull) {
  FieldErrors errors;
  const Json null;
  check_unchanged(nullptr, &null, "a", errors);
  EXPECT_TRUE(errors.empty());
  const Json one(1);
  check_unchanged(&one, nullptr, "a", errors);
  EXPECT_EQ(to_string(errors), "a: Invalid value: 1: field is immutable");
}

}  // namespace
}  // namespace berth::api::validation_test
