// Reads a segment of a journal, record by record, with the position of each.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "journal/frames.h"
#include "journal/record.h"

namespace berth::journal {

class SegmentReader {
 public:
  // `in` must outlive it. `name`: for messages.
  SegmentReader(std::istream& in, std::string name) : chunks_(in), name_(std::move(name)) {}

  // Call first. Errors name the segment and the position of what is wrong. nullopt: the process that began the
  // segment was killed before it wrote anything.
  Result<std::optional<SegmentHeader>> open();

  // The next record; null at the end. It is valid until the next call.
  Result<const Record*> next();
  // After the end of a segment that was not closed: next() goes on if the file has grown.
  void resume();

  // Of the record that next() returned last.
  std::uint64_t number() const { return number_; }            // from 1
  std::uint64_t position() const { return chunk_.position; }  // of its chunk in the file, in bytes
  // At the end: how the segment ended. Closed by its writer, or cut: the writer was killed or still writes.
  bool closed() const { return chunk_.kind == ChunkReader::Chunk::Kind::kClosed; }
  std::uint64_t cut_bytes() const { return chunk_.kind == ChunkReader::Chunk::Kind::kTorn ? chunk_.size : 0; }

 private:
  Result<bool> read_chunk();  // false: there is no more
  tl::unexpected<Error> error(const std::string& what) const { return fail(name_ + ": " + what); }

  ChunkReader chunks_;
  std::string name_;
  ChunkReader::Chunk chunk_;
  std::optional<RecordDecoder> decoder_;
  std::vector<Record> records_;  // of the chunk
  std::size_t next_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace berth::journal
