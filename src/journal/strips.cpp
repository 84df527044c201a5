#include "journal/strips.h"

#include <algorithm>
#include <fstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "journal/reader.h"
#include "journal/segment_files.h"
#include "journal/strip_scan.h"

namespace berth::journal {
namespace {

constexpr std::size_t kMostDamage = 10;  // sentences of one answer

bool touches(const Strip& strip, Time from, Time to) {
  return std::ranges::any_of(strip.spans,
                             [&](const StripSpan& span) { return span.from <= to && (!span.to || *span.to >= from); });
}

// Puts the spans of an older segment before those of a newer one, whose checkpoint told its first state again.
void join(Strip& newer, const Strip& older) {
  if (older.spans.empty()) return;
  std::vector<StripSpan> spans = older.spans;
  StripSpan& last = spans.back();
  std::size_t first = 0;
  if (!newer.spans.empty() && !last.to) {
    if (last.state == newer.spans[0].state) {
      last.to = newer.spans[0].to;
      last.end = newer.spans[0].end;
      if (newer.spans[0].amounts) last.amounts = newer.spans[0].amounts;
      first = 1;
    } else {
      last.to = std::max(last.from, newer.spans[0].from);
    }
  }
  spans.insert(spans.end(), newer.spans.begin() + static_cast<std::ptrdiff_t>(first), newer.spans.end());
  newer.cut = newer.cut || older.cut;
  if (spans.size() > StripScan::kMostSpans) {
    spans.erase(spans.begin(), spans.end() - StripScan::kMostSpans);
    newer.cut = true;
  }
  newer.spans = std::move(spans);
}

}  // namespace

std::string_view name(StripSpan::State state) {
  switch (state) {
    case StripSpan::State::kWaiting:
      return "waiting";
    case StripSpan::State::kReserved:
      return "reserved";
    case StripSpan::State::kAdmitted:
      return "admitted";
  }
  return "";
}

struct StripReader::Segment {
  Segment(std::uint64_t n, bool with_amounts) : number(n), amounts(with_amounts) {}

  const std::vector<Strip>& strips() const { return scan ? scan->strips() : finished; }

  // Reads at most so many records. Returns false when it stopped there and not at the end.
  // `last_one`: its file may still grow.
  bool read(const SegmentFile& file, bool last_one, std::size_t& records) {
    if (complete || ((at_end || !damage.empty()) && file.size == seen_size && last_one)) return true;
    if (!reader && !open(file)) return true;
    if (at_end) reader->resume();
    at_end = false;
    seen_size = file.size;
    for (; records > 0; --records) {
      const auto record = reader->next();
      if (!record || *record == nullptr) {
        at_end = true;
        if (!record) damage = record.error().message;
        if (!record || reader->closed() || !last_one) finish();
        return true;
      }
      scan->take(**record);
      last = scan->last();
    }
    return false;
  }

  bool open(const SegmentFile& file) {
    in = std::make_unique<std::ifstream>(file.path, std::ios::binary);
    reader = std::make_unique<SegmentReader>(*in, file.path);
    scan = std::make_unique<StripScan>(amounts);
    damage.clear();
    finished.clear();
    const auto header = reader->open();
    if (header && *header) return true;
    if (!header) damage = header.error().message;
    drop();
    seen_size = file.size;
    at_end = true;
    return false;
  }

  void finish() {
    finished = scan->finish();
    complete = true;
    drop();
  }
  void drop() {
    reader.reset();
    in.reset();
    scan.reset();
    at_end = false;
  }

  const std::uint64_t number;
  const bool amounts;
  std::unique_ptr<std::ifstream> in;
  std::unique_ptr<SegmentReader> reader;  // null: complete, or not begun
  std::unique_ptr<StripScan> scan;
  std::vector<Strip> finished;
  Time last{};
  std::string damage;
  std::uint64_t seen_size = 0;
  bool complete = false, at_end = false;
};

// The strips of an answer, while segments are added from the newest to the oldest.
struct StripReader::Gathering {
  const StripQuestion& question;
  std::vector<Strip> strips;
  std::unordered_map<std::string, std::size_t> by_uid;

