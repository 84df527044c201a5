#include "journal/file_sink.h"

#include <utility>

namespace berth::journal {
namespace {

constexpr std::size_t kMostWaiting = 64u << 20;  // bytes; the checkpoint of 50,000 workloads has about half of this

}  // namespace

FileSink::FileSink(std::string directory, FileLimits limits)
    : files_(std::move(directory), limits), thread_([this] { work(); }) {}

FileSink::~FileSink() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  given_.notify_one();
  thread_.join();
}

void FileSink::begin(Time now, std::string header) {
  {
    const std::lock_guard lock(mutex_);
    // What could not be written is of no use any more.
    if (!status_.error.empty()) jobs_.clear();
    if (!status_.error.empty()) waiting_ = 0;
    status_.error.clear();
    status_.segment = 0;
  }
  const std::size_t bytes = header.size();
  give(bytes, [this, now, header = std::move(header)] { return files_.begin(now, header); });
}

void FileSink::append(std::string records) {
  const std::size_t bytes = records.size();
  give(bytes, [this, records = std::move(records)] { return files_.append(records); });
}

void FileSink::close() {
  give(0, [this] { return files_.close(); });
}

SinkStatus FileSink::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void FileSink::give(std::size_t bytes, Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_.error.empty()) return;
    if (waiting_ + bytes > kMostWaiting) {
      status_.error = "the disk is too slow: " + std::to_string(waiting_) + " bytes wait to be written";
      return;
    }
    waiting_ += bytes;
    jobs_.emplace_back(bytes, std::move(job));
  }
  given_.notify_one();
}

void FileSink::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    given_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto [bytes, job] = std::move(jobs_.front());
    jobs_.pop_front();
    waiting_ -= bytes;
    lock.unlock();
    const auto done = job();
    lock.lock();
    status_.segment = files_.segment_size();
    status_.total = files_.total_size();
    if (!done && status_.error.empty()) status_.error = done.error().message;
  }
}

}  // namespace berth::journal
