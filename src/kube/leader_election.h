// One leader among several: a Lease that its holder renews and that others take over when it stops to.
// https://kubernetes.io/docs/concepts/architecture/leases/
//
// Clocks are not compared: how old a renewal is counts from when this process saw it. A leader that cannot renew stops leading
// before anybody else may start: renew_deadline is shorter than lease_duration.
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
    std::function<void()> stopped;  // does not any more: the lease could not be renewed or somebody else has it
  };
  // Both must outlive the elector. The options must be valid.
  LeaderElector(api::RestClient& client, Executor& executor, LeaderElectionOptions options, Handler handler);
  ~LeaderElector();

  void start();
  bool leading() const;
  std::string holder() const;  // who held the lease when it was last seen; "" nobody
  // Stops, and gives the lease back when it is held, so that another may lead at once. `done` is called in any case.
  void release(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which find it over
};

}  // namespace berth::kube
