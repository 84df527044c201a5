// Where a journal's segments go.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace berth::journal {

struct SinkStatus {
  std::uint64_t segment = 0;  // bytes of the segment that is being written
  std::uint64_t total = 0;    // bytes of all segments
  std::string error;          // empty: all is well. After an error nothing is stored until the next begin()
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Closes the segment that is open, if any, and begins one with this header as its first chunk.
  virtual void begin(Time now, std::string header) = 0;
  virtual void append(std::string records) = 0;  // one chunk: at most kMostChunk bytes
  virtual void close() = 0;
  virtual SinkStatus status() const = 0;
};

}  // namespace berth::journal
