// Leader election: the leader holds a Lease and renews it; another candidate takes over a Lease that is not renewed.
// https://kubernetes.io/docs/concepts/architecture/leases/
//
// Clocks of different processes are not compared: the age of a renewal counts from when this process saw it. A leader
// that cannot renew stops leading before another may start: renew_deadline is shorter than lease_duration. A
// candidate also watches the Lease, so that it sees a renewal when it happens and takes a released Lease at once;
// without the right to watch it reads the Lease every retry_period.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"

namespace berth::kube {

struct LeaderElectionOptions {
  std::string ns = "kueue-system";
  std::string name = "c1f6bfd2.kueue.x-k8s.io";  // the Lease of Kueue: Berth and Kueue never lead at the same time
  std::string identity;                          // unique among the candidates; must not be empty
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::uint64_t seed = 1;  // of the jitter
};
// Requires lease_duration > renew_deadline > 1.2 x retry_period > 0 and an identity. The error names the wrong
// option.
Result<void> validate(const LeaderElectionOptions& options);

class LeaderElector {
 public:
  struct Handler {
    std::function<void()> started;  // this process leads from now on
    // This process does not lead any more: it could not renew the Lease, or another holds it; `why` says which.
    std::function<void(const std::string& why)> stopped;
  };
  // Both must outlive the elector. The options must be valid.
  LeaderElector(api::RestClient& client, Executor& executor, LeaderElectionOptions options, Handler handler);
  ~LeaderElector();

  void start();
  bool leading() const;
  // Until when this process leads even if no further renewal succeeds: last renewal + renew_deadline. Time::min()
  // when it does not lead, or when the clock was set back. A write that only the leader may do must not be sent
  // later: a process that was suspended notices it by its clock.
  Time leads_until() const;
  std::string holder() const;  // the holder of the Lease when it was last read; "" none
  // Stops, and releases the Lease when this process holds it, so that another may lead at once. Waits for the answer to
  // a write of the Lease that is under way. Always calls `done`.
  void release(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::kube
