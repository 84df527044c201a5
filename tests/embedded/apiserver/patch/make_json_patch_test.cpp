// Generated patches, applied by the code that applies patches of clients.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json_patch.h"
#include "embedded/apiserver/patch/patch.h"
#include "support/json_gen.h"

namespace berth::apiserver::make_json_patch_test {
namespace {

Json parse(std::string_view text) { return parse_json(text).value(); }

RC_GTEST_PROP(MakeJsonPatch, LeadsFromOneToTheOther, ()) {
  const Json from = *testing_support::any_json(), to = *testing_support::any_json();
  const auto patched = apply_json_patch(from, make_json_patch(from, to));
  RC_ASSERT(patched.has_value());
  RC_ASSERT(json_equal(*patched, to));
}

// Documents that are mostly equal, like an object before and after defaulting.
RC_GTEST_PROP(MakeJsonPatch, NamesOnlyWhatWasAdded, ()) {
  const Json from(
      JsonObject{{"spec", *testing_support::any_json()}, {"list", JsonArray{*testing_support::any_json(), 7}}});
  Json to = from;
  to.as_object()["a/b~c"] = *testing_support::any_json(1);
  to.as_object()["list"].as_array().push_back(*testing_support::any_json(1));
  const Json patch = make_json_patch(from, to);
  RC_ASSERT(patch.as_array().size() == 2u);
  RC_ASSERT(json_equal(apply_json_patch(from, patch).value(), to));
}

RC_GTEST_PROP(MakeJsonPatch, IsEmptyBetweenEquals, ()) {
  const Json value = *testing_support::any_json();
  RC_ASSERT(make_json_patch(value, testing_support::shuffled(value)).as_array().empty());
}

TEST(MakeJsonPatch, NamesTheSmallestParts) {
  EXPECT_EQ(to_string(make_json_patch(parse(R"({"a":{"b":1,"c":2}})"), parse(R"({"a":{"b":1,"c":3}})"))),
            R"([{"op":"replace","path":"/a/c","value":3}])");
  EXPECT_EQ(to_string(make_json_patch(parse(R"([1,2,3,4])"), parse(R"([1,4])"))),
            R"([{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}])");
  EXPECT_EQ(to_string(make_json_patch(parse(R"([{"a":1},{"a":2}])"), parse(R"([{"a":1,"b":1},{"a":2},3])"))),
            R"([{"op":"add","path":"/0/b","value":1},{"op":"add","path":"/2","value":3}])");
  EXPECT_EQ(to_string(make_json_patch(parse("1"), parse("null"))), R"([{"op":"replace","path":"","value":null}])");
}

}  // namespace
}  // namespace berth::apiserver::make_json_patch_test
