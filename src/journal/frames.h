// The bytes of a journal's file: a signature, then chunks, each compressed by itself and with checksums. A file may
// end at any byte: what a killed process did not finish is cut. Damage anywhere else is an error with its position.
//
//   file:  "BERTHJ" 0x00 kFormat, chunk...
//   chunk: compressed size (4), size (4), checksum of the payload (8), checksum of these 16 bytes and of the chunk's
//          position in the file (8), payload (a zstd frame)
//
// Numbers are little-endian. A chunk of size 0 says that the file was closed: nothing is missing.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::journal {

inline constexpr std::uint8_t kFormat = 1;
inline constexpr std::size_t kSignatureSize = 8;
inline constexpr std::size_t kChunkHeadSize = 24;
// The most bytes of one chunk before compression. The largest record is one event: an object of at most 3 MiB.
inline constexpr std::size_t kMostChunk = 16u << 20;

std::string signature();

// Compresses chunks. Not for several threads at the same time.
class ChunkWriter {
 public:
  ChunkWriter();
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  // The chunk's bytes for this position of the file. `raw`: at most kMostChunk bytes; empty: the closing chunk.
  Result<std::string> chunk(std::string_view raw, std::uint64_t position);

 private:
  struct Compressor;
  Compressor* compressor_;
};

class ChunkReader {
 public:
  // `in` must outlive it.
  explicit ChunkReader(std::istream& in) : in_(in) {}

  struct Chunk {
    enum class Kind { kRecords, kClosed, kTorn, kEnd } kind = Kind::kEnd;
    std::uint64_t position = 0, size = 0;  // in the file, in bytes. kTorn: what is cut
    std::string raw;                       // of kRecords
  };
  // Call first. Error: this is no journal, or one of another format.
  Result<void> open();
  // The next chunk. After kClosed, kTorn and kEnd (the file ends without a closing chunk) there is none. Error: the
  // bytes at a position are damaged; there is no next chunk either.
  Result<Chunk> next();
  // After kTorn or kEnd: next() looks again, because the file may have grown.
  void again();

 private:
  std::istream& in_;
  std::uint64_t position_ = 0;
};

}  // namespace berth::journal
