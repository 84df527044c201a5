// A small file beside the state file with a revision that was durable: the state file must reach at least this far. It
// shows when the newest writes are missing, for example because the WAL is damaged: SQLite takes that for the torn end
// of a write that nobody was told about.
#pragma once

#include <cstddef>
#include <string>

#include "embedded/apiserver/storage/store.h"
#include "embedded/apiserver/storage/vfs_file.h"

namespace berth::apiserver {

// raise() is called after a revision is durable and before it is shown to anybody. It writes, and does not sync: so it
// costs almost nothing, what is on disk is a lower bound at any time, and after the process is killed it is exact.
// After a power cut it lags behind by what was written since the last sync().
class RevisionFloor {
 public:
  static Result<RevisionFloor> open(const std::string& path, VfsFile::Kind kind, const std::string& vfs);

  Revision value() const { return value_; }  // 0: the file is new or damaged
  bool damaged() const { return damaged_; }  // none of its copies can be read
  Result<void> raise(Revision revision);     // does nothing if it is there already
  bool synced() const { return synced_; }
  Result<void> sync();

 private:
  explicit RevisionFloor(VfsFile file) : file_(std::move(file)) {}

  VfsFile file_;
  Revision value_ = 0;
  std::size_t next_ = 0;  // the copy that is written next: the other one is never touched with it
  bool damaged_ = false;
  bool synced_ = true;
};

}  // namespace berth::apiserver
