// The flags with which a question is about a moment that a journal holds; no server is asked then.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/queues/flags.h"
#include "journal/replay.h"

namespace berth::cli::queues {

struct MomentFlags {
  std::string journal;  // --journal; empty: a server is asked
  std::string at;       // --at; empty: the end of the journal
};
// `verb`: what the command does, "Explain".
void add_moment_flags(CLI::App& app, MomentFlags& flags, const std::string& verb);

// Time::max() for the end of the journal. Error: the flags are used wrongly.
Result<Time> moment_of(const MomentFlags& flags);

// The engine as it was then. Error: the journal does not hold the moment, or cannot be read.
Result<journal::Replayed> replayed_at(const MomentFlags& flags, Time at);

// The namespace of --namespace; there is no context that has one.
std::string namespace_then(const CommonFlags& flags);

// "workload team/train did not exist at ..."
std::string did_not_exist(const std::string& what, const MomentFlags& flags, const journal::Replayed& replayed);

}  // namespace berth::cli::queues
