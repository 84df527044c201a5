// The objects and their recent history: an ordered, multi-version map in memory in front of a log on disk.
//
// A write takes effect in memory at once and becomes durable later. Before showing a revision to a client, wait for
// it with when_durable(). When the log fails, the store rolls back the writes that are not durable and accepts no
// more writes. Everything runs on the executor's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

// "<group>/<resource>/": all objects of one resource, in any version.
std::string bucket_of(std::string_view group, std::string_view resource);

struct ObjectKey {
  std::string bucket;
  std::string item;  // "<namespace>/<name>"; "/<name>" for cluster-scoped objects
  std::string full() const { return bucket + item; }
};
ObjectKey key_of(std::string_view bucket, std::string_view ns, std::string_view name);
// nullopt when `full` is not a key ("<group>/<resource>/<namespace>/<name>").
std::optional<ObjectKey> parse_key(std::string_view full);

struct StoreOptions {
  std::size_t history = 10'000;  // changes kept for watches and for lists at an old revision
  // Changes that may wait for the disk; above this, writes fail with kOverloaded.
  std::size_t backlog = 4'096;
};

enum class WriteError : std::uint8_t {
  kConflict,    // the object's revision is not the expected one
  kOverloaded,  // the log is too slow: retry later
  kStopped      // the log failed: see failure()
};

class ObjectStore {
 public:
  ObjectStore(Executor& executor, std::unique_ptr<Log> log, StoreOptions options);
  ~ObjectStore();
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  // Loads the objects of the log. Call it once, before anything else.
  Result<void> load();

  Revision revision() const { return revision_; }  // of the newest write
  Revision durable() const { return durable_; }    // the newest revision that survives a crash, with all before it
  Revision floor() const { return floor_; }        // the oldest revision whose state is still available
  const std::string& failure() const {
    return failure_;
  }  // the error of the log, after which all writes fail; empty: none
  bool overloaded() const;

  // The latest state; null when there is no such object.
  JsonPtr get(std::string_view bucket, std::string_view item) const;
  // The revision of the object's last write; 0 when there is no such object.
  Revision revision_of(std::string_view bucket, std::string_view item) const;
  std::size_t count(std::string_view bucket) const;  // number of live objects
  std::vector<std::string> buckets() const;          // buckets that hold or held objects, sorted

  // Visits the objects with `prefix` whose item is greater than `after`, in order of items, as of revision `at`
  // (floor() <= at <= revision()). Stops when `visit` returns false.
  using Visit = std::function<bool(std::string_view item, const JsonPtr& object)>;
  void scan(std::string_view bucket, std::string_view prefix, std::string_view after, Revision at,
            const Visit& visit) const;

  // Writes `object` with the next revision as its metadata.resourceVersion, if the object is at revision `expected`
  // (0: it must not exist). Returns the stored object.
  tl::expected<JsonPtr, WriteError> put(const ObjectKey& key, Json object, Revision expected);
  // Removes the object. Watches see `last`, or else its last state, with the revision of the removal.
  tl::expected<JsonPtr, WriteError> remove(const ObjectKey& key, Revision expected,
                                           std::optional<Json> last = std::nullopt);

  // Visits the durable changes of a bucket after revision `from`, oldest first. `from` must be >= floor().
  void replay(std::string_view bucket, Revision from, const std::function<void(const Change&)>& visit) const;
  // `told` is called for every object that load() finds (as created), and for each change when it takes effect in
  // memory, so a cache built from it is never behind get(). Call this before load(). `told` is not called for writes
  // that a log failure rolls back: after that no write is possible.
  void on_write(std::function<void(const Change&)> told) { written_ = std::move(told); }
  // `observer` is called for each change once it is durable, in order of revisions. Observers cannot be removed.
  void observe(std::function<void(const Change&)> observer);
  // Runs `task` with true when everything up to `revision` is durable, or with false when a log failure lost it;
  // inside this call if that is already known. Tasks run in order of revisions, then of calls.
  void when_durable(Revision revision, std::function<void(bool durable)> task);
  // Runs all waiting tasks with false. Call it before the store is destroyed.
  void abandon() { release_waiting(false); }

 private:
  struct Version {
    Revision revision = 0;
    JsonPtr object;  // null: deleted
  };
  using Versions = std::vector<Version>;  // oldest first, never empty
  struct Bucket {
    std::map<std::string, Versions, std::less<>> items;
    std::size_t live = 0;
  };

  const Versions* find(std::string_view bucket, std::string_view item) const;
  std::optional<WriteError> refuse(const ObjectKey& key, Revision expected) const;
  JsonPtr commit(const ObjectKey& key, Change::Type type, Json object);
  void on_appended(Revision revision, const Result<void>& outcome);
  void on_failed(const std::string& message);
  void release_waiting(bool durable);
  void trim();
  void forget_before(const Change& change);
  void take_back(const Change& change);

  Executor& executor_;
  std::unique_ptr<Log> log_;
  StoreOptions options_;
  std::map<std::string, Bucket, std::less<>> buckets_;
  std::deque<Change> history_;  // revisions floor_+1 .. revision_, without gaps
  std::multimap<Revision, std::function<void(bool)>> waiting_;
  std::vector<std::function<void(const Change&)>> observers_;
  std::function<void(const Change&)> written_;
  Revision revision_ = 0;
  Revision durable_ = 0;
  Revision floor_ = 0;
  std::string failure_;
  Lifetime lifetime_;
};

}  // namespace berth::apiserver
