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

TEST_F(SqliteLogTest, ASecondProcessIsInformedThatTheFileIsInUse) {
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

// Limits the size of files that the process writes; SQLite then gets the same kind of error as on a full device.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &old_), 0);
    const struct rlimit small{bytes, old_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  struct rlimit old_{};
};

// On a full disk a write fails and further writes are refused. When there is room again, it is written.
TEST_F(SqliteLogTest, AFullDiskStopsWritesUntilThereIsRoom) {
  auto store = open();
  ASSERT_TRUE(store->put(kA, JsonObject{{"n", 1}}, 0));
  settle(*store);
  {
    const FileSizeLimit limit(64 * 1024);
    ASSERT_TRUE(store->put(kB, JsonObject{{"v", std::string(1 << 20, 'x')}}, 0));
    settle(*store);
    EXPECT_NE(store->failure().find("cannot be written (disk I/O error)"), std::string::npos) << store->failure();
    EXPECT_EQ(store->durable(), 1);
    EXPECT_EQ(store->put(kA, JsonObject{}, 1).error(), WriteError::kStopped);
  }
  executor.run_until([&] { return store->failure().empty(); });
  EXPECT_EQ(store->durable(), 2);
  ASSERT_TRUE(store->put(kA, JsonObject{{"n", 2}}, 1));
  settle(*store);
  store.reset();
  store = open();
  EXPECT_EQ(store->revision(), 3);
  EXPECT_EQ(int_at(*store->get(kA.bucket, kA.item), {"n"}), 2);
  EXPECT_EQ(string_at(*store->get(kB.bucket, kB.item), {"v"}).size(), 1u << 20);
}

// A process that ends while the disk is full: what was confirmed is there.
TEST_F(SqliteLogTest, AFullDiskLosesNothingConfirmed) {
  {
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{{"n", 1}}, 0));
    settle(*store);
    const FileSizeLimit limit(64 * 1024);
    ASSERT_TRUE(store->put(kB, JsonObject{{"v", std::string(1 << 20, 'x')}}, 0));
    settle(*store);
    store.reset();
  }
  auto store = open();
  EXPECT_EQ(store->revision(), 1);
  EXPECT_EQ(int_at(*store->get(kA.bucket, kA.item), {"n"}), 1);
}

// Writes to a file that is no longer there would be confirmed, and gone at the end.
TEST_F(SqliteLogTest, AFileThatIsDeletedWhileItIsUsedIsReported) {
  for (const std::string gone : {"state.db", "state.db-wal"}) {
    SCOPED_TRACE(gone);
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{}, store->revision_of(kA.bucket, kA.item)));
    settle(*store);
    std::filesystem::rename(directory / gone, directory / "elsewhere");
    ASSERT_TRUE(store->put(kA, JsonObject{}, store->revision_of(kA.bucket, kA.item)));
    settle(*store);
    EXPECT_NE(store->failure().find("moved or deleted"), std::string::npos) << store->failure();
    std::filesystem::rename(directory / "elsewhere", directory / gone);
    executor.run_until([&] { return store->failure().empty(); });
    EXPECT_EQ(store->durable(), store->revision());
  }
}

// Files of earlier versions have no checksums and no floor.
TEST_F(SqliteLogTest, AFileOfAnEarlierVersionIsTakenOver) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         "PRAGMA journal_mode=WAL; PRAGMA application_id=1114797160; PRAGMA user_version=1;"
                         "CREATE TABLE log(rev INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT);"
                         "CREATE UNIQUE INDEX log_by_key ON log(key, rev);"
                         "INSERT INTO log VALUES(1, 'g/r/ns/a', '{\"n\":1}'), (2, 'g/r/ns/a', '{\"n\":2}'),"
                         "(3, 'g/r/ns/b', '{}'), (4, 'g/r/ns/b', NULL);",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  for (int start = 0; start < 2; ++start) {
    auto store = open();
    EXPECT_EQ(store->revision(), 4);
    EXPECT_EQ(int_at(*store->get(kA.bucket, kA.item), {"n"}), 2);
    EXPECT_EQ(store->get(kB.bucket, kB.item), nullptr);
  }
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE log SET value = '{\"n\":7}' WHERE rev = 2", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(refusal().find("is damaged: revision 2 of 'g/r/ns/a' is not what was written"), std::string::npos)
      << refusal();
}

TEST_F(SqliteLogTest, AMissingRowIsReported) {
  {
    auto store = open();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(store->put(key_of("g/r/", "ns", "k" + std::to_string(i)), JsonObject{}, 0));
    settle(*store);
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "DELETE FROM log WHERE rev = 2", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(refusal().find("rows that were written are missing"), std::string::npos) << refusal();
}

TEST_F(SqliteLogTest, AMissingFileIsReportedAndNotMadeAnew) {
  {
    auto store = open();
    ASSERT_TRUE(store->put(kA, JsonObject{}, 0));
    settle(*store);
  }
  std::filesystem::remove(path);
  EXPECT_NE(refusal().find("is missing, but revision 1 was acknowledged"), std::string::npos) << refusal();
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The damaged WAL stays as it is: a user may want to look at it.
TEST_F(SqliteLogTest, ADamagedWalIsReportedAndKept) {
  auto store = open();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store->put(key_of("g/r/", "ns", "k" + std::to_string(i)), JsonObject{}, 0));
    settle(*store);
  }
  const auto copy = directory / "copy";
  std::filesystem::create_directory(copy);
  for (const std::string name : {"state.db", "state.db-wal", "state.db-revision"})
    std::filesystem::copy_file(directory / name, copy / name);
  path = copy / "state.db";
  const auto wal = copy / "state.db-wal";
  const auto size = std::filesystem::file_size(wal);
  std::fstream file(wal, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << "damage";
  file.close();
  for (int start = 0; start < 2; ++start)
    EXPECT_NE(refusal().find(", but revision 20 was acknowledged"), std::string::npos) << refusal();
  EXPECT_EQ(std::filesystem::file_size(wal), size);
}

}  // namespace
}  // namespace berth::apiserver::sqlite_log_test
