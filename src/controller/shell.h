// What every part of the controller works with: the API server, the engine, and whether this process leads.
#pragma once

#include <cstdint>

#include "api/rest.h"
#include "base/executor.h"
#include "controller/controller.h"
#include "controller/engine_host.h"
#include "controller/unreadable.h"
#include "controller/writes.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"
#include "kube/rate_limit.h"

namespace berth::controller {

class Shell {
 public:
  // `client`, `executor` and `receiver` must outlive it. `receiver` gets the engine's effects that are not writes of
  // workloads.
  Shell(api::RestClient& client, Executor& executor, ControllerOptions options, EffectReceiver& receiver);

  // Different for each cache: they do not retry together.
  kube::InformerOptions informer_options(bool keep_objects = true);

  void feed(const engine::Event& event) { host.feed(event); }
  const engine::Engine& engine() const { return host.engine(); }

  void lead();  // decisions begin; call once, when every cache is complete
  bool leading() const { return leading_; }

  api::RestClient& client;
  Executor& executor;
  const ControllerOptions options;
  Writes writes;
  kube::EventRecorder events;
  UnreadableObjects unreadable;
  EngineHost host;
  kube::RateLimit queue_status_rate;  // for the statuses of all queues together

 private:
  bool leading_ = false;
  std::uint64_t informers_ = 0;
};

}  // namespace berth::controller
