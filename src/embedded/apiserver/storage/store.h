// Object storage: an in-memory, multi-version map in front of an append-only log on disk. One global revision counts
// all writes; it is the resourceVersion. It never decreases, not even after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::apiserver {

using Revision = std::int64_t;

struct Stored {
  std::string key;        // "<group>/<resource>/<namespace>/<name>"; the namespace is empty for cluster-scoped objects
  Revision revision = 0;  // of the last write of this object
  JsonPtr object;         // includes metadata.resourceVersion
};

struct Change {
  enum class Type : std::uint8_t { kCreated, kUpdated, kDeleted };
  Type type = Type::kCreated;
  Revision revision = 0;
  std::string key;
  JsonPtr object;    // kDeleted: the last state, with the revision of the deletion as its resourceVersion
  JsonPtr previous;  // null for kCreated
};

// The log on disk. `append` is called on the executor's thread; `done` is called there when the changes are durable.
class Log {
 public:
  virtual ~Log() = default;
  virtual void append(std::vector<Change> changes, std::function<void(Result<void>)> done) = 0;
  // All live objects in key order, and the newest revision ever used. Called once, at startup.
  struct Snapshot {
    Revision revision = 0;
    std::vector<Stored> objects;
  };
  virtual Result<Snapshot> load() = 0;
};

// SQLite in the file `path`: one connection, one writer thread, WAL, synchronous=FULL, group commit.
Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path, Executor& executor);
// Stores nothing; posts `done` at once. For --ephemeral and tests.
std::unique_ptr<Log> make_memory_log(Executor& executor);

}  // namespace berth::apiserver
