// Counts a controller's writes by object, to find hot loops: writes of the same object again and again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::simulation {

class WriteMeter final : public api::RestClient {
 public:
  struct Write {
    Time when;
    std::string what;  // "PATCH workloads/status a/job-j1"
    std::string body;  // of the request
  };

  // `inner` and `executor` must outlive the meter. `complain` is called
  //  - when an object gets more than `most_per_minute` writes with the same verb and subresource, once a minute;
  //  - for each update or patch without metadata.resourceVersion, except of Events: it could undo a change that
  //    another client made in the meantime.
  WriteMeter(api::RestClient& inner, Executor& executor, std::uint64_t most_per_minute,
             std::function<void(const std::string&)> complain);

  // Called for each write before it is passed on.
  void on_write(std::function<void(const api::RestRequest&)> handler) { written_ = std::move(handler); }

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;

  std::uint64_t writes() const { return writes_; }
  // The accepted writes that changed an object, by its resourceVersion. A deletion that the server answers with a
  // Status does not count. Events and statuses that only say why a workload waits are left out: they only inform.
  std::uint64_t changes() const { return changes_; }
  std::uint64_t most_in_a_minute() const { return most_seen_; }
  // The last 20 writes, oldest first.
  const std::deque<Write>& last() const { return last_; }

 private:
  struct Pace {
    Time since{};
    std::uint64_t writes = 0;
  };
  bool count(const api::RestRequest& request);  // returns whether it is a write that may count in changes()

  api::RestClient& inner_;
  Executor& executor_;
  std::uint64_t most_per_minute_;
  std::function<void(const std::string&)> complain_;
  std::function<void(const api::RestRequest&)> written_;
  std::map<std::string, Pace> paces_;  // by Write::what
  std::deque<Write> last_;
  std::uint64_t writes_ = 0, changes_ = 0, most_seen_ = 0;
};

}  // namespace berth::simulation
