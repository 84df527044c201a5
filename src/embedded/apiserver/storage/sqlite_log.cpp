// The log in an SQLite file, written by one thread.
//
// That thread owns the only connection, which locks the file exclusively: SQLite before 3.51.3 can corrupt a WAL file
// that several connections write and checkpoint. Everything in the queue when the thread takes it shares one
// transaction and so one fsync. When something fails, the thread closes the file, opens it again, which checks it as at
// a start, and writes the same changes again, until it succeeds: see docs/adr/0006-store.md.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "embedded/apiserver/storage/log_table.h"
#include "embedded/apiserver/storage/revision_floor.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {
namespace {

constexpr std::chrono::seconds kFloorLag{1};  // how old what is on disk of the floor may be

struct Batch {
  std::vector<Change> changes;
  std::function<void(Result<void>)> done;
};
using Batches = std::vector<Batch>;

class SqliteLog final : public Log {
 public:
  SqliteLog(std::string path, Executor& executor, SqliteLogOptions options)
      : path_(std::move(path)), executor_(executor), options_(std::move(options)) {}
  ~SqliteLog() override;

  Result<void> open();
  void append(std::vector<Change> changes, std::function<void(Result<void>)> done) override;
  Result<Snapshot> load() override;
  void on_trouble(std::function<void(const std::string&)> reported) override { reported_ = std::move(reported); }

 private:
  Result<void> open_files(bool first);
  std::string floor_path() const { return path_ + "-revision"; }
  Result<void> open_floor(VfsFile::Kind kind);
  void warn_of_floor() const;

  void run();
  bool take(Batches& batches);
  bool finish(Batches& batches);
  Result<void> work(Batches& batches);
  Result<void> write(const Batches& batches);
  Result<void> sync_floor();
  void answer(Batches& batches, const Result<void>& outcome);
  void report(const std::string& why);
  bool wait_for(Duration pause);

  const std::string path_;
  Executor& executor_;
  const SqliteLogOptions options_;
  std::function<void(const std::string&)> reported_;

  // Of the thread, once it runs.
  std::optional<RevisionFloor> floor_;
  std::unique_ptr<LogTable> table_;  // null: to be opened again
  Revision durable_ = 0;
  std::string trouble_;
  std::chrono::steady_clock::time_point floor_synced_;

  std::mutex mutex_;
  std::condition_variable wake_;
  Batches queue_;  // limited by the store's backlog
  bool stopping_ = false;
  std::thread thread_;
};

Result<void> SqliteLog::open() {
  return open_files(true).and_then([this]() -> Result<void> {
    warn_of_floor();
    durable_ = table_->newest();
    return floor_->raise(durable_).and_then([this] { return floor_->sync(); });
  });
}

Result<void> SqliteLog::open_files(bool first) {
  floor_.reset();
  if (vfs_file_exists(floor_path(), options_.vfs)) {
    if (auto opened = open_floor(VfsFile::Kind::kExisting); !opened) return opened;
  }
  auto table = LogTable::open({.state = path_,
                               .vfs = options_.vfs,
                               .may_create = first,
                               .accept_losses = first && options_.accept_lost_writes,
                               .floor = std::max(floor_ ? floor_->value() : 0, durable_)});
  if (!table) return tl::unexpected(table.error());
  table_ = std::move(*table);
  return floor_ ? Result<void>{} : open_floor(VfsFile::Kind::kCreated);
}

Result<void> SqliteLog::open_floor(VfsFile::Kind kind) {
  auto floor = RevisionFloor::open(floor_path(), kind, options_.vfs);
  if (!floor) return tl::unexpected(floor.error());
  floor_.emplace(std::move(*floor));
  return {};
}

void SqliteLog::warn_of_floor() const {
  if (floor_->value() > 0 || table_->newest() == 0 || table_->from_earlier_version()) return;
  log::warn("whether the newest writes are all in the state file cannot be checked; the file is made anew",
            {{"file", floor_path()}, {"why", floor_->damaged() ? "it is damaged" : "it is missing or empty"}});
}

Result<Log::Snapshot> SqliteLog::load() {
  auto objects = table_->objects();
  if (!objects) return tl::unexpected(objects.error());
  thread_ = std::thread([this] { run(); });
  return Snapshot{durable_, std::move(*objects)};
}

SqliteLog::~SqliteLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (!thread_.joinable()) return;
  thread_.join();
  if (table_ == nullptr) return;
  static_cast<void>(floor_->sync());  // it is exact in the system's cache
  table_->merge_wal_when_closed();
}

