#include "journal/record.h"

namespace berth::journal {
namespace {

constexpr std::uint8_t kAnswered = 0x80;  // added to the kind: the engine returned effects
constexpr Time kHeaderEpoch{};

}  // namespace

std::string encode_header(const SegmentHeader& header) {
  std::string bytes;
  Out out{bytes, kHeaderEpoch};
  put(out, header.version);
  put(out, header.began);
  put(out, header.options);
  return bytes;
}

Result<SegmentHeader> decode_header(std::string_view bytes) {
  In in(bytes, kHeaderEpoch, nullptr);
  SegmentHeader header;
  get(in, header.version);
  get(in, header.began);
  get(in, header.options);
  if (!in.ok()) return fail("the header cannot be read: " + in.error());
  return header;
}

Out RecordEncoder::begin(std::string& bytes, Record::Kind kind, Time now, const engine::Effects& effects) {
  Out out{bytes, epoch_, &documents_};
  out.byte(static_cast<std::uint8_t>(kind) | (effects.empty() ? 0 : kAnswered));
  out.signed_number((now - last_).count());
  last_ = now;
  return out;
}

void RecordEncoder::answer(Out& out, const engine::Effects& effects) {
  if (effects.empty()) return;
  out.word(checksum_of(effects, scratch_));
  const auto decisions = decisions_of(effects);
  out.number(decisions.size());
  for (const auto& each : decisions) {
    out.byte(static_cast<std::uint8_t>(each.action));
    out.text(each.workload);
    out.number(each.write);
  }
}

void RecordEncoder::event(std::string& bytes, Time now, const engine::Event& event, const engine::Effects& effects) {
  Out out = begin(bytes, Record::Kind::kEvent, now, effects);
  events_.put_event(out, event);
  answer(out, effects);
}

void RecordEncoder::round(std::string& bytes, Time now, const engine::Effects& effects) {
  Out out = begin(bytes, Record::Kind::kRound, now, effects);
  answer(out, effects);
}

void RecordEncoder::checkpoint(std::string& bytes, Time now) { begin(bytes, Record::Kind::kCheckpoint, now, {}); }

Record RecordDecoder::record(In& in) {
  Record out;
  const std::uint8_t kind = in.byte();
  out.answered = (kind & kAnswered) != 0;
  if ((kind & ~kAnswered) > static_cast<std::uint8_t>(Record::Kind::kCheckpoint))
    in.wrong("a newer Berth wrote it: it is a record of an unknown kind");
  out.kind = static_cast<Record::Kind>(kind & ~kAnswered);
  const std::uint64_t step = static_cast<std::uint64_t>(in.signed_number());
  out.now =
      Time(Duration(static_cast<Duration::rep>(static_cast<std::uint64_t>(last_.time_since_epoch().count()) + step)));
  last_ = out.now;
  if (out.kind == Record::Kind::kEvent && in.ok()) out.event = events_.get_event(in);
  if (!out.answered) return out;
  out.checksum = in.word();
  for (std::size_t left = in.count(sizeof(Decision)); left > 0 && in.ok(); --left) {
    Decision each;
    const std::uint8_t action = in.byte();
    if (action > static_cast<std::uint8_t>(MonkeyAction::kExpired))
      in.wrong("a newer Berth wrote it: it has an unknown decision");
    each.action = static_cast<MonkeyAction>(action);
    each.workload = in.text();
    each.write = in.number();
    out.decisions.push_back(std::move(each));
  }
  return out;
}

Result<std::vector<Record>> RecordDecoder::records(std::string_view chunk) {
  In in(chunk, epoch_, &documents_);
  std::vector<Record> out;
  while (!in.at_end()) {
    const std::size_t began = in.position();
    in.new_record();
    out.push_back(record(in));
    if (!in.ok())
      return fail("the record at byte " + std::to_string(began) + " of the chunk cannot be read: " + in.error());
  }
  return out;
}

}  // namespace berth::journal
