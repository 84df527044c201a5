// The objects and their recent history: an ordered, multi-version map in memory in front of a log on disk.
//
// A write takes effect in memory at once and becomes durable later. Before showing a revision to a client, wait for
// it with when_durable(). While the log cannot write, the store accepts no writes, and nobody waits: what is not
// durable yet may become durable later, or be lost when the process ends. Everything runs on the executor's thread.
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
  kStopped      // the log cannot write at present: see failure()
};
// Whether the same write may succeed later.
inline bool passes(WriteError error) { return error != WriteError::kConflict; }

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
  // The newest revision that can be shown without waiting for long: revision(), or durable() while the log cannot
  // write.
  Revision readable() const { return failure_.empty() ? revision_ : durable_; }
  // Why the log cannot write at present; empty: it can.
  const std::string& failure() const { return failure_; }
  // The same, also when the log has confirmed nothing for some time.
  std::string problem() const;
  std::uint64_t failures() const { return failures_; }  // how often the log stopped to write
  bool overloaded() const;
  bool busy() const { return !failure_.empty() || overloaded(); }  // no write is accepted at present

  // The latest state; null when there is no such object.
  JsonPtr get(std::string_view bucket, std::string_view item) const;
  struct At {
    Revision revision = 0;  // of the write
    JsonPtr object;         // null: there is none
  };
  At get_at(std::string_view bucket, std::string_view item, Revision at) const;  // floor() <= at <= revision()
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
  // `reported` is called for every object that load() finds (as created), and for each change when it takes effect in
  // memory, so a cache built from it is never behind get(). Call this before load(). What takes effect is never
  // taken back.
  void on_write(std::function<void(const Change&)> reported) { written_ = std::move(reported); }
  // `observer` is called for each change once it is durable, in order of revisions. Observers cannot be removed.
  void observe(std::function<void(const Change&)> observer);
  // Runs `task` with true when everything up to `revision` is durable, or with false when the log cannot write it
  // at present: then nobody knows what becomes of it; inside this call if that is already known. Tasks run in order of
  // revisions, then of calls.
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
  void on_trouble(const std::string& why);
  void release_waiting(bool durable);
  void trim();
  void forget_before(const Change& change);

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
  std::uint64_t failures_ = 0;
  Time progress_;  // when the log confirmed something, or had nothing to do
  Lifetime lifetime_;
};

}  // namespace berth::apiserver
