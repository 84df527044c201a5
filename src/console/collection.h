// The rows of one collection, in the form in which streams send them: each row is encoded once, and so is each event
// that several streams send. A change has a version, so that a stream that has paused catches up with one merged
// change.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "console/rows/row.h"
#include "console/scope.h"
#include "http/message.h"

namespace berth::console {

// Bounds.
inline constexpr std::size_t kRowsPerPart = 500;  // of a snapshot, and of an event with changes
// Deletions that are remembered; a stream that is further behind gets a new snapshot.
inline constexpr std::size_t kMaxDeletions = 20'000;
// Changes that one call of changes() encodes; a stream that is further behind gets a new snapshot.
inline constexpr std::size_t kMaxMergedChanges = 2'000;
inline constexpr std::size_t kMaxCachedChanges = 256;  // encoded changes since different versions or in other scopes

class Collection {
 public:
  explicit Collection(std::string name) : name_(std::move(name)) {}
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  const std::string& name() const { return name_; }
  void set(Row row);  // adds or replaces; a row that is the same as before is no change
  void erase(std::string_view key);
  bool contains(std::string_view key) const { return rows_.contains(std::string(key)); }
  std::size_t size() const { return rows_.size(); }
  std::vector<std::string> namespaces() const;  // of the rows

  // Whether the first list has ended, or the cluster does not have such objects. Streams wait for that.
  bool settled() const { return settled_; }
  void settle() { settled_ = true; }

  std::uint64_t version() const { return version_; }

  // Snapshots: call next_part() with a new cursor until it returns null. Returns rows as JSON objects with commas
  // between. Rows that change meanwhile are among the changes since the version at the beginning.
  struct Cursor {
    std::string ns;
    std::size_t shard = 0;
  };
  http::SharedBytes next_part(const Scope& scope, Cursor& cursor);

  // Appends the events that bring a stream from version `since` to version(). False: too much has happened since then;
  // the stream needs a snapshot.
  bool changes(const Scope& scope, std::uint64_t since, std::vector<http::SharedBytes>& events);

  // Frees encoded parts that no stream has used since the last call.
  void forget_unused();

 private:
  struct Shard;
  struct Stored {
    const std::string* key = nullptr;
    const std::string* ns = nullptr;
    std::string json;
    std::uint64_t version = 0;
    Shard* shard = nullptr;
    std::size_t index = 0;  // in the shard
  };
  // Rows of one namespace that are encoded together.
  struct Shard {
    std::vector<Stored*> rows;
    http::SharedBytes encoded;  // null when it must be encoded anew
    bool used = false;          // since forget_unused()
  };
  struct Space {
    std::deque<Shard> shards;  // never shrinks while the namespace has rows, so that cursors stay valid
    std::size_t rows = 0;
  };
  struct Deletion {
    std::uint64_t version = 0;
    std::string key, ns;
  };
  using Events = std::vector<http::SharedBytes>;

  bool too_far_behind(std::uint64_t since) const;
  void place(Stored& row, Space& space);
  void remove(Stored& row);
  Events encode_changes(const std::string* ns, std::uint64_t since) const;
  const Events& cached_changes(const std::string* ns, std::uint64_t since);

  const std::string name_;
  bool settled_ = false;
  std::uint64_t version_ = 0;
  std::unordered_map<std::string, std::unique_ptr<Stored>> rows_;   // by key
  std::map<std::string, Space, std::less<>> spaces_;                // by namespace
  std::map<std::uint64_t, Stored*> log_;                            // rows by the version of their last change
  std::deque<Deletion> deletions_;                                  // in order of versions
  std::uint64_t forgotten_ = 0;                                     // deletions up to this version are not remembered
  std::map<std::pair<std::string, std::uint64_t>, Events> cached_;  // by namespace ("*": all) and version
  std::uint64_t cached_for_ = 0;                                    // the version of cached_
};

}  // namespace berth::console
