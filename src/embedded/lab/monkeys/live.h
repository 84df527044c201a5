// Monkeys on a remote API server, over the network, until they are stopped. Then they restore the cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "embedded/lab/monkeys/group.h"
#include "kube/client.h"

namespace berth::lab {

struct LiveMonkeysOptions {
  std::uint64_t seed = 1;
  Duration between_actions = std::chrono::milliseconds(100);
  std::optional<Duration> length;  // none: play until stop()
  // the monkeys leave it alone: the controllers' lease and certificates are there
  std::string controller_namespace = "kueue-system";
};

// Chooses kinds and actions as the simulation does; the results depend on the server. Calls `done` once: without
// error when the cluster is restored, with an error that names what is still wrong after five minutes, or with the
// reason why the play could not begin.
class LiveMonkeys {
 public:
  // `client` and `executor` must outlive it. The destructor drops everything under way.
  LiveMonkeys(kube::Client& client, Executor& executor, LiveMonkeysOptions options,
              std::function<void(Result<void>)> done);
  ~LiveMonkeys();

  // Reads what the server serves, remembers the cluster's objects, and plays.
  void start();
  // Stops playing and restores the cluster.
  void stop();

  MonkeyLog log() const;
  // The differences from the state before the monkeys, as of the last restore round: their count and the first few.
  // "" before the first round, and when everything is restored.
  std::string still_wrong() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::lab
