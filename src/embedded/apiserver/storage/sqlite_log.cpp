// The log in an SQLite file: one append-only table whose row number is the revision.
//
// One thread owns the connection, which locks the file exclusively: SQLite before 3.51.3 can corrupt a WAL file that
// several connections write and checkpoint. Everything in the queue when the thread takes it shares one transaction
// and so one fsync. Superseded rows are removed in slices between transactions.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "embedded/apiserver/storage/sqlite_db.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kApplicationId = 0x42727468;  // "Brth", stored in the header of the file
constexpr std::int64_t kFormat = 1;
// After this many new rows, check twice as many old ones: the file stays within a small factor of the live data, and
// no pause is longer than one slice.
constexpr std::int64_t kCompactEvery = 1'024;
constexpr std::int64_t kCompactSlice = 2 * kCompactEvery;

struct Batch {
  std::vector<Change> changes;
  std::function<void(Result<void>)> done;
};

class SqliteLog final : public Log {
 public:
  SqliteLog(SqliteDb db, Executor& executor) : executor_(executor), db_(std::move(db)) {}
  ~SqliteLog() override;

  Result<void> start();
  void append(std::vector<Change> changes, std::function<void(Result<void>)> done) override;
  Result<Snapshot> load() override;

 private:
  Result<std::int64_t> number(std::string_view sql);
  Result<void> claim();
  Result<void> check_format();

  void run();
  Result<void> write(const std::vector<Batch>& batches);
  Result<void> insert(const Change& change);
  Result<void> compact();

  Executor& executor_;
  SqliteDb db_;
  SqliteStatement insert_, sweep_, erase_;
  std::int64_t appended_ = 0;  // rows since the last compaction slice
  std::int64_t cursor_ = 0;    // the row up to which the current compaction round has checked

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Batch> queue_;  // limited by the store's backlog
  bool stopping_ = false;
  std::thread thread_;
};

Result<std::int64_t> SqliteLog::number(std::string_view sql) {
  auto statement = db_.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  auto row = db_.step(*statement);
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

// Locks the file for this process, before anything is read.
Result<void> SqliteLog::claim() {
  return db_.execute(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
      "journal_size_limit=67108864;"
      "BEGIN EXCLUSIVE; COMMIT;");
}

Result<void> SqliteLog::check_format() {
  const auto application = number("PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto tables = number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tl::unexpected(tables.error());
  if (*application == 0 && *tables == 0) {
    const std::string create =
        "BEGIN; PRAGMA application_id=" + std::to_string(kApplicationId) +
        "; PRAGMA user_version=" + std::to_string(kFormat) +
        "; CREATE TABLE log(rev INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT);"  // value NULL: deleted
        "CREATE UNIQUE INDEX log_by_key ON log(key, rev); COMMIT;";
    return db_.execute(create.c_str());
  }
  if (*application != kApplicationId) {
    return tl::unexpected(db_.problem("is an SQLite file of another program: name another state file"));
  }
  const auto format = number("PRAGMA user_version");
  if (!format) return tl::unexpected(format.error());
  if (*format != kFormat) {
    return tl::unexpected(db_.problem("has format " + std::to_string(*format) + ", this version reads format " +
                                      std::to_string(kFormat)));
  }
  auto check = db_.prepare("PRAGMA quick_check(1)");
  if (!check) return tl::unexpected(check.error());
  auto row = db_.step(*check);
  if (!row) return tl::unexpected(row.error());
  if (check->text(0) != "ok") {
    return tl::unexpected(
        db_.problem("is damaged (" + std::string(check->text(0)) + "): restore a copy or move it away"));
  }
  return {};
}

Result<void> SqliteLog::start() {
  return claim().and_then([this] { return check_format(); }).and_then([this]() -> Result<void> {
    auto insert = db_.prepare("INSERT INTO log(rev, key, value) VALUES(?1, ?2, ?3)");
    if (!insert) return tl::unexpected(insert.error());
    // A row can be removed when a newer row exists for its key; a deletion also when no older row is left that it
    // hides. The newest row of the log stays, because it holds the newest revision.
    auto sweep = db_.prepare(
        "SELECT rev FROM log AS l WHERE rev > ?1 AND rev <= ?2 AND rev < (SELECT max(rev) FROM log) AND ("
        "EXISTS(SELECT 1 FROM log AS n WHERE n.key = l.key AND n.rev > l.rev) OR "
        "(value IS NULL AND NOT EXISTS(SELECT 1 FROM log AS o WHERE o.key = l.key AND o.rev < l.rev))) ORDER "
        "BY rev");
    if (!sweep) return tl::unexpected(sweep.error());
    auto erase = db_.prepare("DELETE FROM log WHERE rev = ?1");
    if (!erase) return tl::unexpected(erase.error());
    insert_ = std::move(*insert);
    sweep_ = std::move(*sweep);
    erase_ = std::move(*erase);
    return {};
  });
}

Result<Log::Snapshot> SqliteLog::load() {
  Snapshot snapshot;
  const auto revision = number("SELECT max(rev) FROM log");
  if (!revision) return tl::unexpected(revision.error());
  snapshot.revision = *revision;
  auto rows = db_.prepare(
      "SELECT rev, key, value FROM log AS l WHERE value IS NOT NULL "
      "AND rev = (SELECT max(rev) FROM log AS n WHERE n.key = l.key) ORDER BY key");
  if (!rows) return tl::unexpected(rows.error());
  JsonLimits limits;
  limits.max_bytes = std::size_t{64} << 20;  // larger than any accepted object, so that only a damaged row fails
  while (true) {
    auto row = db_.step(*rows);
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    auto object = parse_json(rows->text(2), limits);
    if (!object) {
      return tl::unexpected(db_.problem("is damaged: revision " + std::to_string(rows->integer(0)) + " of '" +
                                        std::string(rows->text(1)) + "' is no JSON: " + object.error().message));
    }
    snapshot.objects.push_back(
        {std::string(rows->text(1)), rows->integer(0), std::make_shared<const Json>(std::move(*object))});
  }
  thread_ = std::thread([this] { run(); });
  return snapshot;
}

SqliteLog::~SqliteLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SqliteLog::append(std::vector<Change> changes, std::function<void(Result<void>)> done) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = queue_.empty();
    queue_.push_back({std::move(changes), std::move(done)});
  }
  if (was_empty) wake_.notify_one();
}