  void add(const std::vector<Strip>& of_segment, std::optional<Time> next_segment) {
    for (const Strip& strip : of_segment) {
      if (!question.cluster_queue.empty() && strip.cluster_queue != question.cluster_queue) continue;
      if (question.may_see && !question.may_see(strip.ns)) continue;
      const auto [it, fresh] = by_uid.try_emplace(strip.uid, strips.size());
      if (!fresh) {
        join(strips[it->second], strip);
        continue;
      }
      strips.push_back(strip);
      // The next segment does not know it any more.
      if (next_segment && !strip.spans.empty() && !strip.spans.back().to)
        strips.back().spans.back().to = std::max(strip.spans.back().from, *next_segment);
    }
  }

  std::size_t found() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(strips, [&](const Strip& strip) { return touches(strip, question.from, question.to); }));
  }

  void finish(StripAnswer& answer) {
    std::erase_if(strips, [&](const Strip& strip) { return !touches(strip, question.from, question.to); });
    if (strips.size() > question.most) {
      std::ranges::sort(strips, [](const Strip& a, const Strip& b) {
        return std::tie(b.spans[0].from, a.uid) < std::tie(a.spans[0].from, b.uid);
      });
      strips.resize(question.most);
      answer.truncated = true;
    }
    std::ranges::sort(strips, [](const Strip& a, const Strip& b) {
      return std::tie(a.cluster_queue, a.spans[0].from, a.ns, a.name, a.uid) <
             std::tie(b.cluster_queue, b.spans[0].from, b.ns, b.name, b.uid);
    });
    answer.strips = std::move(strips);
  }
};

StripReader::StripReader(std::string directory, StripLimits limits)
    : directory_(std::move(directory)), limits_(limits) {}
StripReader::~StripReader() = default;

StripReader::Segment& StripReader::segment_of(std::uint64_t number) {
  const auto it = std::ranges::find_if(segments_, [&](const auto& segment) { return segment->number >= number; });
  if (it != segments_.end() && (*it)->number == number) return **it;
  return **segments_.insert(it, std::make_unique<Segment>(number, limits_.amounts));
}

Result<std::optional<StripAnswer>> StripReader::ask(const StripQuestion& question) {
  const auto files = list_segments(directory_);
  if (!files) return tl::unexpected(files.error());
  if (files->empty()) return fail(directory_ + " has no segment of a journal (*.journal)");
  // Segments that were deleted.
  std::erase_if(segments_, [&](const auto& segment) {
    return std::ranges::none_of(*files, [&](const SegmentFile& file) { return file.number == segment->number; });
  });
  StripAnswer answer;
  answer.kept_from = files->front().began;
  answer.kept_to = files->back().began;
  Gathering gathering{question, {}, {}};
  std::size_t records = limits_.records, kept = 0;
  std::uint64_t newest_used = 0;
  std::optional<Time> next_segment;  // the begin of the one that was added last
  for (std::size_t i = files->size(); i-- > 0;) {
    const SegmentFile& file = (*files)[i];
    const bool ends_before = i + 1 < files->size() && (*files)[i + 1].began <= question.from;
    if (ends_before) break;
    if (file.began > question.to) continue;
    if (kept >= limits_.most_strips || gathering.found() >= question.most) {
      answer.truncated = true;
      break;
    }
    Segment& segment = segment_of(file.number);
    if (newest_used == 0) newest_used = file.number;
    const bool read = segment.read(file, i + 1 == files->size(), records);
    forget_beyond(file.number, newest_used);
    if (!read) return std::optional<StripAnswer>();
    kept += segment.strips().size();
    gathering.add(segment.strips(), next_segment);
    next_segment = file.began;
    answer.kept_to = std::max(answer.kept_to, segment.last);
    if (!segment.damage.empty() && answer.damaged.size() < kMostDamage) answer.damaged.push_back(segment.damage);
  }
  std::ranges::reverse(answer.damaged);
  gathering.finish(answer);
  return std::optional(std::move(answer));
}

// When too much is kept: keeps only the segments that the present question has used.
void StripReader::forget_beyond(std::uint64_t oldest, std::uint64_t newest) {
  std::size_t strips = 0;
  for (const auto& segment : segments_) strips += segment->strips().size();
  if (strips < limits_.most_strips) return;
  std::erase_if(segments_, [&](const auto& segment) { return segment->number < oldest || segment->number > newest; });
}

void StripReader::rest() {
  for (auto& segment : segments_) {
    if (segment->scan) segment->drop();
  }
}

}  // namespace berth::journal
