// The objects and their recent past: an ordered, multi-version map in memory in front of a log on disk.
//
// Writes take effect in memory at once and are durable later; whoever shows a revision to somebody else waits
// for it with when_durable(). When the log fails, what was not durable is taken back and no further write is
// accepted. Everything runs on the executor's thread.
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

#include "apiserver/storage/store.h"

namespace berth::apiserver {

// "<group>/<resource>/": all objects of one resource, whatever their version.
std::string bucket_of(std::string_view group, std::string_view resource);

struct ObjectKey {
  std::string bucket;
  std::string item;  // "<namespace>/<name>"; "/<name>" for cluster-scoped objects
  std::string full() const { return bucket + item; }
};
ObjectKey key_of(std::string_view bucket, std::string_view ns, std::string_view name);
// Nothing when `full` is no key ("<group>/<resource>/<namespace>/<name>").
std::optional<ObjectKey> parse_key(std::string_view full);

struct StoreOptions {
  std::size_t history = 10'000;  // changes kept for watches and lists of the past
  std::size_t backlog =
      4'096;  // changes that may wait for the disk; beyond it writes are refused as overload
};

enum class WriteError : std::uint8_t {
  kConflict,    // the object is not at the expected revision
  kOverloaded,  // the log does not keep up: try again later
  kStopped      // the log failed: see failure()
};

class ObjectStore {
 public:
  ObjectStore(Executor& executor, std::unique_ptr<Log> log, StoreOptions options);
  ~ObjectStore();
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  // Takes over what the log holds. Once, before anything else.
  Result<void> load();

  Revision revision() const { return revision_; }  // of the newest write
  Revision durable() const { return durable_; }    // all writes up to it survive a crash
  Revision floor() const { return floor_; }        // the oldest revision whose state is still known
  const std::string& failure() const {
    return failure_;
  }  // why writes are refused for good; empty while all is well
  bool overloaded() const;

  // The newest state; null when there is no such object.
  JsonPtr get(std::string_view bucket, std::string_view item) const;
  // Revision of the object's last write, 0 when there is no such object.
  Revision revision_of(std::string_view bucket, std::string_view item) const;
  std::size_t count(std::string_view bucket) const;  // of live objects
  std::vector<std::string> buckets() const;          // those that hold or held something, in order

  // Visits the objects under `prefix` whose item comes after `after`, in order of their items, as of revision
  // `at`, which is between floor() and revision(). Stops when `visit` returns false.
  using Visit = std::function<bool(std::string_view item, const JsonPtr& object)>;
  void scan(std::string_view bucket, std::string_view prefix, std::string_view after, Revision at,
            const Visit& visit) const;

  // Writes `object` with the next revision as its metadata.resourceVersion, if the object's present revision
  // is `expected` (0: there must be none). Returns what was stored.
  tl::expected<JsonPtr, WriteError> put(const ObjectKey& key, Json object, Revision expected);
  // Removes the object. Watches see `last` when given, else the last state, with the revision of the removal.
  tl::expected<JsonPtr, WriteError> remove(const ObjectKey& key, Revision expected,
                                           std::optional<Json> last = std::nullopt);

  // Visits the durable changes of a bucket after revision `from`, oldest first. `from` must not be below
  // floor().
  void replay(std::string_view bucket, Revision from, const std::function<void(const Change&)>& visit) const;
  // `told` hears of every object that load() finds, as created, and of each change in the moment it takes effect in memory:
  // what it remembers is never behind get(). Before load(). What a failed log takes back it is not told of: nothing can be
  // written any more then.
  void on_write(std::function<void(const Change&)> told) { written_ = std::move(told); }
  // `observer` sees each change once it is durable, in order of revisions. Observers stay for good.
  void observe(std::function<void(const Change&)> observer);
  // `task` runs when everything up to `revision` is durable (true), or was lost to a failed log (false):
  // inside this call when that is known already. Tasks run in the order of revisions, and of calls for one
  // revision.
  void when_durable(Revision revision, std::function<void(bool durable)> task);
  // Tells all who wait that nobody will tell them more: before the store goes.
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
  struct Lifetime {};

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
  std::shared_ptr<Lifetime> lifetime_ = std::make_shared<Lifetime>();
};

}  // namespace berth::apiserver
