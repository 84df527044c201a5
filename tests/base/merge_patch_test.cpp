#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.h"
#include "base/merge_patch.h"
#include "support/json_gen.h"

namespace berth::merge_patch_test {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

struct Case {
  const char *object, *patch, *result;
};

// RFC 7396, appendix A.
TEST(MergePatch, GivesTheExamplesOfTheRfc) {
  const Case cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(apply_merge_patch(json(c.object), json(c.patch))), c.result)
        << c.object << " patched with " << c.patch;
  }
}

TEST(MergePatch, MadeOfTwoObjectsSaysOnlyWhatDiffers) {
  EXPECT_EQ(to_string(make_merge_patch(json(R"({"a":1,"b":{"x":1,"y":2},"c":[1],"d":1})"),
                                       json(R"({"a":1,"b":{"x":1,"y":3},"c":[1,2],"e":{}})"))),
            R"({"d":null,"b":{"y":3},"c":[1,2],"e":{}})");
  EXPECT_EQ(to_string(make_merge_patch(json(R"({"a":{"b":1}})"), json(R"({"a":{"b":1}})"))), "{}");
}

// A merge patch cannot set null: null removes the member.
Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& [key, child] : value.get_object()) {
    if (!child.is_null()) out.emplace(key, without_nulls(child));
  }
  return out;
}

RC_GTEST_PROP(MergePatchLaws, TheMadePatchLeadsToTheOther, ()) {
  const Json from = without_nulls(*testing_support::any_json());
  const Json to = without_nulls(*testing_support::any_json());
  RC_ASSERT(json_equal(apply_merge_patch(from, make_merge_patch(from, to)), to));
}

RC_GTEST_PROP(MergePatchLaws, TwiceIsOnce, ()) {
  const Json object = *testing_support::any_json();
  const Json patch = *testing_support::any_json();
  const Json once = apply_merge_patch(object, patch);
  RC_ASSERT(canonical_json(apply_merge_patch(once, patch)) == canonical_json(once));
}

RC_GTEST_PROP(MergePatchLaws, NothingToChangeIsAnEmptyPatch, ()) {
  const Json object = *testing_support::any_json();
  const Json other = testing_support::shuffled(object);
  const Json patch = make_merge_patch(object, other);
  if (!object.is_object()) RC_ASSERT(json_equal(patch, object));
  if (object.is_object()) RC_ASSERT(patch == Json(JsonObject()));
}

}  // namespace
}  // namespace berth::merge_patch_test
