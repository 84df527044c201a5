#include "cli/journal_flags.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "journal/file_sink.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kLeastSize = 1 << 20;
constexpr Duration kLeastAge = std::chrono::hours(1);
// Old records are deleted by segment, so a journal has several. Each begins with a checkpoint, so it has not many.
constexpr std::int64_t kSegments = 8;
constexpr std::int64_t kLargestSegment = 64 << 20;

}  // namespace

void add_journal_flags(CLI::App& app, JournalFlags& flags) {
  app.add_option("--journal-max-size", flags.max_size, "How much disk the journal may take; its oldest part is deleted")
      ->capture_default_str();
  app.add_option("--journal-max-age", flags.max_age, "How long the journal is kept")->capture_default_str();
}

Result<std::unique_ptr<journal::Journal>> open_journal(const JournalFlags& flags, Executor& executor) {
  if (flags.directory.empty()) return nullptr;
  const auto size = Quantity::parse(flags.max_size);
  if (!size || size->value() < kLeastSize)
    return fail("--journal-max-size: \"" + flags.max_size +
                "\" is no quantity of bytes of at least 1Mi, such as 256Mi");
  const auto age = parse_duration(flags.max_age);
  if (!age || *age < kLeastAge)
    return fail("--journal-max-age: \"" + flags.max_age + "\" is no duration of at least 1h, such as 168h");
  journal::FileLimits files;
  files.max_size = static_cast<std::uint64_t>(size->value());
  files.max_age = *age;
  journal::JournalLimits limits;
  limits.segment_size = static_cast<std::uint64_t>(std::min(size->value() / kSegments, kLargestSegment));
  limits.segment_age = *age / kSegments;
  return std::make_unique<journal::Journal>(executor, std::make_unique<journal::FileSink>(flags.directory, files),
                                            BERTH_VERSION, limits);
}

JournalGauges::JournalGauges(Metrics& metrics)
    : recording_(metrics.gauge("berth_journal_recording",
                               "1 when the journal records; 0 when it is off or stopped after an error.")),
      bytes_(metrics.gauge("berth_journal_bytes", "The size of all segments of the journal.")),
      segments_(metrics.gauge("berth_journal_segments_begun", "Segments of the journal that this process began.")) {}

void JournalGauges::set(const journal::Journal* journal) {
  const auto state = journal == nullptr ? journal::Journal::State() : journal->state();
  recording_.set({}, state.recording ? 1 : 0);
  bytes_.set({}, static_cast<double>(state.bytes));
  segments_.set({}, static_cast<double>(state.segments));
}

}  // namespace berth::cli
