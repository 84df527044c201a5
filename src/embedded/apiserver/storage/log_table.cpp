#include "embedded/apiserver/storage/log_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/checksum.h"
#include "base/log.h"
#include "embedded/apiserver/storage/vfs_file.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kApplicationId = 0x42727468;  // "Brth", stored in the header of the file
constexpr std::int64_t kFormat = 2;
constexpr std::int64_t kWithoutChecksums = 1;  // the format of earlier versions
// After this many new rows, check twice as many old ones: the file stays within a small factor of the live data, and
// no pause is longer than one slice.
constexpr std::int64_t kCompactEvery = 1'024;
constexpr std::int64_t kCompactSlice = 2 * kCompactEvery;
constexpr int kLongWal = 1'000;  // pages
constexpr const char* kMakeIndex = "CREATE UNIQUE INDEX log_by_key ON log(key, rev)";
const std::string kMark = "berth/marks//accepted-loss";
const std::string kRemedy = "restore a copy of the whole directory, or start once with --accept-lost-writes, which ";

std::int64_t row_checksum(std::int64_t revision, std::string_view key, const std::string_view* value) {
  Checksum sum;
  sum.add(static_cast<std::uint64_t>(revision)).add(key).add(std::uint64_t{value == nullptr ? 0u : 1u});
  if (value != nullptr) sum.add(*value);
  return static_cast<std::int64_t>(sum.value());
}

std::string_view text_of(sqlite3_value* value) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// The SQL function row_checksum(rev, key, value).
void row_checksum_in_sql(sqlite3_context* context, int, sqlite3_value** arguments) {
  const std::string_view value = text_of(arguments[2]);
  const bool deleted = sqlite3_value_type(arguments[2]) == SQLITE_NULL;
  sqlite3_result_int64(
      context, row_checksum(sqlite3_value_int64(arguments[0]), text_of(arguments[1]), deleted ? nullptr : &value));
}

}  // namespace

Result<std::unique_ptr<LogTable>> LogTable::open(Files files) {
  if (auto renewed = write_again(files.state + "-wal", files.vfs); !renewed) return tl::unexpected(renewed.error());
  if (files.floor > 0 && !files.accept_losses && !vfs_file_exists(files.state, files.vfs)) {
    return fail("state file '" + files.state + "' is missing, but revision " + std::to_string(files.floor) +
                " was acknowledged: " + kRemedy + "begins with nothing");
  }
  auto db = SqliteDb::open(files.state, files.may_create, files.vfs);
  if (!db) return tl::unexpected(db.error());
  std::unique_ptr<LogTable> table(new LogTable(std::move(files), std::move(*db)));
  for (const auto step : {&LogTable::lock, &LogTable::check_format, &LogTable::check_rows, &LogTable::check_structure,
                          &LogTable::check_newest, &LogTable::prepare}) {
    if (auto done = (*table.*step)(); !done) return tl::unexpected(done.error());
  }
  return table;
}

