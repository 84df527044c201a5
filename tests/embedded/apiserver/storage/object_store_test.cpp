#include "embedded/apiserver/storage/object_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::apiserver::object_store_test {
namespace {

const std::string kBucket = bucket_of("g", "things");

// A log whose writes become durable, and which has trouble, when the test decides.
class HeldLog final : public Log {
 public:
  void on_trouble(std::function<void(const std::string&)> reported) override { trouble = std::move(reported); }
  void append(std::vector<Change>, std::function<void(Result<void>)> done) override { held.push_back(std::move(done)); }
  Result<Snapshot> load() override { return snapshot; }
  void release(Result<void> outcome = {}) {
    auto done = std::move(held.front());
    held.erase(held.begin());
    done(outcome);
  }
  Snapshot snapshot;
  std::vector<std::function<void(Result<void>)>> held;
  std::function<void(const std::string&)> trouble;
};

struct ObjectStoreTest : testing::Test {
  ObjectStoreTest() {
    auto owned = std::make_unique<HeldLog>();
    log = owned.get();
    store = std::make_unique<ObjectStore>(executor, std::move(owned), StoreOptions{4, 3});
    EXPECT_TRUE(store->load());
  }
  Revision put(std::string_view name, int value, Revision expected) {
    const auto stored = store->put(key_of(kBucket, "ns", name), JsonObject{{"value", value}}, expected);
    return stored ? int_at(**stored, {"unused"}, store->revision()) : -1;
  }
  std::string listed(Revision at) const {
    std::string text;
    store->scan(kBucket, "", "", at, [&](std::string_view item, const JsonPtr& object) {
      text += std::string(item) + "=" + std::to_string(int_at(*object, {"value"})) + " ";
      return true;
    });
    return text;
  }

  VirtualExecutor executor{Time{}};
  HeldLog* log = nullptr;
  std::unique_ptr<ObjectStore> store;
};

TEST_F(ObjectStoreTest, KeysHaveFourParts) {
  const auto key = parse_key("batch/jobs/ns/a");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->bucket, "batch/jobs/");
  EXPECT_EQ(key->item, "ns/a");
  EXPECT_EQ(parse_key("/nodes//n1")->item, "/n1");
  EXPECT_FALSE(parse_key("batch/jobs/a"));
  EXPECT_FALSE(parse_key("x"));
}

TEST_F(ObjectStoreTest, WritesCarryTheirRevision) {
  const auto stored = store->put(key_of(kBucket, "ns", "a"), JsonObject{{"metadata", JsonObject{{"name", "a"}}}}, 0);
  ASSERT_TRUE(stored);
  EXPECT_EQ(to_string(**stored), R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  EXPECT_EQ(store->revision_of(kBucket, "ns/a"), 1);
}

TEST_F(ObjectStoreTest, AWriteAtAnotherRevisionIsAConflict) {
  put("a", 1, 0);
  EXPECT_EQ(put("a", 2, 0), -1);
  EXPECT_EQ(put("a", 2, 7), -1);
  EXPECT_EQ(put("a", 2, 1), 2);
  const auto removed = store->remove(key_of(kBucket, "ns", "a"), 1);
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error(), WriteError::kConflict);
}

TEST_F(ObjectStoreTest, NothingIsShownBeforeItIsDurable) {
  std::vector<Revision> seen;
  store->observe([&](const Change& change) { seen.push_back(change.revision); });
  put("a", 1, 0);
  put("b", 1, 0);
  bool reported = false;
  store->when_durable(2, [&](bool durable) { reported = durable; });
  log->release();
  EXPECT_EQ(seen, std::vector<Revision>{1});
  EXPECT_FALSE(reported);
  log->release();
  EXPECT_TRUE(reported);
  EXPECT_EQ(seen, (std::vector<Revision>{1, 2}));
}