void SqliteLog::append(std::vector<Change> changes, std::function<void(Result<void>)> done) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = queue_.empty();
    queue_.push_back({std::move(changes), std::move(done)});
  }
  if (was_empty) wake_.notify_one();
}

void SqliteLog::run() {
  Batches batches;
  while (take(batches)) {
    if (finish(batches)) continue;
    answer(batches, fail(trouble_));
    return;
  }
}

// Waits for changes, or until the floor has to be synced. False when the log is closed and nothing is left.
bool SqliteLog::take(Batches& batches) {
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return stopping_ || !queue_.empty(); };
  if (!floor_ || floor_->synced()) {
    wake_.wait(lock, woken);
  } else {
    wake_.wait_until(lock, floor_synced_ + kFloorLag, woken);
  }
  batches.swap(queue_);
  return !stopping_ || !batches.empty();
}

// Works until nothing fails any more. False when the log is closed before.
bool SqliteLog::finish(Batches& batches) {
  Duration pause = options_.first_retry;
  while (true) {
    const auto done = work(batches);
    if (done) {
      report("");
      return true;
    }
    report(done.error().message);
    table_.reset();
    if (!wait_for(pause)) return false;
    pause = std::min(2 * pause, options_.longest_retry);
  }
}

Result<void> SqliteLog::work(Batches& batches) {
  if (table_ == nullptr) {
    if (auto opened = open_files(false); !opened) return opened;
  }
  if (!batches.empty()) {
    if (auto written = write(batches); !written) return written;
    answer(batches, {});
  }
  return table_->keep_house().and_then([this] { return sync_floor(); });
}

Result<void> SqliteLog::write(const Batches& batches) {
  std::vector<const Change*> changes;
  for (const Batch& batch : batches) {
    for (const Change& change : batch.changes) changes.push_back(&change);
  }
  return table_->append(changes).and_then([this] { return floor_->raise(table_->newest()); }).map([this] {
    durable_ = table_->newest();
  });
}

Result<void> SqliteLog::sync_floor() {
  const auto now = std::chrono::steady_clock::now();
  if (floor_->synced() || now < floor_synced_ + kFloorLag) return {};
  floor_synced_ = now;
  return floor_->sync();
}

void SqliteLog::answer(Batches& batches, const Result<void>& outcome) {
  executor_.post([given = std::make_shared<Batches>(std::exchange(batches, {})), outcome] {
    for (Batch& batch : *given) batch.done(outcome);
  });
}

void SqliteLog::report(const std::string& why) {
  if (why == trouble_) return;
  if (trouble_.empty()) {
    log::error("the state file cannot be written; trying again until it can", {{"error", why}});
  } else if (why.empty()) {
    log::warn("the state file can be written again");
  }
  trouble_ = why;
  executor_.post([reported = reported_, why] {
    if (reported) reported(why);
  });
}

// False when the log is closed.
bool SqliteLog::wait_for(Duration pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return stopping_; });
}

}  // namespace

Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path, Executor& executor, SqliteLogOptions options) {
  auto log = std::make_unique<SqliteLog>(path, executor, std::move(options));
  if (auto opened = log->open(); !opened) return tl::unexpected(opened.error());
  return log;
}

}  // namespace berth::apiserver
