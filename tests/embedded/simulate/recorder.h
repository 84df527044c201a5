// Journals of simulated controllers, in memory, and their replay.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "journal/journal.h"

namespace berth::simulation {

class Recorder {
 public:
  // Segments end after about so many bytes (and those of their checkpoint).
  explicit Recorder(std::uint64_t segment_size) : segment_size_(segment_size) {}

  // The journal of one controller; its segments are kept when it is gone.
  std::unique_ptr<journal::Journal> journal(Executor& executor);

  struct Replay {
    std::uint64_t segments = 0, compared = 0;
    std::vector<std::string> broken;  // what did not come again
  };
  Replay replay() const;
  const std::vector<std::string>& segments() const { return *segments_; }  // their bytes

 private:
  std::uint64_t segment_size_;
  std::shared_ptr<std::vector<std::string>> segments_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace berth::simulation
