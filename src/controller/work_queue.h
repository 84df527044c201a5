// A queue of keys to process. A key is processed once at a time: again when it changed meanwhile, later when it
// failed, and more slowly when it keeps changing, so that two writers do not chase each other while a cache is
// behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/lifetime.h"
#include "base/string_map.h"
#include "controller/turns.h"
#include "kube/rate_limit.h"

namespace berth::controller {

// The most jobs of one kind that are looked at at the same time. Requests that wait to be sent take memory, they delay
// decisions, and a server refuses some when there are too many.
inline constexpr std::size_t kLooksInFlight = 128;

class WorkQueue {
 public:
  // `work` calls `finish(ok)` exactly once, possibly later.
  using Finish = std::function<void(bool ok)>;
  using Work = std::function<void(const std::string& key, Finish finish)>;
  // `delay`: how long changes of one key are collected before it is processed. `rate`: a limit that several queues
  // share; keys that are due wait for their turn in the order in which they became due, and changes are collected
  // meanwhile. Null: no limit. `rate` must outlive the queue. `most_running`: how many keys are processed at the same
  // time, at least 1; the others wait, each in the order in which they became due. Those of add_first() go before the
  // rest, which get one turn in eight, so that they do not wait for ever. Keys that wait take turns by their lines:
  // those of their namespaces ("namespace/name"), or of line_by().
  WorkQueue(Executor& executor, Work work, Duration delay = Duration(0), kube::RateLimit* rate = nullptr,
            std::size_t most_running = std::numeric_limits<std::size_t>::max());
  ~WorkQueue();

  void add(const std::string& key);
  // Which line a key waits in. Set it before the first key.
  using Line = std::function<std::string(const std::string& key)>;
  void line_by(Line line) { line_ = std::move(line); }

  // The same without the collecting delay, unless the key keeps changing.
  void add_at_once(const std::string& key);
  // The same as add() for a key that must not wait behind others when too many are due.
  void add_first(const std::string& key);

 private:
  // While too many keys are processed, a key that is due waits until it is called to run.
  enum class Waits : std::uint8_t { kNo, kInLine, kCalled };
  struct Entry {
    bool running = false;
    bool again = false;
    bool at_once = false;   // the timer was set without a delay
    bool has_turn = false;  // the rate limit gave it a turn; the timer waits for it
    bool first = false;     // it waits before the others
    Waits waits = Waits::kNo;
    TimerId timer = 0;
    int failures = 0;
  };
  // How many runs of a key were scheduled since `since`.
  struct Pace {
    Time since{};
    int runs = 0;
  };
  void add(const std::string& key, Duration delay);
  // The delay of the key's next run: `delay`, or more when the key keeps changing.
  Duration delay_of(const std::string& key, Duration delay);
  void run(const std::string& key);
  void start(const std::string& key, Entry& entry);
  void wait(const std::string& key, Entry& entry);
  bool in_line(const std::string& key, bool first) const;
  void run_next();
  void finished(const std::string& key, bool ok);

  Executor& executor_;
  Work work_;
  Line line_;
  Duration delay_;
  kube::RateLimit* rate_;
  std::size_t most_running_, running_ = 0;  // with those that are called
  // A key that moved to `first_` is in both for a while. `moved_` counts those; `in_a_row_` counts how many of `first_`
  // were called since the last one of `waiting_`.
  Turns<std::string> first_, waiting_;
  std::size_t moved_ = 0;
  int in_a_row_ = 0;
  StringMap<Entry> entries_;  // only keys that are scheduled or running
  StringMap<Pace> pace_;      // old keys are dropped when there are many
  std::size_t drop_at_ = 0;   // so many keys
  Lifetime lifetime_;
};

}  // namespace berth::controller
