// The files of a journal: a directory with one file per segment, oldest first by name. The sum of their sizes stays
// below a limit: the oldest are deleted first. Files are readable by their owner only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "journal/frames.h"

namespace berth::journal {

struct FileLimits {
  std::uint64_t max_size = 256u << 20;         // bytes of all segments
  Duration max_age = std::chrono::hours(168);  // segments that ended before that are deleted
};

// One segment: number-time.journal, as in 000000000042-20261123T170500Z.journal.
struct SegmentFile {
  std::string path;
  std::uint64_t number = 0;
  Time began{};
  std::uint64_t size = 0;  // in bytes
};
// By number. Other files in the directory are ignored. Error: the directory cannot be read.
Result<std::vector<SegmentFile>> list_segments(const std::string& directory);

// Writes segments. One object per directory: it is locked.
class SegmentFiles {
 public:
  SegmentFiles(std::string directory, FileLimits limits);
  ~SegmentFiles();  // closes without a closing chunk
  SegmentFiles(const SegmentFiles&) = delete;
  SegmentFiles& operator=(const SegmentFiles&) = delete;

  // Errors name the file. After an error the segment that is open can take nothing more; begin() may be tried again.
  Result<void> begin(Time now, const std::string& header);  // closes the open segment, makes the directory if needed
  Result<void> append(const std::string& records);
  Result<void> close();

  std::uint64_t segment_size() const { return size_; }
  std::uint64_t total_size() const { return size_ + older_size_; }

 private:
  Result<void> open_directory();
  Result<void> write(const std::string& bytes);
  Result<void> make_room(std::uint64_t bytes);
  void abandon();
  void drop_oldest();

  const std::string directory_;
  const FileLimits limits_;
  ChunkWriter chunks_;
  std::vector<SegmentFile> older_;  // than the open one, oldest first
  std::uint64_t older_size_ = 0;
  std::uint64_t last_number_ = 0;
  std::string path_;  // of the open segment
  Time began_{};
  int file_ = -1, lock_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace berth::journal