TEST_F(ObjectStoreTest, WhoListensToWritesIsNeverBehindTheStore) {
  auto owned = std::make_unique<HeldLog>();
  owned->snapshot = {7, {{kBucket + "ns/old", 5, std::make_shared<const Json>(JsonObject{{"value", 1}})}}};
  store = std::make_unique<ObjectStore>(executor, std::move(owned), StoreOptions{4, 3});
  std::vector<std::string> reported;
  store->on_write([&](const Change& change) {
    const auto value = [](const JsonPtr& object) {
      return object ? std::to_string(int_at(*object, {"value"})) : "none";
    };
    reported.push_back(change.key.substr(kBucket.size()) + "@" + std::to_string(change.revision) + " " +
                       value(change.previous) + ">" +
                       (change.type == Change::Type::kDeleted ? "gone" : value(change.object)));
  });
  ASSERT_TRUE(store->load());
  put("old", 2, 5);
  put("new", 3, 0);
  put("new", 4, 99);  // a conflict is no write
  ASSERT_TRUE(store->remove(key_of(kBucket, "ns", "old"), 8));
  EXPECT_EQ(reported,
            (std::vector<std::string>{"ns/old@5 none>1", "ns/old@8 1>2", "ns/new@9 none>3", "ns/old@10 2>gone"}))
      << "nothing of it is durable yet";
}

TEST_F(ObjectStoreTest, WritesBeyondTheBacklogAreRefused) {
  put("a", 1, 0);
  put("b", 1, 0);
  put("c", 1, 0);
  const auto refused = store->put(key_of(kBucket, "ns", "d"), JsonObject{}, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), WriteError::kOverloaded);
  log->release();
  EXPECT_EQ(put("d", 1, 0), 4);
}

TEST_F(ObjectStoreTest, WhileTheLogCannotWriteNobodyWaitsAndNoWriteIsTaken) {
  put("a", 1, 0);
  log->release();
  put("a", 2, 1);
  put("b", 1, 0);
  std::vector<bool> reported;
  store->when_durable(1, [&](bool durable) { reported.push_back(durable); });
  store->when_durable(3, [&](bool durable) { reported.push_back(durable); });
  log->trouble("the disk is full");
  store->when_durable(2, [&](bool durable) { reported.push_back(durable); });
  EXPECT_EQ(reported, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(store->failure(), "the disk is full");
  EXPECT_EQ(store->problem(), "the disk is full");
  const auto refused = store->put(key_of(kBucket, "ns", "c"), JsonObject{}, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), WriteError::kStopped);
  EXPECT_TRUE(passes(refused.error()));
  EXPECT_TRUE(store->busy());
  // What can be shown is what is durable.
  EXPECT_EQ(store->readable(), 1);
  EXPECT_EQ(listed(store->readable()), "ns/a=1 ");
  EXPECT_EQ(store->get_at(kBucket, "ns/a", 1).revision, 1);
  EXPECT_EQ(int_at(*store->get_at(kBucket, "ns/a", 1).object, {"value"}), 1);
  EXPECT_EQ(store->get_at(kBucket, "ns/b", 1).object, nullptr);
}

TEST_F(ObjectStoreTest, WhenTheLogWritesAgainNothingThatItWasGivenIsLost) {
  std::vector<Revision> seen;
  store->observe([&](const Change& change) { seen.push_back(change.revision); });
  put("a", 1, 0);
  put("b", 1, 0);
  log->trouble("the disk is full");
  log->trouble("the disk is gone");
  EXPECT_EQ(store->failure(), "the disk is gone");
  log->release();
  log->release();
  EXPECT_FALSE(store->failure().empty()) << "the log has not said that it can write";
  log->trouble("");
  EXPECT_EQ(store->failure(), "");
  EXPECT_EQ(store->failures(), 1u);
  EXPECT_EQ(seen, (std::vector<Revision>{1, 2}));
  EXPECT_EQ(put("a", 2, 1), 3);
  EXPECT_EQ(listed(store->readable()), "ns/a=2 ns/b=1 ");
}

