#include "api/meta.h"

#include <gtest/gtest.h>

namespace berth::api::meta_test {
namespace {

TEST(ObjectMeta, ReadsAndWritesBack) {
  const Json object = *parse_json(
      R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":2,)"
      R"("creationTimestamp":"2026-11-21T09:30:00Z","deletionTimestamp":"2026-11-21T09:31:00Z","labels":{"x":"1"},"annotations":{"y":"2"},)"
      R"("finalizers":["f"],"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"ju","controller":true,)"
      R"("blockOwnerDeletion":true}]}})");
  const ObjectMeta meta = decode_meta(object);
  EXPECT_EQ(object_key(meta), "n/a");
  EXPECT_TRUE(meta.owners.at(0).controller);
  EXPECT_TRUE(json_equal(encode_meta(meta), object.at("metadata")));
}

TEST(ObjectMeta, TakesWhatIsWrongAsAbsent) {
  const ObjectMeta meta =
      decode_meta(*parse_json(R"({"metadata":{"name":5,"labels":{"a":1,"b":"2"},"finalizers":{},"generation":"x"}})"));
  EXPECT_EQ(meta.name, "");
  EXPECT_EQ(meta.labels, (StringMap{{"b", "2"}}));
  EXPECT_EQ(meta.generation, 0);
  EXPECT_EQ(decode_meta(*parse_json("[]")), ObjectMeta{});
}

Condition condition(std::string_view type, bool status, int second, std::string_view message = "m") {
  Condition c;
  c.type = type;
  c.status = status;
  c.reason = "R";
  c.message = message;
  c.last_transition = Time(std::chrono::seconds(second));
  return c;
}

TEST(Conditions, TransitionTimeMovesWithTheStatusOnly) {
  Conditions conditions;
  EXPECT_TRUE(set_condition(conditions, condition("A", true, 1)));
  EXPECT_FALSE(set_condition(conditions, condition("A", true, 2)));
  EXPECT_TRUE(set_condition(conditions, condition("A", true, 3, "other")));
  EXPECT_EQ(conditions.at(0).last_transition, Time(std::chrono::seconds(1)));
  EXPECT_TRUE(set_condition(conditions, condition("A", false, 4)));
  EXPECT_EQ(conditions.at(0).last_transition, Time(std::chrono::seconds(4)));
  EXPECT_FALSE(is_true(conditions, "A"));
  EXPECT_FALSE(is_true(conditions, "B"));
  EXPECT_TRUE(remove_condition(conditions, "A"));
  EXPECT_FALSE(remove_condition(conditions, "A"));
}

TEST(Conditions, LongMessagesAreCutBetweenCharacters) {
  Conditions conditions;
  std::string message(32767, 'x');
  message += "\u00e9\u00e9";
  set_condition(conditions, condition("A", true, 1, message));
  EXPECT_EQ(conditions.at(0).message, std::string(32767, 'x'));
  EXPECT_FALSE(set_condition(conditions, condition("A", true, 1, message)));
}

TEST(Conditions, ReadAndWriteBack) {
  const Json array = *parse_json(
      R"([{"type":"A","status":"Unknown","observedGeneration":3,"lastTransitionTime":"2026-11-21T09:30:00Z","reason":"R","message":"m"}])");
  const Conditions conditions = decode_conditions(array);
  EXPECT_TRUE(conditions.at(0).unknown);
  EXPECT_TRUE(json_equal(encode_conditions(conditions), array));
}

}  // namespace
}  // namespace berth::api::meta_test
