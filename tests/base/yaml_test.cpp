#include "base/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/json_gen.h"

namespace berth::yaml_test {
namespace {

std::string as_json(std::string_view text) {
  const auto documents = parse_yaml(text);
  if (!documents) return documents.error().message;
  std::string out;
  for (const Json& document : *documents) out += (out.empty() ? "" : " ") + to_string(document);
  return out;
}

TEST(Yaml, TypesScalarsAsKubectlDoes) {
  const struct {
    std::string yaml, json;
  } cases[] = {
      {"a: 1", R"({"a":1})"},
      {"a: \"1\"", R"({"a":"1"})"},
      {"a: '1'", R"({"a":"1"})"},
      {"a: true", R"({"a":true})"},
      {"a: yes", R"({"a":"yes"})"},
      {"a: y", R"({"a":"y"})"},
      {"a:", R"({"a":null})"},
      {"a: ~", R"({"a":null})"},
      {"a: 1.5", R"({"a":1.5})"},
      {"a: 1.0", R"({"a":1})"},
      {"a: 1e3", R"({"a":1000})"},
      {"a: 0755", R"({"a":493})"},
      {"a: 0x1F", R"({"a":31})"},
      {"a: 0o17", R"({"a":15})"},
      {"a: 1_000", R"({"a":1000})"},
      {"a: -5", R"({"a":-5})"},
      {"a: 1Gi", R"({"a":"1Gi"})"},
      {"a: 2026-11-21", R"({"a":"2026-11-21"})"},
      {"a: 12:30:00", R"({"a":"12:30:00"})"},
      {"a: !!str 5", R"({"a":"5"})"},
      {"a: 0x", R"({"a":"0x"})"},
      {"1: x", R"({"1":"x"})"},
      {"true: x", R"({"true":"x"})"},
      {"a: 1.2.3", R"({"a":"1.2.3"})"},
      {"a: -x", R"({"a":"-x"})"},
      {"a: 9223372036854775808", R"({"a":9223372036854775808})"},
      {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
      {"a: >-\n  x\n  y\n", R"({"a":"x y"})"},
  };
  for (const auto& c : cases) EXPECT_EQ(as_json(c.yaml), c.json) << c.yaml;
}

TEST(Yaml, ReadsManyDocumentsAndLeavesOutEmptyOnes) {
  EXPECT_EQ(as_json("---\na: 1\n---\n# nothing\n---\n- b\n...\n---\nnull\n"), R"({"a":1} ["b"])");
  EXPECT_EQ(as_json(""), "");
}

TEST(Yaml, ExpandsAliasesAndMergeKeys) {
  EXPECT_EQ(as_json("a: &x {p: 1, q: 2}\nb: *x"), R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2}})");
  EXPECT_EQ(as_json("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3"), R"({"a":{"p":1,"q":2},"b":{"q":3,"p":1}})");
  EXPECT_EQ(as_json("a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]"),
            R"({"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2}})");
}

TEST(Yaml, RefusesWithLineAndColumn) {
  const struct {
    std::string yaml, error;
  } cases[] = {
      {"a: 1\na: 2", "invalid YAML at line 2, column 1: key \"a\" is already set in this mapping"},
      {"a: .inf", "invalid YAML at line 1, column 4: .inf is not a JSON number"},
      {"? [a]\n: b", "invalid YAML at line 1, column 3: a mapping key must be a scalar"},
      {"{", "invalid YAML at line 1, column 1: the text ends inside of the mapping that begins here"},
      {"ä: 1\nb: {c: [1]\n", "invalid YAML at line 2, column 4: the text ends inside of the mapping that begins here"},
      {"[{a: 1}, [", "invalid YAML at line 1, column 10: the text ends inside of the list that begins here"},
      {"{a: 1\nb: 2}", "invalid YAML at line 2, column 2: end of map flow not found"},
      {"{a: 1}\n{b: 2", "invalid YAML at line 2, column 1: the text ends inside of the mapping that begins here"},
      {"a: !mine 5", "invalid YAML at line 1, column 4: unknown tag !mine"},
      {"a: !!int x", "invalid YAML at line 1, column 4: \"x\" is not a value of tag tag:yaml.org,2002:int"},
      {"~: 5", "invalid YAML at line 1, column 1: a mapping key must not be null"},
      {"a: &x [*x]", "invalid YAML at line 1, column 8: an alias may not point into itself"},
  };
  for (const auto& c : cases) EXPECT_EQ(as_json(c.yaml), c.error);
  EXPECT_NE(as_json("a: [1\nb: 2").find("invalid YAML at line "), std::string::npos);
}

TEST(Yaml, AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous;
    for (int n = 0; n < 9; ++n) bomb += "," + previous;
    bomb += "]\n";
  }
  EXPECT_NE(as_json(bomb).find("more than 1000000 values"), std::string::npos);
  // Few values, but long ones: the length of a text counts, too.
  std::string wide = "a: &a \"" + std::string(1'000'000, 'x') + "\"\nb: [*a";
  for (int i = 0; i < 100; ++i) wide += ",*a";
  EXPECT_NE(as_json(wide + "]").find("more than 1000000 values"), std::string::npos);
}

TEST(Yaml, DepthIsLimited) {
  std::string deep = "x";
  for (int i = 0; i < 300; ++i) deep = "[" + deep + "]";
  EXPECT_NE(as_json(deep).find("nested deeper than 256 levels"), std::string::npos);
  // Through aliases, too.
  std::string chain = "- &a0 [1]\n";
  for (int i = 1; i < 300; ++i) chain += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(as_json(chain).find("nested deeper than 256 levels"), std::string::npos);
}

TEST(Yaml, WritesBlockStyle) {
  const Json value = *parse_json(
      R"({"apiVersion":"v1","list":[{"a":1,"b":[]},"x y"],"text":"one\ntwo\n","n":"5","t":"yes","e":{},"empty":"","nested":[[1,2]]})");
  EXPECT_EQ(to_yaml(value),
            "apiVersion: v1\nlist:\n- a: 1\n  b: []\n- x y\ntext: |\n  one\n  two\n\"n\": \"5\"\nt: "
            "\"yes\"\ne: {}\nempty: \"\"\nnested:\n- - 1\n  - 2\n");
}

RC_GTEST_PROP(Yaml, WrittenTextReadsBackAsTheSameValue, ()) {
  const Json value = *testing_support::any_json();
  const auto documents = parse_yaml(to_yaml(value));
  RC_LOG() << to_yaml(value);
  if (value.is_null()) {
    RC_ASSERT(documents && documents->empty());
  } else {
    RC_ASSERT(documents.has_value());
    RC_ASSERT(documents->size() == 1u);
    RC_ASSERT(json_equal(documents->front(), value));
  }
}

}  // namespace
}  // namespace berth::yaml_test
