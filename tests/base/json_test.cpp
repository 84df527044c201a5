#include "base/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/lean_json.h"
#include "support/json_gen.h"

namespace berth::json_test {
namespace {

TEST(Json, ErrorsSayLineAndColumn) {
  const struct {
    std::string text, position;
  } cases[] = {{"{\"a\":", "line 1, column 6"},
               {"{\n  \"a\": tru\n}", "line 2, column 8"},
               {"1 2", "line 1, column 3"},
               {"", "line 1, column 1"},
               {"[1,]", "line 1, column 4"}};
  for (const auto& c : cases) {
    const auto value = parse_json(c.text);
    ASSERT_FALSE(value) << c.text;
    EXPECT_NE(value.error().message.find(c.position), std::string::npos) << value.error().message;
  }
}

TEST(Json, LimitsAreKept) {
  std::string deep(256, '[');
  EXPECT_TRUE(parse_json(deep + std::string(256, ']')));
  EXPECT_FALSE(parse_json("[" + deep + std::string(257, ']')));
  EXPECT_FALSE(parse_json("[1,2,3]", {.max_bytes = 3}));
  EXPECT_FALSE(parse_json("1e999"));
}

TEST(Json, DuplicateKeysAreReportedAndTheLastWins) {
  std::vector<std::string> duplicates;
  const auto value =
      parse_json(R"({"data":{"a":"1","b":{},"a":"2","a":"3"},"l":[{"x":1},{"x":1,"x":2}],"data2":0})", {}, &duplicates);
  ASSERT_TRUE(value);
  EXPECT_EQ(duplicates, (std::vector<std::string>{"data.a", "l[1].x"}));
  EXPECT_EQ(string_at(*value, {"data", "a"}), "3");
}

TEST(Json, FewDuplicateKeysAreReportedAndTheirPathsAreShort) {
  std::string text = "{\"" + std::string(100'000, 'k') + "\":{";
  for (int i = 0; i < 30'000; ++i) text += "\"a" + std::to_string(i / 2) + "\":0,";
  text += "\"end\":0}}";
  std::vector<std::string> duplicates;
  ASSERT_TRUE(parse_json(text, {}, &duplicates));
  EXPECT_EQ(duplicates.size(), 100u);
  for (const std::string& path : duplicates) EXPECT_LE(path.size(), 1'100u);
  EXPECT_TRUE(duplicates[0].starts_with("kkk") && duplicates[0].ends_with("k...")) << duplicates[0];
}

TEST(Json, NumbersKeepTheirKindAndPrintAsGoPrintsThem) {
  const struct {
    std::string text, printed;
  } cases[] = {{"1", "1"},
               {"-9223372036854775808", "-9223372036854775808"},
               {"18446744073709551615", "18446744073709551615"},
               {"1.5", "1.5"},
               {"0.1", "0.1"},
               {"1e21", "1e+21"},
               {"1e20", "100000000000000000000"},
               {"1e-7", "1e-7"},
               {"2.0", "2"},
               {"0.30000000000000004", "0.30000000000000004"},
               {"1.7976931348623157e308", "1.7976931348623157e+308"}};
  for (const auto& c : cases) EXPECT_EQ(to_string(*parse_json(c.text)), c.printed);
}

TEST(Json, PathsReadWithoutExceptions) {
  const Json value = *parse_json(R"({"a":{"b":[1,2],"n":3.0,"t":true},"s":"x"})");
  EXPECT_EQ(int_at(value, {"a", "n"}), 3);
  EXPECT_EQ(int_at(Json(JsonObject{{"n", std::size_t{7}}}), {"n"}), 7) << "as code that counts builds it";
  EXPECT_FALSE(optional_int_at(Json(JsonObject{{"n", ~std::uint64_t{0}}}), {"n"}));
  EXPECT_TRUE(bool_at(value, {"a", "t"}));
  EXPECT_EQ(array_at(value, {"a", "b"}).size(), 2u);
  EXPECT_EQ(find_path(value, {"s", "b"}), nullptr);
  EXPECT_EQ(string_at(value, {"a"}, "none"), "none");
  EXPECT_FALSE(optional_int_at(value, {"s"}));
  EXPECT_TRUE(object_at(value, {"s"}).empty());
}

TEST(Json, PathsWrite) {
  Json value = *parse_json(R"({"a":1,"z":0,"b":2})");
  ensure_path(value, {"a", "b", "c"}) = 5;
  EXPECT_EQ(to_string(value), R"({"a":{"b":{"c":5}},"z":0,"b":2})");
  EXPECT_TRUE(erase_path(value, {"a", "b"}));
  EXPECT_FALSE(erase_path(value, {"a", "b"}));
  EXPECT_FALSE(erase_path(value, {"z", "b"}));
  EXPECT_EQ(to_string(value), R"({"a":{},"z":0,"b":2})");
}

TEST(Json, PrettyTextIsAsKubectlPrintsIt) {
  EXPECT_EQ(to_pretty_string(*parse_json(R"({"a":[1,{"b":[]}],"c":{}})")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
}

TEST(Json, ComparesNumbersByValue) {
  EXPECT_TRUE(json_equal(*parse_json("[1, 1.0]"), *parse_json("[1.0, 1]")));
  EXPECT_TRUE(json_equal(*parse_json("1e19"), *parse_json("10000000000000000000")));
  EXPECT_FALSE(json_equal(*parse_json("9007199254740993"), *parse_json("9007199254740992.0")));
  EXPECT_FALSE(json_equal(*parse_json("1.5"), *parse_json("1")));
  EXPECT_FALSE(json_equal(*parse_json("\"1\""), *parse_json("1")));
}

RC_GTEST_PROP(Json, TextReadsBackAsAnEqualValue, ()) {
  const Json value = *testing_support::any_json();
  RC_ASSERT(json_equal(*parse_json(to_string(value)), value));
  RC_ASSERT(json_equal(*parse_json(to_pretty_string(value)), value));
}

RC_GTEST_PROP(Json, CanonicalTextsAgreeWithEquality, ()) {
  const Json a = *testing_support::any_json();
  const Json b = *testing_support::any_json();
  RC_ASSERT(json_equal(a, b) == (canonical_json(a) == canonical_json(b)));
  RC_ASSERT(canonical_json(testing_support::shuffled(a)) == canonical_json(a));
}

TEST(LeanJson, LeavesManagedFieldsOutOfMetadataAlone) {
  const std::string managed =
      R"("managedFields":[{"manager":"m","fieldsV1":{"f:a":{"f:\"x\"":{}}},"n":[1,2.5,true,null]}])";
  const auto lean = [](const std::string& text) { return to_string(*parse_lean_json(text)); };
  EXPECT_EQ(lean(R"({"metadata":{"name":"a",)" + managed + R"(,"uid":"u"},"spec":{"x":1}})"),
            R"({"metadata":{"name":"a","uid":"u"},"spec":{"x":1}})");
  EXPECT_EQ(lean(R"({"items":[{"metadata":{)" + managed + R"(}},{"metadata":{"managedFields":null}}]})"),
            R"({"items":[{"metadata":{}},{"metadata":{}}]})");
  EXPECT_EQ(lean(R"({"metadata":{"managedFields":"text","a":{"managedFields":1}}})"),
            R"({"metadata":{"a":{"managedFields":1}}})")
      << "only directly in metadata";
  EXPECT_EQ(lean(R"({"managedFields":[1],"spec":{"managedFields":2}})"),
            R"({"managedFields":[1],"spec":{"managedFields":2}})");
  EXPECT_EQ(lean(R"({"metadata":"text","managedFields":{}})"), R"({"metadata":"text","managedFields":{}})");
  EXPECT_EQ(lean(R"({"metadata":[{"managedFields":1}]})"), R"({"metadata":[{"managedFields":1}]})");
  EXPECT_FALSE(parse_lean_json(R"({"metadata":{"managedFields":[1})"));
  EXPECT_FALSE(parse_lean_json(R"({"metadata":{"managedFields":[1]]}})"));
  EXPECT_FALSE(parse_lean_json(R"({"metadata":{"managedFields":]}})"));
  EXPECT_FALSE(parse_lean_json(R"({"metadata":{"managedFields":)"));
  EXPECT_FALSE(parse_lean_json(R"({"a":1} "managedFields":[1])")) << "something follows the document";
  EXPECT_FALSE(parse_lean_json(R"("managedFields":[1])"));
  EXPECT_FALSE(parse_lean_json(R"({"a":"managedFields":[1]})"));
  EXPECT_EQ(lean(R"({"metadata":{"managedFields": [ {"x" : "]}\\" } ] , "a":1}})"), R"({"metadata":{"a":1}})");
  EXPECT_EQ(lean(R"({"metadata":{"managedFields":["]\"]","\\"],"x\"managedFields":[1]}})"),
            R"({"metadata":{"x\"managedFields":[1]}})");
}

