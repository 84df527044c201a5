// A store that lives again and again on a disk with faults, and a model of what it has to hold.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/random.h"
#include "embedded/apiserver/storage/faulty_disk.h"
#include "embedded/apiserver/storage/loop_executor.h"
#include "embedded/apiserver/storage/object_store.h"
#include "support/sanitized.h"

namespace berth::apiserver {

// How many seeds to play: BERTH_STORAGE_SEEDS if that is set.
inline std::uint64_t storage_seeds(std::uint64_t usual) {
  const char* asked = std::getenv("BERTH_STORAGE_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : usual / testing_support::kFewer;
}

inline const std::string kBucketOfAll = "g/r/";
inline const std::string kStatePath = "/state.db";

using State = std::map<std::string, std::uint64_t>;  // the checksum of each object

inline State read_state(const ObjectStore& store) {
  State state;
  store.scan(kBucketOfAll, "", "", store.revision(), [&](std::string_view item, const JsonPtr& object) {
    state[std::string(item)] = checksum_of(to_string(*object));
    return true;
  });
  return state;
}

// A store that lives again and again on one disk, and all states that it had.
class StorageWorld {
 public:
  explicit StorageWorld(std::uint64_t seed) : random_(seed), disk_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return next_random(random_) % limit; }
  FaultyDisk& disk() { return disk_; }
  ObjectStore& store() { return *store_; }
  Revision confirmed() const { return confirmed_; }
  const State& state_at(Revision revision) const { return states_[static_cast<std::size_t>(revision)]; }

  // Why the state file cannot be opened; empty: it is open.
  std::string open(bool accept_lost_writes = false) {
    SqliteLogOptions options;
    options.vfs = disk_.vfs();
    options.accept_lost_writes = accept_lost_writes;
    options.first_retry = options.longest_retry = std::chrono::milliseconds(1);
    auto log = open_sqlite_log(kStatePath, executor_, options);
    if (!log) return log.error().message;
    store_ = std::make_unique<ObjectStore>(executor_, std::move(*log), StoreOptions{50, 100'000});
    store_->observe([this](const Change& change) { confirmed_ = change.revision; });
    const auto loaded = store_->load();
    if (!loaded) store_.reset();
    return loaded ? "" : loaded.error().message;
  }

  void close() { store_.reset(); }

  // One change of one object, if the store takes it.
  void write() {
    const ObjectKey key = key_of(kBucketOfAll, "n", "k" + std::to_string(below(12)));
    const Revision expected = store_->revision_of(key.bucket, key.item);
    State next = states_.back();
    if (expected > 0 && below(4) == 0) {
      if (!store_->remove(key, expected)) return;
      next.erase(key.item);
    } else {
      Json object = JsonObject{{"value", static_cast<std::int64_t>(next_random(random_) >> 8)},
                               {"text", std::string(below(3) == 0 ? below(9'000) : below(300), 'x')}};
      const auto stored = store_->put(key, std::move(object), expected);
      if (!stored) return;
      next[key.item] = checksum_of(to_string(**stored));
    }
    states_.push_back(std::move(next));
  }

  void settle() {
    executor_.run_until([this] { return store_->durable() == store_->revision() || !store_->failure().empty(); });
  }
  // Also ends when the disk has stopped.
  void wait_until_it_works() {
    while (!disk_.stopped() && (store_->durable() != store_->revision() || !store_->failure().empty()))
      executor_.run_next(std::chrono::milliseconds(1));
  }

  // After open(): what is there is the state at some revision that was not confirmed to be older.
  void check() {
    const Revision found = store_->revision();
    ASSERT_GE(found, confirmed_) << "a confirmed write is lost";
    ASSERT_LT(found, static_cast<Revision>(states_.size())) << "a revision that nobody wrote";
    ASSERT_EQ(read_state(*store_), state_at(found));
    states_.resize(static_cast<std::size_t>(found) + 1);
    confirmed_ = found;  // from now on it is shown
  }

 private:
  std::uint64_t random_;
  FaultyDisk disk_;
  LoopExecutor executor_;
  std::unique_ptr<ObjectStore> store_;
  Revision confirmed_ = 0;
  std::vector<State> states_{{}};  // by revision
};

// What the log says of thousands of faults helps nobody.
class QuietErrors {
 public:
  QuietErrors() : kept_(::dup(STDERR_FILENO)) {
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDERR_FILENO);
    ::close(nothing);
  }
  ~QuietErrors() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

}  // namespace berth::apiserver
