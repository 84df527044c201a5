#include "cli/queues/moment_flags.h"

#include <CLI/CLI.hpp>

#include "cli/queues/words.h"

namespace berth::cli::queues {

void add_moment_flags(CLI::App& app, MomentFlags& flags, const std::string& verb) {
  app.add_option("--journal", flags.journal, verb + " from this journal instead of asking a server");
  app.add_option("--at", flags.at, "With --journal: as it was at this time (default: at its end)");
}

Result<Time> moment_of(const MomentFlags& flags) {
  if (flags.at.empty()) return Time::max();
  if (flags.journal.empty()) return fail("--at needs --journal: only a journal knows what was");
  const auto at = parse_time(flags.at);
  if (!at) return wrong_value("--at", flags.at, "expected a time such as 2026-11-22T18:30:00Z");
  return *at;
}

// After its last record a journal knows nothing: the controller may have been down, or busy with other things.
Result<journal::Replayed> replayed_at(const MomentFlags& flags, Time at) {
  auto replayed = journal::replay_until(flags.journal, at);
  if (!replayed) return fail(flags.at.empty() ? replayed.error().message : "--at: " + replayed.error().message);
  if (!flags.at.empty() && replayed->at_end && replayed->at < at)
    return fail("--at: the journal " + flags.journal + " ends at " + format_micro_time(replayed->at) + ", before " +
                format_time(at) + "; without --at its end is meant");
  return replayed;
}

std::string namespace_then(const CommonFlags& flags) { return flags.ns.empty() ? "default" : flags.ns; }

std::string did_not_exist(const std::string& what, const MomentFlags& flags, const journal::Replayed& replayed) {
  const std::string last = format_time(replayed.at);
  if (flags.at.empty() || flags.at == last) return what + " did not exist at " + last;
  return what + " did not exist at " + flags.at + " (the last record before: " + last + ")";
}

}  // namespace berth::cli::queues