Result<std::int64_t> LogTable::number(std::string_view sql) {
  auto statement = db_.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  auto row = db_.step(*statement);
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

template <typename Work>
Result<void> LogTable::in_transaction(const Work& work) {
  auto outcome = db_.execute("BEGIN").and_then(work).and_then([this] { return db_.execute("COMMIT"); });
  if (!outcome) static_cast<void>(db_.execute("ROLLBACK"));  // it may have been rolled back already
  return outcome;
}

// Locks the file for this process, before anything is read.
Result<void> LogTable::lock() {
  return db_.execute(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
      "journal_size_limit=67108864;"
      "BEGIN EXCLUSIVE; COMMIT;");
}

Result<void> LogTable::create() {
  return in_transaction([this] {
    return db_.execute(("PRAGMA application_id=" + std::to_string(kApplicationId) +
                        "; PRAGMA user_version=" + std::to_string(kFormat) +
                        // value NULL: deleted. total: in the newest row, the sum of all checksums.
                        "; CREATE TABLE log(rev INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT, checksum INTEGER, "
                        "total INTEGER);" +
                        kMakeIndex)
                           .c_str());
  });
}

Result<void> LogTable::check_format() {
  const auto application = number("PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto tables = number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tl::unexpected(tables.error());
  if (*application == 0 && *tables == 0) return create();
  if (*application != kApplicationId) {
    return tl::unexpected(db_.problem("is an SQLite file of another program: name another state file"));
  }
  const auto format = number("PRAGMA user_version");
  if (!format) return tl::unexpected(format.error());
  if (*format == kWithoutChecksums) return check_structure().and_then([this] { return add_checksums(); });
  if (*format != kFormat) {
    return tl::unexpected(db_.problem("has format " + std::to_string(*format) + ", this version reads formats " +
                                      std::to_string(kWithoutChecksums) + " and " + std::to_string(kFormat)));
  }
  return {};
}

// From the format of earlier versions: what the rows hold now is taken for right.
Result<void> LogTable::add_checksums() {
  sqlite3_create_function(db_.raw(), "row_checksum", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                          row_checksum_in_sql, nullptr, nullptr);
  from_earlier_version_ = true;
  const auto columns = [this] {
    return db_.execute(
        "ALTER TABLE log ADD COLUMN checksum INTEGER; ALTER TABLE log ADD COLUMN total INTEGER;"
        "UPDATE log SET checksum = row_checksum(rev, key, value);");
  };
  const auto finish = [this] { return db_.execute(("PRAGMA user_version=" + std::to_string(kFormat)).c_str()); };
  return in_transaction([&] {
    return columns().and_then([this] { return sum_up(); }).and_then([this] { return store_total(); }).and_then(finish);
  });
}

// Also compares the index with the table: compaction trusts it.
Result<void> LogTable::check_structure() {
  auto check = db_.prepare("PRAGMA integrity_check(1)");
  if (!check) return tl::unexpected(check.error());
  auto row = db_.step(*check);
  if (!row) return tl::unexpected(row.error());
  if (check->text(0) == "ok") return {};
  return tl::unexpected(
      db_.problem("is damaged (" + std::string(check->text(0)) + "): restore a copy or move it away"));
}

Result<void> LogTable::check_rows() {
  newest_ = 0;
  total_ = 0;
  std::uint64_t reported_total = 0;
  std::vector<Revision> damaged;
  std::string first;  // of the damaged ones
  auto rows = db_.prepare("SELECT rev, key, value, checksum, total FROM log NOT INDEXED ORDER BY rev");
  if (!rows) return tl::unexpected(rows.error());
  Result<bool> row = false;
  while ((row = db_.step(*rows)) && *row) {
    const Revision revision = rows->integer(0);
    const std::string_view value = rows->text(2);
    const std::int64_t checksum = row_checksum(revision, rows->text(1), rows->is_null(2) ? nullptr : &value);
    newest_ = revision;
    reported_total = static_cast<std::uint64_t>(rows->integer(4));
    total_ += static_cast<std::uint64_t>(checksum);
    if (checksum == rows->integer(3)) continue;
    const std::string what = "revision " + std::to_string(revision) + " of '" + std::string(rows->text(1)) + "'";
    if (damaged.empty()) first = what;
    damaged.push_back(revision);
    if (files_.accept_losses) log::warn("a damaged row is removed from the state file", {{"row", what}});
  }
  if (!row) return tl::unexpected(row.error());
  if (files_.accept_losses && (!damaged.empty() || reported_total != total_)) return remove_damaged(damaged);
  if (!damaged.empty()) {
    const std::string more = damaged.size() > 1 ? " and " + std::to_string(damaged.size() - 1) + " more" : "";
    return tl::unexpected(db_.problem("is damaged: " + first + more +
                                      " is not what was written (its checksum differs): " + kRemedy +
                                      "removes what is damaged"));
  }
  if (reported_total == total_) return {};
  return tl::unexpected(
      db_.problem("is damaged: rows that were written are missing (the sum of the checksums differs): " + kRemedy +
                  "goes on with the others"));
}

// The index is made anew, because it may know the removed rows by another key.
Result<void> LogTable::remove_damaged(const std::vector<Revision>& damaged) {
  const auto remove = [&]() -> Result<void> {
    auto done = db_.execute("DROP INDEX log_by_key");
    for (const Revision revision : damaged) {
      if (done) done = db_.execute(("DELETE FROM log WHERE rev = " + std::to_string(revision)).c_str());
    }
    return done.and_then([this] { return db_.execute(kMakeIndex); });
  };
  return in_transaction([&] {
    return remove().and_then([this] { return sum_up(); }).and_then([this] {
      return mark_revision(std::max(newest_, files_.floor) + 1);
    });
  });
}

// Reads the sum of the checksums, and the newest revision.
Result<void> LogTable::sum_up() {
  total_ = 0;
  newest_ = 0;
  auto rows = db_.prepare("SELECT rev, checksum FROM log ORDER BY rev");
  if (!rows) return tl::unexpected(rows.error());
  Result<bool> row = false;
  while ((row = db_.step(*rows)) && *row) {
    newest_ = rows->integer(0);
    total_ += static_cast<std::uint64_t>(rows->integer(1));
  }
  if (!row) return tl::unexpected(row.error());
  return {};
}

Result<void> LogTable::check_newest() {
  if (newest_ >= files_.floor) return {};
  if (files_.accept_losses) {
    log::warn("acknowledged writes are missing in the state file",
              {{"newest", std::to_string(newest_)}, {"acknowledged", std::to_string(files_.floor)}});
    return in_transaction([this] { return mark_revision(files_.floor); });
  }
  return tl::unexpected(db_.problem(
      "ends at revision " + std::to_string(newest_) + ", but revision " + std::to_string(files_.floor) +
      " was acknowledged: the newest writes are missing, because '" + files_.state +
      "-wal' is damaged or was removed, or because the file is an older copy: " + kRemedy + "goes on without them"));
}

// A row that only says that this revision was used.
Result<void> LogTable::mark_revision(Revision revision) {
  return prepare().and_then([&] { return put_row(revision, kMark, nullptr); });
}

Result<void> LogTable::store_total() {
  return db_.execute(("UPDATE log SET total = " + std::to_string(static_cast<std::int64_t>(total_)) +
                      " WHERE rev = (SELECT max(rev) FROM log)")
                         .c_str());
}

Result<void> LogTable::prepare() {
  const auto make = [this](SqliteStatement& statement, std::string_view sql) -> Result<void> {
    auto made = db_.prepare(sql);
    if (!made) return tl::unexpected(made.error());
    statement = std::move(*made);
    return {};
  };
  // A row can be removed when a newer row exists for its key; a deletion also when no older row is left that it
  // hides. The newest row of the log stays, because it holds the newest revision.
  constexpr std::string_view kSweep =
      "SELECT rev, checksum FROM log AS l WHERE rev > ?1 AND rev <= ?2 AND rev < (SELECT max(rev) FROM log) AND ("
      "EXISTS(SELECT 1 FROM log AS n WHERE n.key = l.key AND n.rev > l.rev) OR "
      "(value IS NULL AND NOT EXISTS(SELECT 1 FROM log AS o WHERE o.key = l.key AND o.rev < l.rev))) ORDER "
      "BY rev";
  return make(insert_, "INSERT INTO log(rev, key, value, checksum, total) VALUES(?1, ?2, ?3, ?4, ?5)")
      .and_then([&] { return make(sweep_, kSweep); })
      .and_then([&] { return make(erase_, "DELETE FROM log WHERE rev = ?1"); });
}

Result<std::vector<Stored>> LogTable::objects() {
  auto rows = db_.prepare(
      "SELECT rev, key, value FROM log AS l WHERE value IS NOT NULL "
      "AND rev = (SELECT max(rev) FROM log AS n WHERE n.key = l.key) ORDER BY key");
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Stored> out;
  JsonLimits limits;
  limits.max_bytes = std::size_t{64} << 20;  // larger than any accepted object, so that only a damaged row fails
  while (true) {
    auto row = db_.step(*rows);
    if (!row) return tl::unexpected(row.error());
    if (!*row) return out;
    auto object = parse_json(rows->text(2), limits);
    if (!object) {
      return tl::unexpected(db_.problem("is damaged: revision " + std::to_string(rows->integer(0)) + " of '" +
                                        std::string(rows->text(1)) + "' is no JSON: " + object.error().message));
    }
    out.push_back({std::string(rows->text(1)), rows->integer(0), std::make_shared<const Json>(std::move(*object))});
  }
}

Result<void> LogTable::append(const std::vector<const Change*>& changes) {
  if (!db_.in_place()) return tl::unexpected(db_.problem("was moved or deleted while it is in use"));
  auto written = in_transaction([&]() -> Result<void> {
    for (const Change* change : changes) {
      if (auto done = insert(*change); !done) return done;
    }
    return {};
  });
  if (written && !vfs_file_exists(files_.state + "-wal", files_.vfs))
    return tl::unexpected(db_.problem("has lost its WAL: '" + files_.state + "-wal' was moved or deleted"));
  return written;
}

Result<void> LogTable::insert(const Change& change) {
  if (change.revision <= newest_) return {};
  ++appended_;
  if (change.type == Change::Type::kDeleted) return put_row(change.revision, change.key, nullptr);
  const std::string value = to_string(*change.object);
  return put_row(change.revision, change.key, &value);
}

Result<void> LogTable::put_row(Revision revision, std::string_view key, const std::string* value) {
  const std::string_view text = value == nullptr ? std::string_view{} : std::string_view(*value);
  const std::int64_t checksum = row_checksum(revision, key, value == nullptr ? nullptr : &text);
  total_ += static_cast<std::uint64_t>(checksum);
  newest_ = revision;
  sqlite3_stmt* s = insert_.raw();
  sqlite3_bind_int64(s, 1, revision);
  sqlite3_bind_text64(s, 2, key.data(), key.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (value == nullptr) {
    sqlite3_bind_null(s, 3);
  } else {
    sqlite3_bind_text64(s, 3, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  sqlite3_bind_int64(s, 4, checksum);
  sqlite3_bind_int64(s, 5, static_cast<std::int64_t>(total_));
  const auto row = db_.step(insert_);
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
  if (!row) return tl::unexpected(row.error());
  return {};
}

Result<void> LogTable::keep_house() {
  if (appended_ >= kCompactEvery) {
    if (auto done = compact(); !done) return done;
  }
  return db_.wal_pages() >= kLongWal ? db_.checkpoint() : Result<void>{};
}

Result<void> LogTable::compact() {
  appended_ = 0;
  // The last row of this slice. At the end of the log, a new round begins.
  const auto end = number("SELECT max(rev) FROM (SELECT rev FROM log WHERE rev > " + std::to_string(cursor_) +
                          " ORDER BY rev LIMIT " + std::to_string(kCompactSlice) + ")");
  if (!end) return tl::unexpected(end.error());
  std::vector<Revision> superseded;
  std::uint64_t sum = 0;
  sqlite3_bind_int64(sweep_.raw(), 1, cursor_);
  sqlite3_bind_int64(sweep_.raw(), 2, *end);
  Result<bool> row = false;
  while ((row = db_.step(sweep_)) && *row) {
    superseded.push_back(sweep_.integer(0));
    sum += static_cast<std::uint64_t>(sweep_.integer(1));
  }
  sqlite3_reset(sweep_.raw());
  if (!row) return tl::unexpected(row.error());
  cursor_ = *end >= newest_ ? 0 : *end;
  if (superseded.empty()) return {};

  total_ -= sum;
  const auto erase = [&]() -> Result<void> {
    for (const Revision revision : superseded) {
      sqlite3_bind_int64(erase_.raw(), 1, revision);
      const auto erased = db_.step(erase_);
      sqlite3_reset(erase_.raw());
      if (!erased) return tl::unexpected(erased.error());
    }
    return {};
  };
  return in_transaction([&] { return erase().and_then([this] { return store_total(); }); });
}

}  // namespace berth::apiserver
