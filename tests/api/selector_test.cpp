#include "api/selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace berth::api::selector_test {
namespace {

using Labels = std::map<std::string, std::string>;

JsonObject as_json(const Labels& labels) {
  JsonObject object;
  for (const auto& [key, value] : labels) object.emplace(key, value);
  return object;
}

TEST(LabelSelector, Matches) {
  const struct {
    std::string selector;
    Labels labels;
    bool matches;
  } cases[] = {
      {"", {}, true},
      {"a=b", {{"a", "b"}}, true},
      {"a==b", {{"a", "c"}}, false},
      {"a!=b", {}, true},
      {"a!=b", {{"a", "b"}}, false},
      {"a in (x, y),!c", {{"a", "y"}}, true},
      {"a in (x,y),!c", {{"a", "y"}, {"c", ""}}, false},
      {"a notin (x,y)", {}, true},
      {"a notin (x)", {{"a", "x"}}, false},
      {"a", {{"a", ""}}, true},
      {"a=", {{"a", ""}}, true},
      {"a=,b", {{"a", ""}, {"b", "1"}}, true},
      {"n>5", {{"n", "6"}}, true},
      {"n<5", {{"n", "6"}}, false},
      {"n>5", {{"n", "x"}}, false},
      {"a in (,x)", {{"a", ""}}, true},
      {"in in (in,notin)", {{"in", "notin"}}, true},
      {"n notin (0,1,2),tier", {{"n", "3"}, {"tier", "a"}}, true},
  };
  for (const auto& c : cases) {
    const auto selector = LabelSelector::parse(c.selector);
    ASSERT_TRUE(selector) << c.selector << ": " << selector.error().message;
    EXPECT_EQ(selector->matches(as_json(c.labels)), c.matches) << c.selector;
  }
}

TEST(LabelSelector, RefusesWithTheWordsOfKubernetes) {
  const struct {
    std::string selector, error;
  } cases[] = {
      {"===", "found '==', expected: !, identifier, or 'end of string'"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a=b c=d", "found 'c', expected: ',' or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a in x", "unable to parse requirement: found 'x', expected: '('"},
      {"a in (x", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
  };
  for (const auto& c : cases) {
    const auto selector = LabelSelector::parse(c.selector);
    ASSERT_FALSE(selector) << c.selector;
    EXPECT_EQ(selector.error().message, c.error);
  }
  for (const std::string bad : {"a=b=c", "a=a b", "-a=b", "a=-b", "n>x", "!", "a in ((x))"})
    EXPECT_FALSE(LabelSelector::parse(bad)) << bad;
}

TEST(LabelSelector, ReadsMetav1Selectors) {
  const auto everything = LabelSelector::from_json(*parse_json("{}"));
  ASSERT_TRUE(everything);
  EXPECT_TRUE(everything->empty());
  EXPECT_TRUE(everything->matches({}));
  EXPECT_FALSE(LabelSelector::from_json(nullptr)->matches({}));
  EXPECT_FALSE(LabelSelector::nothing().empty());
  const auto selector = LabelSelector::from_json(*parse_json(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["1","2"]},{"key":"d","operator":"DoesNotExist"}]})"));
  ASSERT_TRUE(selector);
  EXPECT_TRUE(selector->matches(as_json({{"a", "b"}, {"c", "2"}})));
  EXPECT_FALSE(selector->matches(as_json({{"a", "b"}, {"c", "2"}, {"d", ""}})));
  EXPECT_EQ(
      LabelSelector::from_json(*parse_json(R"({"matchExpressions":[{"key":"c","operator":"Near"}]})")).error().message,
      "\"Near\" is not a valid label selector operator");
  EXPECT_FALSE(
      LabelSelector::from_json(*parse_json(R"({"matchExpressions":[{"key":"c","operator":"In","values":[]}]})")));
  EXPECT_FALSE(LabelSelector::from_json(
      *parse_json(R"({"matchExpressions":[{"key":"c","operator":"Exists","values":["x"]}]})")));
  EXPECT_FALSE(LabelSelector::from_json(*parse_json(R"([1])")));
}

struct Term {
  int key, op, value, other;
};

// A naive model of one term.
bool naive(const Term& t, const Labels& labels) {
  const std::string key(1, static_cast<char>('a' + t.key));
  const std::string value(1, static_cast<char>('x' + t.value));
  const std::string other(1, static_cast<char>('x' + t.other));
  const bool present = labels.count(key) > 0;
  const bool one = present && (labels.at(key) == value || labels.at(key) == other);
  switch (t.op) {
    case 0:
      return present && labels.at(key) == value;
    case 1:
      return !(present && labels.at(key) == value);
    case 2:
      return one;
    case 3:
      return !one;
    case 4:
      return present;
    default:
      return !present;
  }
}

std::string as_text(const Term& t) {
  const std::string key(1, static_cast<char>('a' + t.key));
  const std::string value(1, static_cast<char>('x' + t.value));
  const std::string other(1, static_cast<char>('x' + t.other));
  switch (t.op) {
    case 0:
      return key + "=" + value;
    case 1:
      return key + " != " + value;
    case 2:
      return key + " in (" + value + "," + other + ")";
    case 3:
      return key + " notin ( " + value + " , " + other + " )";
    case 4:
      return key;
    default:
      return "!" + key;
  }
}

RC_GTEST_PROP(LabelSelector, AgreesWithTheNaiveMeaning, ()) {
  const auto terms = *rc::gen::container<std::vector<Term>>(rc::gen::construct<Term>(
      rc::gen::inRange(0, 3), rc::gen::inRange(0, 6), rc::gen::inRange(0, 3), rc::gen::inRange(0, 3)));
  Labels labels;
  for (const auto& [key, value] : *rc::gen::container<std::vector<std::pair<int, int>>>(
           rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, 3))))
    labels[std::string(1, static_cast<char>('a' + key))] = std::string(1, static_cast<char>('x' + value));
  std::string text;
  for (const Term& t : terms) text += (text.empty() ? "" : ",") + as_text(t);
  const auto selector = LabelSelector::parse(text);
  RC_ASSERT(selector.has_value());
  RC_ASSERT(selector->matches(as_json(labels)) ==
            std::all_of(terms.begin(), terms.end(), [&](const Term& t) { return naive(t, labels); }));
}

TEST(FieldSelector, ReadsTermsAndEscapes) {
  const auto terms = parse_field_selector("metadata.name=a,spec.nodeName!=b,status.phase==c,x=\\,\\=\\\\,");
  ASSERT_TRUE(terms);
  ASSERT_EQ(terms->size(), 4u);
  EXPECT_EQ((*terms)[0].field, "metadata.name");
  EXPECT_TRUE((*terms)[0].equal);
  EXPECT_FALSE((*terms)[1].equal);
  EXPECT_EQ((*terms)[2].value, "c");
  EXPECT_EQ((*terms)[3].value, ",=\\");
  EXPECT_TRUE(parse_field_selector("")->empty());
  EXPECT_EQ(parse_field_selector("a").error().message, "invalid selector: 'a'; can't understand 'a'");
  for (const std::string bad : {"a=b=c", "a=\\x", "a=\\"}) EXPECT_FALSE(parse_field_selector(bad)) << bad;
}

}  // namespace
}  // namespace berth::api::selector_test
