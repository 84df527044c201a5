// Tells where kubectl looks when a waiting workload is expected to start: by events about it. With restraint: only of
// those that stand near the head of their queues, only when the answer changed by much, and few in all.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "controller/shell.h"
#include "engine/explain/forecasts.h"

namespace berth::controller {

class StartNotices {
 public:
  static constexpr std::size_t kOfQueue = 20;                       // of each cluster queue: the first ones
  static constexpr Duration kEvery = std::chrono::seconds(10);      // between two looks
  static constexpr std::size_t kAtOnce = 5;                         // events of one look
  static constexpr std::size_t kLooksAtOnce = 100;                  // workloads of one look
  static constexpr Duration kFirst = std::chrono::minutes(1);       // a workload that waits for less has no event
  static constexpr Duration kAgain = std::chrono::minutes(10);      // between two events about one workload
  static constexpr Duration kForgotten = std::chrono::minutes(50);  // servers keep events for about an hour

  explicit StartNotices(Shell& shell) : shell_(shell) {}
  ~StartNotices();

  void start();  // this process leads, and the Configuration wants notices

 private:
  struct Reported {
    std::string uid;
    Time at{};
    engine::Prediction what;
  };
  void look();
  void look_at(const std::string& ns, const std::string& name);
  void collect();

  Shell& shell_;
  std::vector<std::pair<std::string, std::string>> round_;  // namespace and name, those that are not looked at yet
  std::map<std::string, Reported> reported_;                // by key
  std::size_t left_ = 0;                                    // events of this look
  TimerId timer_ = 0;
  Lifetime lifetime_;
};

// Whether the answer differs by much from the one before: another kind of answer, or a start that moved by a quarter of
// the time that was left, and by five minutes at least.
bool differs_much(const engine::Prediction& before, const engine::Prediction& now);
// The note of the event; empty: there is nothing to say.
std::string note_of(const engine::Prediction& prediction);

}  // namespace berth::controller
