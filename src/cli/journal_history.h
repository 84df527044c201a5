// The history of workloads for the web console, read from a journal.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/lifetime.h"
#include "console/history.h"
#include "journal/strips.h"

namespace berth::cli {

inline constexpr std::size_t kMaxHistoryQuestions = 50;  // that wait; more are refused

// Answers one question after the other, in small steps, so that the executor does other work between them.
class JournalHistory {
 public:
  JournalHistory(Executor& executor, const std::string& directory) : executor_(executor), reader_(directory) {}
  // The error says why the journal cannot be read.
  void ask(console::HistoryQuestion question, std::function<void(Result<Json>)> done);

 private:
  struct Waiting {
    journal::StripQuestion question;
    std::function<void(Result<Json>)> done;
  };
  void step();
  void step_soon();
  void rest_later();

  Executor& executor_;
  journal::StripReader reader_;
  std::deque<Waiting> waiting_;
  Time asked_{};
  bool rests_ = true;
  Lifetime lifetime_;
};

}  // namespace berth::cli
