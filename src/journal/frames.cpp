#include "journal/frames.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/checksum.h"
#include "journal/encode.h"

namespace berth::journal {
namespace {

constexpr std::string_view kName{"BERTHJ\0", 7};
// The fastest of zstd's regular levels: records repeat, and the controller's time counts more than the disk.
constexpr int kLevel = 1;

struct Head {
  std::uint32_t compressed = 0, size = 0;
  std::uint64_t checksum = 0;
};

std::uint64_t seal(const Head& head, std::uint64_t position) {
  return Checksum().add(std::uint64_t{head.compressed} << 32 | head.size).add(head.checksum).add(position).value();
}

void put_half(Out& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out.byte(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t get_half(In& in) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::uint32_t{in.byte()} << (8 * i);
  return value;
}

std::string at(std::uint64_t position) { return " at byte " + std::to_string(position); }

// Up to `size` bytes; fewer at the end of the file. Grows as it reads: a size in a damaged file is no promise.
std::string read_some(std::istream& in, std::size_t size) {
  constexpr std::size_t kStep = 1u << 20;
  std::string bytes;
  while (bytes.size() < size && in.good()) {
    const std::size_t known = bytes.size(), step = std::min(kStep, size - known);
    bytes.resize(known + step);
    in.read(bytes.data() + known, static_cast<std::streamsize>(step));
    bytes.resize(known + static_cast<std::size_t>(in.gcount()));
  }
  return bytes;
}

}  // namespace

std::string signature() { return std::string(kName) + static_cast<char>(kFormat); }

struct ChunkWriter::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
};

ChunkWriter::ChunkWriter() : compressor_(new Compressor) {}
ChunkWriter::~ChunkWriter() {
  ZSTD_freeCCtx(compressor_->context);
  delete compressor_;
}

Result<std::string> ChunkWriter::chunk(std::string_view raw, std::uint64_t position) {
  if (raw.size() > kMostChunk) return fail("a record has " + std::to_string(raw.size()) + " bytes: too many");
  std::string bytes(kChunkHeadSize, '\0');
  Head head;
  if (!raw.empty()) {
    bytes.resize(kChunkHeadSize + ZSTD_compressBound(raw.size()));
    const std::size_t size = compressor_->context == nullptr
                                 ? 0
                                 : ZSTD_compressCCtx(compressor_->context, bytes.data() + kChunkHeadSize,
                                                     bytes.size() - kChunkHeadSize, raw.data(), raw.size(), kLevel);
    if (size == 0 || ZSTD_isError(size) != 0) return fail("cannot compress: no memory");
    bytes.resize(kChunkHeadSize + size);
    head = {static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(raw.size()),
            berth::checksum_of(std::string_view(bytes).substr(kChunkHeadSize))};
  }
  std::string front;
  Out out{front};
  put_half(out, head.compressed);
  put_half(out, head.size);
  out.word(head.checksum);
  out.word(seal(head, position));
  bytes.replace(0, kChunkHeadSize, front);
  return bytes;
}

Result<void> ChunkReader::open() {
  const std::string found = read_some(in_, kSignatureSize);
  if (found.size() < kSignatureSize || !found.starts_with(kName)) return fail("not a Berth journal file");
  const auto format = static_cast<unsigned char>(found.back());
  if (format != kFormat)
    return fail("the journal has format " + std::to_string(format) + "; this Berth reads format " +
                std::to_string(kFormat));
  position_ = kSignatureSize;
  return {};
}

void ChunkReader::again() {
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(position_));
}

Result<ChunkReader::Chunk> ChunkReader::next() {
  Chunk chunk;
  chunk.position = position_;
  const std::string front = read_some(in_, kChunkHeadSize);
  if (front.empty()) return chunk;
  chunk.kind = Chunk::Kind::kTorn;
  chunk.size = front.size();
  if (front.size() < kChunkHeadSize) return chunk;
  In in(front, {}, nullptr);
  Head head;
  head.compressed = get_half(in);
  head.size = get_half(in);
  head.checksum = in.word();
  if (in.word() != seal(head, position_)) {
    // A file system may have made the file longer before it stored the bytes.
    const auto zeros = [](std::string_view bytes) { return bytes.find_first_not_of('\0') == bytes.npos; };
    bool empty = zeros(front);
    while (empty && in_.good()) {
      const std::string more = read_some(in_, 1u << 16);
      chunk.size += more.size();
      empty = zeros(more);
    }
    if (empty) return chunk;
    return fail("the head of the chunk" + at(position_) + " is damaged");
  }
  if (head.size == 0 && head.compressed == 0) {
    chunk.kind = Chunk::Kind::kClosed;
    position_ += kChunkHeadSize;
    if (in_.peek() != std::istream::traits_type::eof())
      return fail("there are more bytes after the end of the journal" + at(position_));
    return chunk;
  }
  if (head.size > kMostChunk || head.compressed > ZSTD_compressBound(kMostChunk))
    return fail("the chunk" + at(position_) + " is larger than any");
  const std::string payload = read_some(in_, head.compressed);
  chunk.size += payload.size();
  if (payload.size() < head.compressed) return chunk;
  const auto damaged = [&](const std::string& why) {
    return fail("the chunk of " + std::to_string(head.compressed) + " bytes" + at(position_ + kChunkHeadSize) +
                " is damaged: " + why);
  };
  if (berth::checksum_of(payload) != head.checksum) return damaged("its checksum is wrong");
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != head.size) return damaged("its size is wrong");
  chunk.raw.resize(head.size);
  const std::size_t size = ZSTD_decompress(chunk.raw.data(), chunk.raw.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) != 0 || size != head.size) return damaged("it cannot be decompressed");
  chunk.kind = Chunk::Kind::kRecords;
  position_ += kChunkHeadSize + head.compressed;
  return chunk;
}

}  // namespace berth::journal
