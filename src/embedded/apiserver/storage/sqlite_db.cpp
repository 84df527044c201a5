#include "embedded/apiserver/storage/sqlite_db.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace berth::apiserver {
namespace {

// Creates the file with mode 0600, because it contains Secrets; SQLite would use the process's umask.
Result<void> create_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail("state file '" + path + "' cannot be opened: " + std::strerror(errno));
  ::close(fd);
  return {};
}

// What an I/O error kept from being done.
std::string_view failed_work(int code) {
  switch (code) {
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_TRUNCATE:
      return "written";
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
      return "synced";
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
      return "read";
    default:
      return "read or written";
  }
}

}  // namespace

std::string_view SqliteStatement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw(), column));
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(raw(), column)));
}

Result<SqliteDb> SqliteDb::open(const std::string& path, bool may_create, const std::string& vfs) {
  if (vfs.empty() && may_create) {
    if (auto made = create_private(path); !made) return tl::unexpected(made.error());
  }
  sqlite3* raw = nullptr;
  const int create = may_create ? SQLITE_OPEN_CREATE : 0;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | create,
                                   vfs.empty() ? nullptr : vfs.c_str());
  SqliteDb db(path, raw);
  if (code != SQLITE_OK) return tl::unexpected(db.describe(code));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Takes the place of the checkpoints that SQLite makes within a commit, and whose errors it does not tell.
  sqlite3_wal_hook(
      raw,
      [](void* pages, sqlite3*, const char*, int now) {
        *static_cast<int*>(pages) = now;
        return SQLITE_OK;
      },
      db.wal_pages_.get());
  return db;
}

void SqliteDb::merge_wal_when_closed() { sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr); }

Result<void> SqliteDb::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(describe(code));
  *wal_pages_ = 0;
  return {};
}

bool SqliteDb::in_place() const {
  int moved = 0;
  const int code = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code != SQLITE_OK || moved == 0;
}

Result<void> SqliteDb::execute(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(describe(code));
  return {};
}

Result<SqliteStatement> SqliteDb::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  SqliteStatement statement(raw);
  if (code != SQLITE_OK) return tl::unexpected(describe(code));
  return statement;
}

Result<bool> SqliteDb::step(const SqliteStatement& statement) {
  const int code = sqlite3_step(statement.raw());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(describe(code));
}

Error SqliteDb::problem(std::string_view text) const { return {"state file '" + path_ + "' " + std::string(text)}; }

Error SqliteDb::describe(int code) const {
  const std::string detail = db_ != nullptr ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return problem("is in use by another process (" + detail + ")");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return problem("is damaged or no state file (" + detail + "): restore a copy or move it away");
    case SQLITE_FULL:
      return problem("cannot grow, the disk is full (" + detail + ")");
    case SQLITE_READONLY:
      return problem("is not writable (" + detail + ")");
    case SQLITE_IOERR:
      return problem("cannot be " + std::string(failed_work(code)) + " (" + detail + ")");
    default:
      return problem("cannot be used: " + detail);
  }
}

}  // namespace berth::apiserver