// The writer thread. After the first failure it writes nothing more, because later changes may depend on lost ones.
void SqliteLog::run() {
  Result<void> state;
  while (true) {
    auto batches = std::make_shared<std::vector<Batch>>();
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      batches->swap(queue_);
    }
    if (state) {
      state = write(*batches);
      if (!state) log::error("the state file cannot be written any more", {{"error", state.error().message}});
    }
    executor_.post([batches, state] {
      for (Batch& batch : *batches) batch.done(state);
    });
    if (state && appended_ >= kCompactEvery) {
      if (auto compacted = compact(); !compacted) {
        log::error("the state file cannot be compacted", {{"error", compacted.error().message}});
        state = compacted;
      }
    }
  }
}

Result<void> SqliteLog::write(const std::vector<Batch>& batches) {
  auto outcome = db_.execute("BEGIN");
  for (const Batch& batch : batches) {
    for (const Change& change : batch.changes) {
      if (outcome) outcome = insert(change);
    }
  }
  if (outcome) outcome = db_.execute("COMMIT");
  if (!outcome) static_cast<void>(db_.execute("ROLLBACK"));  // it may have been rolled back already
  return outcome;
}

Result<void> SqliteLog::insert(const Change& change) {
  sqlite3_stmt* s = insert_.raw();
  const bool deleted = change.type == Change::Type::kDeleted;
  const std::string value = deleted ? std::string() : to_string(*change.object);
  sqlite3_bind_int64(s, 1, change.revision);
  sqlite3_bind_text64(s, 2, change.key.data(), change.key.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (deleted) {
    sqlite3_bind_null(s, 3);
  } else {
    sqlite3_bind_text64(s, 3, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  const auto row = db_.step(insert_);
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
  ++appended_;
  if (!row) return tl::unexpected(row.error());
  return {};
}

Result<void> SqliteLog::compact() {
  appended_ = 0;
  const auto newest = number("SELECT max(rev) FROM log");
  if (!newest) return tl::unexpected(newest.error());
  // The last row of this slice. At the end of the log, a new round begins.
  const auto end = number("SELECT max(rev) FROM (SELECT rev FROM log WHERE rev > " + std::to_string(cursor_) +
                          " ORDER BY rev LIMIT " + std::to_string(kCompactSlice) + ")");
  if (!end) return tl::unexpected(end.error());
  std::vector<std::int64_t> superseded;
  sqlite3_bind_int64(sweep_.raw(), 1, cursor_);
  sqlite3_bind_int64(sweep_.raw(), 2, *end);
  Result<bool> row = false;
  while ((row = db_.step(sweep_)) && *row) superseded.push_back(sweep_.integer(0));
  sqlite3_reset(sweep_.raw());
  if (!row) return tl::unexpected(row.error());
  cursor_ = *end >= *newest ? 0 : *end;
  if (superseded.empty()) return {};

  auto outcome = db_.execute("BEGIN");
  for (const std::int64_t rev : superseded) {
    if (!outcome) break;
    sqlite3_bind_int64(erase_.raw(), 1, rev);
    if (auto erased = db_.step(erase_); !erased) outcome = tl::unexpected(erased.error());
    sqlite3_reset(erase_.raw());
  }
  if (outcome) outcome = db_.execute("COMMIT");
  if (!outcome) static_cast<void>(db_.execute("ROLLBACK"));
  return outcome;
}

}  // namespace

Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path, Executor& executor) {
  auto db = SqliteDb::open(path);
  if (!db) return tl::unexpected(db.error());
  auto log = std::make_unique<SqliteLog>(std::move(*db), executor);
  if (auto started = log->start(); !started) return tl::unexpected(started.error());
  return log;
}

}  // namespace berth::apiserver