TEST(LeanJson, ReadsMetadataAlone) {
  const auto metadata = [](const std::string& text) { return to_string(*parse_metadata(text)); };
  EXPECT_EQ(
      metadata(
          R"({"kind":"K","metadata":{"name":"a","managedFields":[{"x":1}],"spec":{"y":2}},"spec":{"metadata":{"z":3}},"n":1})"),
      R"({"metadata":{"name":"a","spec":{"y":2}}})");
  EXPECT_EQ(metadata(R"({"kind":"K","spec":[{"metadata":1}]})"), "{}");
  EXPECT_FALSE(parse_metadata(R"({"metadata":{},"spec":{]})")) << "what is left out is read all the same";
}

RC_GTEST_PROP(LeanJson, OtherwiseReadsWhatAnybodyReads, ()) {
  const Json value = *testing_support::any_json();
  RC_ASSERT(json_equal(*parse_lean_json(to_string(value)), value));
  const Json object =
      JsonObject{{"metadata", JsonObject{{"a", value}, {"managedFields", value}, {"b", value}}}, {"c", value}};
  RC_ASSERT(json_equal(*parse_lean_json(to_string(object)),
                       Json(JsonObject{{"metadata", JsonObject{{"a", value}, {"b", value}}}, {"c", value}})));
}

}  // namespace
}  // namespace berth::json_test
