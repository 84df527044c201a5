#include "api/core/scheduling.h"

#include <gtest/gtest.h>

namespace berth::api::scheduling_test {
namespace {

TEST(Tolerations, Tolerate) {
  const Taint taint{"k", "v", "NoSchedule"};
  const struct {
    Toleration toleration;
    bool tolerates;
  } cases[] = {
      {{"k", "Equal", "v", "NoSchedule", {}}, true},
      {{"k", "", "v", "", {}}, true},
      {{"k", "Equal", "w", "NoSchedule", {}}, false},
      {{"k", "Exists", "", "NoExecute", {}}, false},
      {{"k", "Exists", "", "", {}}, true},
      {{"", "Exists", "", "", {}}, true},
      {{"other", "Exists", "", "", {}}, false},
      {{"k", "Near", "v", "", {}}, false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(tolerates(c.toleration, taint), c.tolerates) << c.toleration.key << c.toleration.op;
  EXPECT_FALSE(tolerates(std::vector<Toleration>{}, taint));
}

TEST(NodeSelector, RequirementsMatch) {
  const StringMap labels{{"zone", "a"}, {"size", "8"}};
  const struct {
    NodeSelectorRequirement requirement;
    bool matches;
  } cases[] = {
      {{"zone", "In", {"a", "b"}}, true}, {{"zone", "NotIn", {"a"}}, false}, {{"none", "NotIn", {"a"}}, true},
      {{"zone", "Exists", {}}, true},     {{"none", "Exists", {}}, false},   {{"none", "DoesNotExist", {}}, true},
      {{"size", "Gt", {"7"}}, true},      {{"size", "Gt", {"8"}}, false},    {{"size", "Lt", {"9"}}, true},
      {{"zone", "Gt", {"7"}}, false},     {{"none", "Lt", {"7"}}, false},    {{"size", "Lt", {}}, false},
      {{"zone", "Like", {"a"}}, false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(matches(c.requirement, labels), c.matches) << c.requirement.key << c.requirement.op;
}

TEST(NodeSelector, TermsAndTheirPartsAreAndedAndEmptyTermsMatchNothing) {
  const StringMap labels{{"zone", "a"}};
  EXPECT_FALSE(matches(NodeSelectorTerm{}, labels, "n"));
  EXPECT_TRUE(matches(NodeSelectorTerm{{{"zone", "In", {"a"}}}, {{"metadata.name", "In", {"n"}}}}, labels, "n"));
  EXPECT_FALSE(matches(NodeSelectorTerm{{{"zone", "In", {"a"}}}, {{"metadata.name", "NotIn", {"n"}}}}, labels, "n"));
  EXPECT_FALSE(matches(NodeSelectorTerm{{}, {{"spec.x", "In", {"n"}}}}, labels, "n"));
}

TEST(NodeConstraints, PreferredTermsAreReadWithTheirWeights) {
  const auto terms = decode_preferred_terms(
      *parse_json(R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
                  R"({"weight":7,"preference":{"matchExpressions":[{"key":"hot","operator":"In","values":["yes"]}]}},)"
                  R"({"weight":500,"preference":{"matchFields":[]}},{"weight":1}]}}})"));
  const std::vector<PreferredTerm> expected{{7, {{{"hot", "In", {"yes"}}}, {}}}, {100, {}}};
  EXPECT_EQ(terms, expected) << "weights end at 100, and a term must be there";
  EXPECT_TRUE(decode_preferred_terms(*parse_json("{}")).empty());
}

TEST(NodeConstraints, AreReadFromPodSpecs) {
  const NodeConstraints c = decode_node_constraints(*parse_json(
      R"({"nodeSelector":{"a":"b"},"tolerations":[{"key":"t","operator":"Exists","tolerationSeconds":5}],"affinity":{"nodeAffinity":)"
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"In",)"
      R"("values":["1"]}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}})"));
  EXPECT_EQ(c.node_selector, (StringMap{{"a", "b"}}));
  ASSERT_EQ(c.required_terms.size(), 1u);
  EXPECT_EQ(c.required_terms[0].expressions.at(0).values.at(0), "1");
  EXPECT_EQ(c.required_terms[0].fields.at(0).key, "metadata.name");
  EXPECT_EQ(to_string(encode_tolerations(c.tolerations)), R"([{"key":"t","operator":"Exists","tolerationSeconds":5}])");
  EXPECT_EQ(decode_node_constraints(*parse_json("{}")), NodeConstraints{});
}

TEST(Taints, AreRead) {
  EXPECT_EQ(decode_taints(*parse_json(R"([{"key":"k","effect":"NoExecute"}])")),
            (std::vector<Taint>{{"k", "", "NoExecute"}}));
}

}  // namespace
}  // namespace berth::api::scheduling_test
