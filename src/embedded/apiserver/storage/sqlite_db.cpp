#include "embedded/apiserver/storage/sqlite_db.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace berth::apiserver {

std::string_view SqliteStatement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw(), column));
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(raw(), column)));
}

Result<SqliteDb> SqliteDb::open(const std::string& path) {
  // Create the file here with mode 0600, because it contains Secrets; SQLite would use the process's umask.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail("state file '" + path + "' cannot be opened: " + std::strerror(errno));
  ::close(fd);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nullptr);
  SqliteDb db(path, raw);
  if (code != SQLITE_OK) return tl::unexpected(db.describe(code));
  sqlite3_extended_result_codes(raw, 1);
  return db;
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
      return problem("cannot be read or written (" + detail + ")");
    default:
      return problem("cannot be used: " + detail);
  }
}

}  // namespace berth::apiserver
