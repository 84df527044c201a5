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

// The log on disk. Everything is called on the executor's thread, the callbacks too.
class Log {
 public:
  virtual ~Log() = default;
  // `done` is called when the changes are durable; with an error only if the log gives them up, because it is closed
  // while it cannot write. Then nobody knows whether they are stored.
  virtual void append(std::vector<Change> changes, std::function<void(Result<void>)> done) = 0;
  // `reported` gets the reason when changes cannot be written, and "" when all of them are written and the next ones
  // can be. In between the log tries again and again: what was given to it is kept.
  virtual void on_trouble(std::function<void(const std::string& why)> /*report*/) {}
  // All live objects in key order, and the newest revision ever used. Called once, at startup.
  struct Snapshot {
    Revision revision = 0;
    std::vector<Stored> objects;
  };
  virtual Result<Snapshot> load() = 0;
};

struct SqliteLogOptions {
  // Starts although acknowledged writes are missing or damaged. What is damaged is removed; the log says what. The
  // revision goes on above the newest one that is known.
  bool accept_lost_writes = false;
  std::string vfs;                                        // SQLite's VFS; empty: the default
  Duration first_retry = std::chrono::milliseconds(100);  // after a failed write; then twice as long each time,
  Duration longest_retry = std::chrono::seconds(5);       // up to this
};
// SQLite in the file `path`: one connection, one writer thread, WAL, synchronous=FULL, group commit. An error says what
// is wrong with the file, and what to do.
Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path, Executor& executor,
                                             SqliteLogOptions options = {});
// Stores nothing; posts `done` at once. For --ephemeral and tests.
std::unique_ptr<Log> make_memory_log(Executor& executor);

}  // namespace berth::apiserver
