#include "journal/reader.h"

namespace berth::journal {

using Kind = ChunkReader::Chunk::Kind;

Result<bool> SegmentReader::read_chunk() {
  auto chunk = chunks_.next();
  if (!chunk) return error(chunk.error().message);
  chunk_ = std::move(*chunk);
  return chunk_.kind == Kind::kRecords;
}

Result<std::optional<SegmentHeader>> SegmentReader::open() {
  if (auto opened = chunks_.open(); !opened) return error(opened.error().message);
  const auto more = read_chunk();
  if (!more) return tl::unexpected(more.error());
  if (!*more) return std::optional<SegmentHeader>();
  auto header = decode_header(chunk_.raw);
  if (!header) return error(header.error().message);
  decoder_.emplace(header->began);
  return std::optional(std::move(*header));
}

Result<const Record*> SegmentReader::next() {
  while (next_ == records_.size()) {
    records_.clear();
    next_ = 0;
    if (!decoder_ || ended_) return nullptr;
    const auto more = read_chunk();
    if (!more) return tl::unexpected(more.error());
    if (!*more) {
      ended_ = true;
      return nullptr;
    }
    auto records = decoder_->records(chunk_.raw);
    if (!records) return error("the chunk at byte " + std::to_string(chunk_.position) + ": " + records.error().message);
    records_ = std::move(*records);
  }
  ++number_;
  return &records_[next_++];
}

void SegmentReader::resume() {
  if (!ended_ || closed()) return;
  chunks_.again();
  ended_ = false;
}

}  // namespace berth::journal
