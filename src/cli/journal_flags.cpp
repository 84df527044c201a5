#include "cli/journal_flags.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "cli/shared_flags.h"
#include "cli/version.h"
#include "journal/file_sink.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kLeastSize = 1 << 20;
constexpr Duration kLeastAge = std::chrono::hours(1);
// Old records are deleted by segment, so a journal has several. Each begins with a checkpoint, so it has not many.
constexpr std::int64_t kSegments = 8;
constexpr std::int64_t kLargestSegment = 64 << 20;

Result<std::int64_t> size_of(const std::string& text) {
  const auto size = Quantity::parse(text);
  if (size && size->value() >= kLeastSize) return size->value();
  return fail("\"" + text + "\" is no quantity of bytes of at least 1Mi, such as 256Mi");
}

Result<Duration> age_of(const std::string& text) {
  const auto age = parse_duration(text);
  if (age && *age >= kLeastAge) return *age;
  return fail("\"" + text + "\" is no duration of at least 1h, such as 168h");
}

}  // namespace

void add_journal_flags(CLI::App& app, JournalFlags& flags, CLI::Option* directory) {
  auto* size = app.add_option("--journal-max-size", flags.max_size,
                              "How much disk the journal may take; its oldest part is deleted")
                   ->check(parses_with(size_of))
                   ->capture_default_str();
  auto* age = app.add_option("--journal-max-age", flags.max_age, "How long the journal is kept")
                  ->check(parses_with(age_of))
                  ->capture_default_str();
  if (directory == nullptr) return;
  size->needs(directory);
  age->needs(directory);
}

Result<std::unique_ptr<journal::Journal>> open_journal(const JournalFlags& flags, Executor& executor) {
  if (flags.directory.empty()) return nullptr;
  const auto size = size_of(flags.max_size);
  if (!size) return fail("--journal-max-size: " + size.error().message);
  const auto age = age_of(flags.max_age);
  if (!age) return fail("--journal-max-age: " + age.error().message);
  journal::FileLimits files;
  files.max_size = static_cast<std::uint64_t>(*size);
  files.max_age = *age;
  journal::JournalLimits limits;
  limits.segment_size = static_cast<std::uint64_t>(std::min(*size / kSegments, kLargestSegment));
  limits.segment_age = *age / kSegments;
  return std::make_unique<journal::Journal>(executor, std::make_unique<journal::FileSink>(flags.directory, files),
                                            this_build().version, limits);
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
