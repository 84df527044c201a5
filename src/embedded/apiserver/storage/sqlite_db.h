// C++ wrappers of SQLite's C interface: connections and statements that close themselves, and errors that tell the
// user what to do.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::apiserver {

class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt* statement = nullptr) : statement_(statement) {}
  sqlite3_stmt* raw() const { return statement_.get(); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(raw(), column); }
  std::string_view text(int column) const;  // valid until the next step
  bool is_null(int column) const { return sqlite3_column_type(raw(), column) == SQLITE_NULL; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Use it from one thread at a time.
class SqliteDb {
 public:
  // Creates the file when it does not exist and may be created, readable only by its owner. `vfs` names SQLite's VFS;
  // empty: the default. The WAL stays as it is when the connection is closed, unless merge_wal_when_closed() was
  // called.
  static Result<SqliteDb> open(const std::string& path, bool may_create, const std::string& vfs);
  void merge_wal_when_closed();

  Result<void> execute(const char* sql);
  Result<SqliteStatement> prepare(std::string_view sql);
  Result<bool> step(const SqliteStatement& statement);  // true: there is a row
  sqlite3* raw() const { return db_.get(); }
  // Writes what the WAL holds into the file itself, and syncs it.
  Result<void> checkpoint();
  // Whether the file, or its WAL, is still where it was when it was opened: what is written to a file that was deleted
  // is gone when it is closed.
  bool in_place() const;
  // How long the WAL is, in pages, after the last commit.
  int wal_pages() const { return *wal_pages_; }
  // An error with the message "state file '<path>' <text>".
  Error problem(std::string_view text) const;
  // Translates a SQLite error code to a message for the user.
  Error describe(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  SqliteDb(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
  std::string path_;
  std::unique_ptr<int> wal_pages_ = std::make_unique<int>(0);  // SQLite writes there
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace berth::apiserver
