// Writes a journal's segments into a directory, in a thread of its own: a slow disk must not delay decisions. What
// waits for the disk is bounded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "journal/segment_files.h"
#include "journal/sink.h"

namespace berth::journal {

class FileSink final : public Sink {
 public:
  FileSink(std::string directory, FileLimits limits);
  ~FileSink() override;  // writes what was given

  void begin(Time now, std::string header) override;
  void append(std::string records) override;
  void close() override;
  SinkStatus status() const override;

 private:
  using Job = std::function<Result<void>()>;
  void give(std::size_t bytes, Job job);
  void work();

  SegmentFiles files_;  // of the thread
  mutable std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::pair<std::size_t, Job>> jobs_;
  std::size_t waiting_ = 0;  // bytes of the jobs
  SinkStatus status_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace berth::journal
