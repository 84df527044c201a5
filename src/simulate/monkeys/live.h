// Monkeys on an API server somewhere else, over the network, until they are told to stop. Then they put right what they did.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "kube/client.h"
#include "simulate/monkeys/troop.h"

namespace berth::simulate {

struct LiveMonkeysOptions {
  std::uint64_t seed = 1;
  Duration between_deeds = std::chrono::milliseconds(100);
  std::optional<Duration> length;  // none: until stop()
  std::string controller_namespace = "kueue-system";  // spared: the controllers' lease and certificates are there
};

// Chooses kinds and deeds as the simulation does; what comes of them depends on the server. `done` is called once: after
// everything is right again, or with what is not within five minutes, or with why the play could not begin.
class LiveMonkeys {
 public:
  // `client` and `executor` must outlive it. Destroying it forgets what is under way.
  LiveMonkeys(kube::Client& client, Executor& executor, LiveMonkeysOptions options,
              std::function<void(Result<void>)> done);
  ~LiveMonkeys();

  // Reads what the server serves, remembers what the cluster is made of, and plays.
  void start();
  // Ends the play and puts things right.
  void stop();

  MonkeyLog log() const;
  // What the last look at the server found different from the state before the monkeys: a count and the first few. "" before that, and
  // when everything is restored.
  std::string still_wrong() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::simulate
