// The flags of the journal, for berth up and berth controller.
#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "journal/journal.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace berth::cli {

struct JournalFlags {
  std::string directory;           // empty: no journal
  std::string max_size = "256Mi";  // of all segments: a quantity of bytes, at least 1Mi
  std::string max_age = "168h";    // a duration, at least 1h
};
// `directory`: the option without which these make no sense; null: there is a journal by default.
void add_journal_flags(CLI::App& app, JournalFlags& flags, CLI::Option* directory = nullptr);

// Null without a directory. Error: a flag is wrong. The directory itself is opened later: a disk that fails does not
// keep a controller from its work. `executor` must outlive the journal.
Result<std::unique_ptr<journal::Journal>> open_journal(const JournalFlags& flags, Executor& executor);

// Gauges about a journal.
class JournalGauges {
 public:
  explicit JournalGauges(Metrics& metrics);
  void set(const journal::Journal* journal);  // null: there is none

 private:
  GaugeFamily recording_, bytes_, segments_;
};

}  // namespace berth::cli
