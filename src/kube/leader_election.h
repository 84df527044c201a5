// One leader among several: a Lease that its holder renews and that others take over when it stops to.
// https://kubernetes.io/docs/concepts/architecture/leases/
//
// Clocks are not compared: how old a renewal is counts from when this process saw it. A leader that cannot renew stops leading
// before anybody else may start: renew_deadline is shorter than lease_duration. Who waits also watches the lease, so that a renewal is
// seen when it happens and a lease that was given back is taken at once; without the right to watch it asks every retry_period.
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
  std::string name = "c1f6bfd2.kueue.x-k8s.io";  // Kueue's own: the two never lead at once
  std::string identity;                          // unique among the candidates; must not be empty
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::uint64_t seed = 1;  // of the jitter
};
// Names the option that is wrong: lease_duration > renew_deadline > 1.2 x retry_period > 0.
Result<void> validate(const LeaderElectionOptions& options);

class LeaderElector {
 public:
  struct Handler {
    std::function<void()> started;  // leads from now on
    // Does not any more: the lease could not be renewed or somebody else has it; `why` says which.
    std::function<void(const std::string& why)> stopped;
  };
  // Both must outlive the elector. The options must be valid.
  LeaderElector(api::RestClient& client, Executor& executor, LeaderElectionOptions options, Handler handler);
  ~LeaderElector();

  void start();
  bool leading() const;
  // Until when this one leads as far as is known, even if nothing is heard any more; a moment long ago when it does not lead, or when the clock was
  // set back. What only the leader may write must not go out later: a process that stood still finds out by its clock.
  Time leads_until() const;
  std::string holder() const;  // who held the lease when it was last seen; "" nobody
  // Stops, and gives the lease back when it is held, so that another may lead at once. `done` is called in any case.
  void release(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which find it over
};

}  // namespace berth::kube
