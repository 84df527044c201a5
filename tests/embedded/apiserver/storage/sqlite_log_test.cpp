#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include <filesystem>
#include <fstream>
#include <string>

#include "embedded/apiserver/storage/loop_executor.h"
#include "embedded/apiserver/storage/object_store.h"
#include "support/scratch_dir.h"

namespace berth::apiserver::sqlite_log_test {
namespace {

struct SqliteLogTest : testing::Test {
  SqliteLogTest() {
    directory = testing_support::make_scratch_dir("berth_log");
    path = directory / "state.db";
  }
  ~SqliteLogTest() override { std::filesystem::remove_all(directory); }

  std::unique_ptr<ObjectStore> open() {
    auto log = open_sqlite_log(path.string(), executor);
    EXPECT_TRUE(log) << log.error().message;
    if (!log) return nullptr;
    auto store = std::make_unique<ObjectStore>(executor, std::move(*log), StoreOptions{100, 100'000});
    const auto loaded = store->load();
    EXPECT_TRUE(loaded) << loaded.error().message;
    return store;
  }
  std::string refusal() {
    auto log = open_sqlite_log(path.string(), executor);
    if (!log) return log.error().message;
    ObjectStore store(executor, std::move(*log), {});
    const auto loaded = store.load();
    return loaded ? "" : loaded.error().message;
  }
  void settle(const ObjectStore& store) {
    executor.run_until([&] { return store.durable() == store.revision() || !store.failure().empty(); });
  }
  std::int64_t rows() const {
    sqlite3* db = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(db, "SELECT count(*) FROM log", -1, &statement, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const std::int64_t n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return n;
  }

  LoopExecutor executor;
  std::filesystem::path directory, path;
};

const ObjectKey kA = key_of("g/r/", "ns", "a");
const ObjectKey kB = key_of("g/r/", "ns", "b");

TEST_F(SqliteLogTest, WhatWasWrittenIsThereAgain) {
  {
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{{"text", "\xc3\xa9\n"}}, 0));
    ASSERT_TRUE(store->put(kB, JsonObject{}, 0));
    ASSERT_TRUE(store->put(kA, JsonObject{{"text", "two"}}, 1));
    ASSERT_TRUE(store->remove(kB, 2));
    settle(*store);
  }
  auto store = open();
  EXPECT_EQ(store->revision(), 4);
  EXPECT_EQ(to_string(*store->get(kA.bucket, kA.item)), R"({"text":"two","metadata":{"resourceVersion":"3"}})");
  EXPECT_EQ(store->get(kB.bucket, kB.item), nullptr);
}

TEST_F(SqliteLogTest, RevisionsAreNotUsedAgainAfterTheNewestObjectWasDeleted) {
  {
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{}, 0));
    ASSERT_TRUE(store->remove(kA, 1));
    settle(*store);
  }
  EXPECT_EQ(open()->revision(), 2);
}

TEST_F(SqliteLogTest, WritesThatWereNotWaitedForAreWrittenWhenTheLogCloses) {
  {
    auto store = open();
    for (Revision r = 0; r < 500; ++r) ASSERT_TRUE(store->put(kA, JsonObject{{"n", r}}, r));
  }
  EXPECT_EQ(open()->revision(), 500);
}

TEST_F(SqliteLogTest, SupersededRowsAreRemoved) {
  constexpr int kWrites = 20'000;
  {
    auto store = open();
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(store->put(key_of("g/r/", "ns", "k" + std::to_string(i)), JsonObject{}, 0));
    for (int i = 0; i < kWrites; ++i) {
      const ObjectKey key = key_of("g/r/", "ns", "k" + std::to_string(i % 100));
      ASSERT_TRUE(store->put(key, JsonObject{{"n", i}}, store->revision_of(key.bucket, key.item)));
      if (i % 500 == 0) settle(*store);
    }
    for (int i = 0; i < 50; ++i) {
      const ObjectKey key = key_of("g/r/", "ns", "k" + std::to_string(i));
      ASSERT_TRUE(store->remove(key, store->revision_of(key.bucket, key.item)));
    }
    settle(*store);
  }
  EXPECT_LT(rows(), kWrites / 4);
  auto store = open();
  EXPECT_EQ(store->revision(), kWrites + 150);
  EXPECT_EQ(store->count("g/r/"), 50u);
  EXPECT_EQ(int_at(*store->get("g/r/", "ns/k99"), {"n"}), kWrites - 1);
}

TEST_F(SqliteLogTest, ASecondProcessIsToldThatTheFileIsInUse) {
  auto store = open();
  EXPECT_NE(refusal().find("is in use by another process"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path) << std::string(8192, 'x');
  EXPECT_NE(refusal().find("is damaged or no state file"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, AnotherProgramsDatabaseIsRefused) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t(a)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(refusal().find("of another program"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, ADamagedFileIsRefused) {
  {
    auto store = open();
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(
          store->put(key_of("g/r/", "ns", "k" + std::to_string(i)), JsonObject{{"v", std::string(500, 'x')}}, 0));
    }
    settle(*store);
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3 * 4096);
  file << std::string(3 * 4096, '\xee');
  file.close();
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, AMissingFolderIsNamed) {
  path = directory / "none" / "state.db";
  EXPECT_NE(refusal().find("none/state.db' cannot be opened: No such file"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, TheFileIsForItsOwnerAlone) {
  auto store = open();
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// On a full disk a write fails, further writes are refused, and acknowledged writes are not lost.
TEST_F(SqliteLogTest, AFullDiskStopsWritesAndLosesNothingAcknowledged) {
  Revision acknowledged = 0;
  {
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{{"n", 1}}, 0));
    settle(*store);
    acknowledged = store->durable();
    // Limits the file size of the process; SQLite then gets the same kind of error as on a full device.
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small{64 * 1024, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    ASSERT_TRUE(store->put(kB, JsonObject{{"v", std::string(1 << 20, 'x')}}, 0));
    settle(*store);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_NE(store->failure(), "");
    EXPECT_EQ(store->get(kB.bucket, kB.item), nullptr);
    EXPECT_EQ(store->put(kB, JsonObject{}, 0).error(), WriteError::kStopped);
  }
  auto store = open();
  EXPECT_EQ(store->revision(), acknowledged);
  EXPECT_EQ(int_at(*store->get(kA.bucket, kA.item), {"n"}), 1);
}

}  // namespace
}  // namespace berth::apiserver::sqlite_log_test
