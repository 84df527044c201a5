#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/schemas.h"

namespace berth::apiserver::strategic_merge_test {
namespace {

using patch_tests::everything;
using patch_tests::yaml;

struct Case {
  const char *name, *object, *patch, *result;
};

class StrategicMerge : public testing::TestWithParam<Case> {};

TEST_P(StrategicMerge, GivesTheExpectedObject) {
  const auto& c = GetParam();
  const auto result = apply_strategic_merge_patch(yaml(c.object), yaml(c.patch), everything());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(canonical_json(*result), canonical_json(yaml(c.result)));
}

INSTANTIATE_TEST_SUITE_P(
    Directives, StrategicMerge,
    testing::Values(
        Case{"MergesMaps", "{spec: {replicas: 1, paused: true}}", "{spec: {replicas: 2}}",
             "{spec: {replicas: 2, paused: true}}"},
        Case{"NullRemoves", "{spec: {replicas: 1, paused: true}}", "{spec: {paused: null}}", "{spec: {replicas: 1}}"},
        Case{"NullOfNothingIsNothing", "{spec: {}}", "{spec: {paused: null, free: {a: {b: null}}}}",
             "{spec: {free: {a: {}}}}"},
        Case{"MergesMembersByKey", "{spec: {items: [{name: a, image: x}, {name: b, image: y}]}}",
             "{spec: {items: [{name: b, image: z}]}}", "{spec: {items: [{name: a, image: x}, {name: b, image: z}]}}"},
        Case{"NewMembersComeBeforeThoseOfTheServer", "{status: {conditions: [{type: Ready, status: t}]}}",
             "{status: {conditions: [{type: Custom, status: t}]}}",
             "{status: {conditions: [{type: Custom, status: t}, {type: Ready, status: t}]}}"},
        Case{"ReplacesAtomicLists", "{spec: {args: [a, b]}}", "{spec: {args: [c]}}", "{spec: {args: [c]}}"},
        Case{"MergesSets", "{spec: {tags: [a, b]}}", "{spec: {tags: [b, c]}}", "{spec: {tags: [a, b, c]}}"},
        Case{"DeletesAMember", "{spec: {items: [{name: a}, {name: b}]}}",
             "{spec: {items: [{$patch: delete, name: a}]}}", "{spec: {items: [{name: b}]}}"},
        Case{"DeletesAndAdds", "{spec: {items: [{name: a}, {name: b}]}}",
             "{spec: {items: [{$patch: delete, name: a}, {name: c, image: i}]}}",
             "{spec: {items: [{name: c, image: i}, {name: b}]}}"},
        Case{"ReplacesAList", "{spec: {items: [{name: a}, {name: b}]}}",
             "{spec: {items: [{$patch: replace}, {name: c}]}}", "{spec: {items: [{name: c}]}}"},
        Case{"EmptiesAList", "{spec: {items: [{name: a}]}}", "{spec: {items: [{$patch: replace}]}}",
             "{spec: {items: []}}"},
        Case{"ReplacesAMap", "{spec: {selector: {a: b}, replicas: 1}}", "{spec: {selector: {$patch: replace, c: d}}}",
             "{spec: {selector: {c: d}, replicas: 1}}"},
        Case{"DeletesAMap", "{spec: {selector: {a: b}, replicas: 1}}", "{spec: {selector: {$patch: delete}}}",
             "{spec: {selector: {}, replicas: 1}}"},
        Case{"DeletesFromAPrimitiveList", "{metadata: {finalizers: [a/x, a/y, a/z]}}",
             "{metadata: {$deleteFromPrimitiveList/finalizers: [a/x, a/z]}}", "{metadata: {finalizers: [a/y]}}"},
        Case{"DeletesFromAndAddsToAPrimitiveList", "{metadata: {finalizers: [a/x, a/y]}}",
             "{metadata: {$deleteFromPrimitiveList/finalizers: [a/x], finalizers: [a/w]}}",
             "{metadata: {finalizers: [a/w, a/y]}}"},
        Case{"OrdersMembers", "{spec: {items: [{name: a}, {name: b}, {name: c}]}}",
             "{spec: {$setElementOrder/items: [{name: c}, {name: a}], items: [{name: a, image: i}]}}",
             "{spec: {items: [{name: b}, {name: c}, {name: a, image: i}]}}"},
        Case{"OrdersAnUntouchedList", "{spec: {tags: [a, b, c]}}", "{spec: {$setElementOrder/tags: [c, b, a]}}",
             "{spec: {tags: [c, b, a]}}"},
        Case{"RetainsKeys", "{spec: {free: {a: 1, b: 2}}}", "{spec: {free: {$retainKeys: [b, c], c: 3}}}",
             "{spec: {free: {b: 2, c: 3}}}"},
        Case{"DirectivesInNewPartsLeaveNoTrace", "{}",
             "{spec: {$setElementOrder/items: [{name: a}], items: [{name: a}, {name: b, $patch: delete}]}}",
             "{spec: {items: [{name: a}]}}"},
        Case{"AnotherFormReplaces", "{spec: {free: {a: [1]}}}", "{spec: {free: {a: {b: 1}}}}",
             "{spec: {free: {a: {b: 1}}}}"}),
    [](const auto& test) { return test.param.name; });

TEST(StrategicMergeErrors, SayWhatIsWrong) {
  const struct {
    const char *patch, *says;
    int code;
  } cases[] = {
      {"{spec: {items: [{image: i}]}}", "does not contain declared merge key: name", 422},
      {"{spec: {items: [{name: a, $patch: frob}]}}", "Unknown patch type", 422},
      {"{spec: {$patch: frob}}", "Unknown patch type", 422},
      {"{spec: {$retainKeys: [a], replicas: 2}}", "$retainKeys", 400},
      {"{spec: {$setElementOrder/items: [{name: a}, {name: b}], items: [{name: b}, {name: a}]}}", "doesn't match", 422},
      {"{spec: {$setElementOrder/tags: x}}", "must be a list", 400},
      {"{spec: {tags: [[a]]}}", "lists of lists", 422},
      {"[]", "expected an object", 400},
  };
  for (const auto& c : cases) {
    const auto refused = apply_strategic_merge_patch(yaml("{spec: {tags: [x]}}"), yaml(c.patch), everything());
    ASSERT_FALSE(refused) << c.patch;
    EXPECT_EQ(refused.error().code, c.code) << c.patch;
    EXPECT_NE(refused.error().message.find(c.says), std::string::npos) << refused.error().message;
  }
}

Json items_patch(const std::map<std::string, std::string>& images) {
  JsonArray items;
  for (const auto& [name, image] : images) items.push_back({{"name", name}, {"image", image}});
  return {{"spec", {{"items", items}}}};
}

std::map<std::string, std::string> images_of(const Json& object) {
  std::map<std::string, std::string> out;
  for (const auto& item : array_at(object, {"spec", "items"})) {
    out.emplace(string_at(item, {"name"}), string_at(item, {"image"}));
  }
  return out;
}

// An item "a" with that many ports, the first of them 0.
Json with_ports(std::size_t count) {
  JsonArray ports;
  for (std::size_t i = 0; i < count; ++i) ports.push_back(JsonObject{{"port", i}, {"protocol", "TCP"}});
  return JsonObject{{"name", "a"}, {"ports", std::move(ports)}};
}

Json with_items(JsonArray items) { return JsonObject{{"spec", JsonObject{{"items", std::move(items)}}}}; }

// A patch that names one item with a long list again and again would copy the list each time.
TEST(StrategicMergeBounds, APatchMayNotNameTheSameItemsWithoutEnd) {
  const Json object = with_items({with_ports(2000)});
  const JsonArray again(2000, with_ports(1));
  const auto refused = apply_strategic_merge_patch(object, with_items(again), everything());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_EQ(
      refused.error().message,
      "items: ports: the patch visits more than 1048576 list items and members: it must not name the same ones so "
      "often");
  JsonObject erases{{"name", "a"}, {"limits", JsonObject{{"none", nullptr}}}}, limits;
  for (int i = 0; i < 2000; ++i) limits["l" + std::to_string(i)] = "1";
  const Json limited = with_items({JsonObject{{"name", "a"}, {"limits", limits}}});
  EXPECT_FALSE(apply_strategic_merge_patch(limited, with_items(JsonArray(2000, erases)), everything()));
}

TEST(StrategicMergeBounds, LongListsMerge) {
  const Json object = with_items({with_ports(100'000)});
  const auto same = apply_strategic_merge_patch(object, object, everything());
  ASSERT_TRUE(same);
  EXPECT_EQ(canonical_json(*same), canonical_json(object));
  const auto few = apply_strategic_merge_patch(object, with_items(JsonArray(5, with_ports(2))), everything());
  ASSERT_TRUE(few);
  EXPECT_EQ(canonical_json(*few), canonical_json(object));
}

using Images = std::map<std::string, std::string>;

rc::Gen<Images> images(std::vector<std::string> names) {
  const auto image = rc::gen::element<std::string>("i", "j", "k");
  return rc::gen::map(rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
                          rc::gen::pair(rc::gen::elementOf(names), image)),
                      [](const auto& pairs) { return Images(pairs.begin(), pairs.end()); });
}

RC_GTEST_PROP(StrategicMergeLaws, PatchesOfDisjointMembersCommute, ()) {
  const auto live = items_patch(*images({"a", "b", "c", "d", "e", "f"}));
  const auto one = items_patch(*images({"a", "b", "c"}));
  const auto two = items_patch(*images({"d", "e", "f"}));
  const auto apply = [](const Json& object, const Json& patch) {
    return apply_strategic_merge_patch(object, patch, everything()).value();
  };
  RC_ASSERT(images_of(apply(apply(live, one), two)) == images_of(apply(apply(live, two), one)));
}

RC_GTEST_PROP(StrategicMergeLaws, TwiceIsOnce, ()) {
  const auto live = items_patch(*images({"a", "b", "c", "d"}));
  const auto patch = items_patch(*images({"c", "d", "e"}));
  const auto once = apply_strategic_merge_patch(live, patch, everything()).value();
  RC_ASSERT(canonical_json(apply_strategic_merge_patch(once, patch, everything()).value()) == canonical_json(once));
}

}  // namespace
}  // namespace berth::apiserver::strategic_merge_test
