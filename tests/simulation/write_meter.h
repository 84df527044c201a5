// Counts what a controller writes, object by object: who writes one object again and again is in a hot loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::simulation {

class WriteMeter final : public api::RestClient {
 public:
  struct Write {
    Time when;
    std::string what;  // "PATCH workloads/status a/job-j1"
    std::string body;  // what was sent
  };

  // Both must outlive it. `complain` is told of an object that is written more often than `most_per_minute`,
  // once per object and minute, and of a change that does not name the version it was decided on: it could
  // undo what somebody else wrote meanwhile.
  WriteMeter(api::RestClient& inner, Executor& executor, std::uint64_t most_per_minute,
             std::function<void(const std::string&)> complain);

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;

  std::uint64_t writes() const { return writes_; }
  // Of these, what changed anything. Events and reasons of waiting workloads are left out: they only inform.
  std::uint64_t changes() const { return changes_; }
  std::uint64_t most_in_a_minute() const { return most_seen_; }
  // The last writes, oldest first.
  const std::deque<Write>& last() const { return last_; }

 private:
  struct Pace {
    Time since{};
    std::uint64_t writes = 0;
  };
  bool count(const api::RestRequest& request);  // whether it is a write that does more than inform

  api::RestClient& inner_;
  Executor& executor_;
  std::uint64_t most_per_minute_;
  std::function<void(const std::string&)> complain_;
  std::map<std::string, Pace> paces_;  // of objects that were written in this run
  std::deque<Write> last_;
  std::uint64_t writes_ = 0, changes_ = 0, most_seen_ = 0;
};

}  // namespace berth::simulation
