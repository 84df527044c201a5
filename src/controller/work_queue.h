// Keys to be looked at: each once at a time, again when it changed meanwhile, later when it failed, and
// slower when it keeps changing: a cache that lags behind must not make two writers chase each other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "kube/rate_limit.h"

namespace berth::controller {

class WorkQueue {
 public:
  // `work` calls `finish(ok)` exactly once, possibly later.
  using Finish = std::function<void(bool ok)>;
  using Work = std::function<void(const std::string& key, Finish finish)>;
  // `delay`: how long changes of one key are collected before it is looked at. `rate`: what several queues share; who is due
  // waits for its turn in the order of being due, and changes are collected meanwhile. Null: no limit. Must outlive the queue.
  WorkQueue(Executor& executor, Work work, Duration delay = Duration(0), kube::RateLimit* rate = nullptr);
  ~WorkQueue();

  void add(const std::string& key);
  // The same, when there is nothing to collect any more: looked at soon, unless it keeps changing.
  void add_at_once(const std::string& key);

 private:
  struct Entry {
    bool running = false;
    bool again = false;
    bool at_once = false;  // the timer was set without a delay
    bool has_turn = false;  // the timer waits for the rate
    TimerId timer = 0;
    int failures = 0;
  };
  // How often a key was looked at lately.
  struct Pace {
    Time since{};
    int runs = 0;
  };
  void add(const std::string& key, Duration delay);
  // Of the key's next run: `delay`, more when it keeps changing.
  Duration delay_of(const std::string& key, Duration delay);
  void run(const std::string& key);
  void finished(const std::string& key, bool ok);

  Executor& executor_;
  Work work_;
  Duration delay_;
  kube::RateLimit* rate_;
  std::map<std::string, Entry> entries_;  // only keys with something under way
  std::map<std::string, Pace> pace_;      // only keys of the last seconds
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::controller
