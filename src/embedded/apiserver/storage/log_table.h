// The table of changes in the state file: append-only, and its row number is the revision. Each row has a checksum, and
// the newest one the sum of all of them, so a row that was changed or lost is found when the file is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "embedded/apiserver/storage/sqlite_db.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

// Use it from one thread at a time. After an error, open another one: this one may have half of a transaction.
class LogTable {
 public:
  struct Files {
    std::string state;  // the path of the state file
    std::string vfs;    // SQLite's VFS; empty: the default
    bool may_create = false;
    bool accept_losses = false;  // removes what is damaged, and goes on above `floor`
    Revision floor = 0;          // the file must reach at least this far
  };
  // Everything that it holds is on disk and undamaged when this succeeds.
  static Result<std::unique_ptr<LogTable>> open(Files files);

  Revision newest() const { return newest_; }
  bool from_earlier_version() const { return from_earlier_version_; }  // which wrote no checksums
  Result<std::vector<Stored>> objects();                               // that are live, in the order of their keys

  // Writes the changes in one transaction; they are durable when this succeeds. Changes that are there already, because
  // an earlier try was stored although it failed, are left out.
  Result<void> append(const std::vector<const Change*>& changes);
  // Merges the WAL into the file when it is long, and removes superseded rows in slices.
  Result<void> keep_house();
  // Call it before the last use ends, when nothing has failed.
  void merge_wal_when_closed() { db_.merge_wal_when_closed(); }

 private:
  LogTable(Files files, SqliteDb db) : files_(std::move(files)), db_(std::move(db)) {}
  Result<std::int64_t> number(std::string_view sql);
  Result<void> prepare();
  Result<void> lock();
  Result<void> check_format();
  Result<void> create();
  Result<void> add_checksums();
  Result<void> check_structure();
  Result<void> check_rows();
  Result<void> check_newest();
  Result<void> remove_damaged(const std::vector<Revision>& damaged);
  Result<void> sum_up();
  Result<void> mark_revision(Revision revision);
  Result<void> store_total();
  Result<void> insert(const Change& change);
  Result<void> put_row(Revision revision, std::string_view key, const std::string* value);
  Result<void> compact();
  template <typename Work>
  Result<void> in_transaction(const Work& work);

  Files files_;
  SqliteDb db_;
  SqliteStatement insert_, sweep_, erase_;
  Revision newest_ = 0;
  std::uint64_t total_ = 0;  // the sum of the checksums of all rows
  bool from_earlier_version_ = false;
  std::int64_t appended_ = 0;  // rows since the last compaction slice
  std::int64_t cursor_ = 0;    // the row up to which the current compaction round has checked
};

}  // namespace berth::apiserver
