// Each version of an object is decoded once. A version that cannot be decoded counts as the last readable one.
#include "kube/decoded_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth::kube::decoded_objects_test {
namespace {

using testing::ElementsAre;

struct Thing {
  api::ObjectMeta meta;
  std::int64_t size = 0;
};

Result<Thing> decode_thing(const Json& object) {
  const Json* size = find(object, "size");
  if (size != nullptr && !size->is_int64()) return fail("size: expected a number");
  return Thing{api::decode_meta(object), int_at(object, {"size"})};
}

JsonPtr thing(Json size, std::string_view uid = "u", std::string_view label = "", bool deleting = false) {
  JsonObject metadata{{"name", "a"}, {"namespace", "ns"}, {"uid", uid}, {"labels", JsonObject{{"l", label}}}};
  if (deleting) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return std::make_shared<const Json>(
      JsonObject{{"kind", "Thing"}, {"metadata", std::move(metadata)}, {"size", std::move(size)}});
}

class Reports : public DecodeReports {
 public:
  void unreadable(const Json&, const std::string& why) override { reported.push_back(why); }
  void readable(const Json&) override { reported.emplace_back("readable"); }
  std::vector<std::string> reported;
};

class DecodedObjectsTest : public testing::Test {
 protected:
  Reports reports;
  DecodedObjects<Thing> things{decode_thing, &reports};
};

TEST_F(DecodedObjectsTest, AChangeHasBothValues) {
  const auto added = things.changed(nullptr, thing(1));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->key, "ns/a");
  EXPECT_FALSE(added->old);
  EXPECT_EQ(added->now->size, 1);
  const auto changed = things.changed(thing(1), thing(2));
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->old, added->now) << "it is not decoded again";
  EXPECT_EQ(things.get("ns/a"), changed->now);
  const auto gone = things.changed(thing(2), nullptr);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->old, changed->now);
  EXPECT_FALSE(gone->now);
  EXPECT_TRUE(things.all().empty());
}

TEST_F(DecodedObjectsTest, AnUnreadableVersionCountsAsTheLastReadableOneWithThePresentMetadata) {
  things.changed(nullptr, thing(3));
  const auto change = things.changed(thing(3), thing("large", "u", "new", true));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->now->size, 3);
  EXPECT_EQ(change->now->meta.labels.at("l"), "new");
  EXPECT_TRUE(change->now->meta.deletion);
  EXPECT_THAT(reports.reported, ElementsAre("readable", "size: expected a number"));
}

TEST_F(DecodedObjectsTest, AnotherObjectOfTheSameNameDoesNotInheritTheValue) {
  things.changed(nullptr, thing(3));
  const auto change = things.changed(thing(3), thing("large", "v"));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->old);
  EXPECT_FALSE(change->now);
  EXPECT_FALSE(things.get("ns/a"));
}

TEST_F(DecodedObjectsTest, AnObjectThatWasNeverReadIsUnknownUntilItIsDeleted) {
  EXPECT_FALSE(things.changed(nullptr, thing("large")));
  const auto leaving = things.changed(thing("large"), thing("large", "u", "", true));
  ASSERT_TRUE(leaving);
  EXPECT_EQ(leaving->now->size, 0) << "without content";
  EXPECT_TRUE(leaving->now->meta.deletion);
}

TEST(DecodedObjects, AnEqualValueIsNoChange) {
  DecodedObjects<std::int64_t> sizes([](const Json& object) { return int_at(object, {"size"}); });
  ASSERT_TRUE(sizes.changed(nullptr, thing(1)));
  const auto before = sizes.get("ns/a");
  EXPECT_FALSE(sizes.changed(thing(1), thing(1, "u", "new")));
  EXPECT_EQ(sizes.get("ns/a"), before);
  EXPECT_TRUE(sizes.changed(thing(1), thing(2)));
}

}  // namespace
}  // namespace berth::kube::decoded_objects_test
