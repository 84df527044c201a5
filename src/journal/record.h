// A segment of a journal: a header, then records. Each record says what the engine was given and, as a checksum, what
// it answered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "journal/event_codec.h"

namespace berth::journal {

struct SegmentHeader {
  std::string version;  // of the Berth that wrote it
  Time began{};
  engine::Options options;
};
std::string encode_header(const SegmentHeader& header);
Result<SegmentHeader> decode_header(std::string_view bytes);

struct Record {
  // kCheckpoint: everything before it is what the engine knew when the segment began; what follows happened.
  enum class Kind : std::uint8_t { kEvent, kRound, kCheckpoint } kind = Kind::kEvent;
  Time now{};
  engine::Event event;                // of kEvent: an argument of handle()
  bool answered = false;              // the engine returned effects
  std::uint64_t checksum = 0;         // of the effects
  std::vector<Decision> decisions{};  // among the effects
};

class RecordEncoder {
 public:
  // Times are stored as distances from the segment's begin.
  explicit RecordEncoder(Time began) : epoch_(began), last_(began) {}

  void event(std::string& bytes, Time now, const engine::Event& event, const engine::Effects& effects);
  void round(std::string& bytes, Time now, const engine::Effects& effects);
  void checkpoint(std::string& bytes, Time now);

 private:
  Out begin(std::string& bytes, Record::Kind kind, Time now, const engine::Effects& effects);
  void answer(Out& out, const engine::Effects& effects);

  Time epoch_, last_;
  KnownDocuments documents_;
  EventEncoder events_;
  std::string scratch_;
};

class RecordDecoder {
 public:
  explicit RecordDecoder(Time began) : epoch_(began), last_(began) {}
  // Reads all records of one chunk. Error: the position within it, and what is wrong.
  Result<std::vector<Record>> records(std::string_view chunk);

 private:
  Record record(In& in);

  Time epoch_, last_;
  KnownDocuments documents_;
  EventDecoder events_;
};

}  // namespace berth::journal
