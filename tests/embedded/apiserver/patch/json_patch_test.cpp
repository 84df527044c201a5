#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "embedded/apiserver/patch/patch.h"

namespace berth::apiserver::json_patch_test {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* result;  // empty: the patch cannot be applied
};

class JsonPatch : public testing::TestWithParam<Case> {};

TEST_P(JsonPatch, GivesTheExpectedDocument) {
  const auto& c = GetParam();
  const auto result = apply_json_patch(json(c.object), json(c.patch));
  if (*c.result == '\0') {
    ASSERT_FALSE(result) << to_string(*result);
    EXPECT_EQ(result.error().code, 422);
    EXPECT_NE(result.error().message, "");
  } else {
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(canonical_json(*result), canonical_json(json(c.result)));
  }
}

// The examples of RFC 6902, appendix A, and edge cases of RFC 6901.
INSTANTIATE_TEST_SUITE_P(
    Rfc6902, JsonPatch,
    testing::Values(
        Case{"A1AddMember", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
             R"({"baz":"qux","foo":"bar"})"},
        Case{"A2AddElement", R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
             R"({"foo":["bar","qux","baz"]})"},
        Case{"A3RemoveMember", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
             R"({"foo":"bar"})"},
        Case{"A4RemoveElement", R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
             R"({"foo":["bar","baz"]})"},
        Case{"A5Replace", R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
             R"({"baz":"boo","foo":"bar"})"},
        Case{"A6MoveMember", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
             R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
             R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
        Case{"A7MoveElement", R"({"foo":["all","grass","cows","eat"]})",
             R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])", R"({"foo":["all","cows","eat","grass"]})"},
        Case{"A8TestHolds", R"({"baz":"qux","foo":["a",2,"c"]})",
             R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
             R"({"baz":"qux","foo":["a",2,"c"]})"},
        Case{"A9TestFails", R"({"baz":"qux"})", R"([{"op":"test","path":"/baz","value":"bar"}])", ""},
        Case{"A10AddNested", R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
             R"({"foo":"bar","child":{"grandchild":{}}})"},
        Case{"A11UnknownMembersAreIgnored", R"({"foo":"bar"})",
             R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})"},
        Case{"A12AddToNothing", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":"qux"}])", ""},
        Case{"A14Escapes", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
        Case{"A15StringIsNoNumber", R"({"~1":10})", R"([{"op":"test","path":"/~01","value":"10"}])", ""},
        Case{"A16AddArrayValue", R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
             R"({"foo":["bar",["abc","def"]]})"},
        Case{"CopyIsIndependent", R"({"a":{"x":1}})",
             R"([{"op":"copy","from":"/a","path":"/b"},{"op":"replace","path":"/a/x","value":2}])",
             R"({"a":{"x":2},"b":{"x":1}})"},
        Case{"WholeDocument", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
        Case{"MoveIntoItself", R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", ""},
        Case{"MoveOntoItself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
        Case{"LeadingZero", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])", ""},
        Case{"PastTheEnd", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])", ""},
        Case{"RemoveDash", R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])", ""},
        Case{"HugeIndex", R"({"a":[1]})", R"([{"op":"remove","path":"/a/99999999999999999999"}])", ""},
        Case{"ReplaceMissing", R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])", ""},
        Case{"RemoveMissing", R"({"a":1})", R"([{"op":"remove","path":"/b"}])", ""},
        Case{"UnknownOperation", R"({"a":1})", R"([{"op":"frob","path":"/a"}])", ""},
        Case{"NoPath", R"({"a":1})", R"([{"op":"remove"}])", ""},
        Case{"NoSlash", R"({"a":1})", R"([{"op":"remove","path":"a"}])", ""},
        Case{"BadEscape", R"({"a":1})", R"([{"op":"remove","path":"/~2"}])", ""},
        Case{"NoValue", R"({"a":1})", R"([{"op":"add","path":"/b"}])", ""},
        Case{"NullIsAValue", R"({"a":1})", R"([{"op":"add","path":"/b","value":null}])", R"({"a":1,"b":null})"},
        Case{"IntoAScalar", R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])", ""},
        Case{"NoObject", R"({"a":1})", R"([1])", ""}),
    [](const auto& test) { return test.param.name; });

TEST(JsonPatchLimits, OfOperations) {
  JsonArray patch(10'000, json(R"({"op":"test","path":"/a","value":1})"));
  EXPECT_TRUE(apply_json_patch(json(R"({"a":1})"), patch));
  patch.push_back(patch.front());
  const auto refused = apply_json_patch(json(R"({"a":1})"), patch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 413);
}

TEST(JsonPatchLimits, OfCopiedDataStopCopiesOfCopies) {
  Json object = json(R"({"a":[]})");
  object.get_object()["a"] = std::string(1000, 'x');
  JsonArray patch;
  for (int i = 0; i < 40; ++i) {
    patch.push_back(json(R"({"op":"add","path":"/b","value":[]})"));
    patch.push_back(json(R"({"op":"copy","from":"/a","path":"/b/-"})"));
    patch.push_back(json(R"({"op":"copy","from":"/b","path":"/a"})"));
    patch.push_back(json(R"({"op":"copy","from":"/a","path":"/b/-"})"));
    patch.push_back(json(R"({"op":"copy","from":"/b","path":"/a"})"));
  }
  const auto refused = apply_json_patch(object, patch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_NE(refused.error().message.find("copied data"), std::string::npos) << refused.error().message;
}

TEST(JsonPatchLimits, OfDepthHoldForMovesToo) {
  JsonArray patch;
  for (int i = 0; i < 300; ++i) {
    patch.push_back(json(R"({"op":"add","path":"/n","value":{}})"));
    patch.push_back(json(R"({"op":"move","from":"/a","path":"/n/a"})"));
    patch.push_back(json(R"({"op":"move","from":"/n","path":"/a"})"));
  }
  const auto refused = apply_json_patch(json(R"({"a":{}})"), patch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the result nests more than 256 levels");
}

TEST(JsonPatchErrors, NameTheOperationAndThePath) {
  const auto refused = apply_json_patch(
      json(R"({"data":{}})"), json(R"([{"op":"add","path":"/x","value":1},{"op":"remove","path":"/data/zz"}])"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "json patch operation 1 at /data/zz: the path does not exist");
}

TEST(JsonPatchErrors, AListIsExpected) {
  const auto refused = apply_json_patch(json("{}"), json(R"({"op":"x"})"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 400);
  EXPECT_EQ(refused.error().message,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp");
}

// A patch of some hundred kilobytes must not hold the server up for minutes.
TEST(JsonPatchLimits, ItemsThatAreShiftedAreCounted) {
  const auto removals = [](const std::string& from) {
    JsonArray patch(10'000, Json(JsonObject{{"op", "remove"}, {"path", from}}));
    return Json(std::move(patch));
  };
  const Json few = JsonObject{{"list", JsonArray(10'000, Json(1))}};
  const auto all_removed = apply_json_patch(few, removals("/list/0"));
  ASSERT_TRUE(all_removed) << all_removed.error().message;
  EXPECT_TRUE(array_at(*all_removed, {"list"}).empty());

  const Json many = JsonObject{{"list", JsonArray(20'000, Json(1))}};
  const auto refused = apply_json_patch(many, removals("/list/0"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_NE(refused.error().message.find("list items"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(apply_json_patch(many, removals("/list/10000"))) << "the end of the list is near";
}

}  // namespace
}  // namespace berth::apiserver::json_patch_test
