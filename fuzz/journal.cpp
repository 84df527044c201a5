// Any bytes as a segment of a journal, and as the records within a chunk: reading never crashes, takes bounded memory,
// and never calls damage a record. The engine is not asked: nobody but the owner of a journal can write one.
#include <cstdint>
#include <sstream>
#include <string>

#include "base/assert.h"
#include "journal/frames.h"
#include "journal/reader.h"
#include "journal/record.h"

namespace {

using namespace berth::journal;

void read_segment(std::string bytes) {
  std::istringstream in(std::move(bytes));
  SegmentReader reader(in, "segment");
  const auto header = reader.open();
  if (!header || !*header) return;
  std::uint64_t position = 0;
  while (true) {
    const auto record = reader.next();
    if (!record || *record == nullptr) return;
    BERTH_INVARIANT(reader.position() >= position);
    position = reader.position();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_segment(bytes);
  (void)decode_header(bytes);
  (void)RecordDecoder({}).records(bytes);
  // With right checksums around the same bytes.
  ChunkWriter chunks;
  std::string segment = signature();
  segment += chunks.chunk(encode_header({"1", {}, {}}), segment.size()).value();
  if (auto chunk = chunks.chunk(bytes, segment.size()); chunk && !bytes.empty()) segment += *chunk;
  read_segment(segment);
  return 0;
}