TEST_F(ObjectStoreTest, ALogThatConfirmsNothingIsAProblemAfterTenSeconds) {
  executor.run_until(executor.now() + std::chrono::minutes(1));
  put("a", 1, 0);
  EXPECT_EQ(store->problem(), "");
  executor.run_until(executor.now() + std::chrono::seconds(9));
  EXPECT_EQ(store->problem(), "");
  executor.run_until(executor.now() + std::chrono::seconds(3));
  EXPECT_EQ(store->problem(), "no write was confirmed for 12 s: the disk does not answer");
  put("b", 1, 0);
  log->release();
  EXPECT_EQ(store->problem(), "");
}

TEST_F(ObjectStoreTest, ThePastIsListedAsItWas) {
  put("a", 1, 0);
  put("b", 1, 0);
  log->release();
  log->release();
  put("a", 2, 1);
  ASSERT_TRUE(store->remove(key_of(kBucket, "ns", "b"), 2));
  EXPECT_EQ(listed(1), "ns/a=1 ");
  EXPECT_EQ(listed(2), "ns/a=1 ns/b=1 ");
  EXPECT_EQ(listed(3), "ns/a=2 ns/b=1 ");
  EXPECT_EQ(listed(4), "ns/a=2 ");
}

TEST_F(ObjectStoreTest, TheHistoryIsBounded) {
  for (int i = 0; i < 9; ++i) {
    EXPECT_GT(put("a" + std::to_string(i % 3), i, i < 3 ? 0 : i - 2), 0);
    log->release();
  }
  EXPECT_EQ(store->floor(), 5);
  std::vector<Revision> replayed;
  store->replay(kBucket, 5, [&](const Change& change) { replayed.push_back(change.revision); });
  EXPECT_EQ(replayed, (std::vector<Revision>{6, 7, 8, 9}));
  EXPECT_EQ(listed(5), "ns/a0=3 ns/a1=4 ns/a2=2 ");
}

TEST_F(ObjectStoreTest, ARemovalShowsTheLastStateAtItsOwnRevision) {
  put("a", 1, 0);
  const auto last = store->remove(key_of(kBucket, "ns", "a"), 1);
  ASSERT_TRUE(last);
  EXPECT_EQ(to_string(**last), R"({"value":1,"metadata":{"resourceVersion":"2"}})");
  EXPECT_EQ(store->get(kBucket, "ns/a"), nullptr);
  EXPECT_EQ(put("a", 3, 0), 3);
}

TEST(ObjectStoreLoad, TakesOverTheLog) {
  VirtualExecutor executor{Time{}};
  auto log = std::make_unique<HeldLog>();
  log->snapshot = {9, {{"g/things/ns/a", 4, std::make_shared<const Json>(JsonObject{{"value", 1}})}}};
  ObjectStore store(executor, std::move(log), {});
  ASSERT_TRUE(store.load());
  EXPECT_EQ(store.revision(), 9);
  EXPECT_EQ(store.floor(), 9);
  EXPECT_EQ(store.revision_of(kBucket, "ns/a"), 4);
}

TEST(ObjectStoreLoad, RefusesALogThatContradictsItself) {
  VirtualExecutor executor{Time{}};
  const auto object = std::make_shared<const Json>(JsonObject{});
  for (const Log::Snapshot& bad :
       {Log::Snapshot{3, {{"g/things/ns/a", 4, object}}}, Log::Snapshot{3, {{"nonsense", 1, object}}},
        Log::Snapshot{3, {{"g/things/ns/a", 1, object}, {"g/things/ns/a", 2, object}}}}) {
    auto log = std::make_unique<HeldLog>();
    log->snapshot = bad;
    ObjectStore store(executor, std::move(log), {});
    EXPECT_FALSE(store.load());
  }
}

}  // namespace
}  // namespace berth::apiserver::object_store_test
