// Records events (events.k8s.io/v1) about objects. Repeated events become one with a series; recording never
// waits. https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "kube/rate_limit.h"

namespace berth::kube {

struct ObjectRef {
  std::string api_version, kind, ns, name, uid;
  std::string resource_version = {};  // of what was seen when it happened; may be empty
  bool operator==(const ObjectRef&) const = default;
};

struct EventRecorderOptions {
  std::string controller = "berth";  // reportingController
  std::string instance = "berth-0";  // reportingInstance
  std::size_t queue_bound = 4096;    // events waiting to be written; the oldest is dropped beyond it
  std::size_t in_flight = 4;
  // Events only inform: no more than these are written (0 or less: no limit), and when more than `crowd` wait, then of those about
  // one object only the newest: an admission says that quota was reserved.
  RateLimitOptions rate{100, 200};
  std::size_t crowd = 100;
  // An event that happens again within this time of its last occurrence is counted in its series; later it is
  // a new event.
  Duration series_window = std::chrono::minutes(6);
  std::uint64_t seed = 1;  // of the names
};

// What happened. Two events are the same one, happening again, when type, reason, action, controller and the
// object with its version are equal, as in the Kubernetes recorder of this API: the series keeps the note of
// the first.
struct EventText {
  bool warning = false;
  std::string reason;
  std::string note;        // cut to 1024 bytes
  std::string action;      // empty: the reason
  std::string controller;  // reportingController, e.g. "kueue-admission"
  // Events with other notes are other events, and versions of the object count for nothing: so do the
  // components that record with the older API (core/v1), such as the Job controller and Volcano.
  bool by_note = false;
  bool operator==(const EventText&) const = default;
};

class EventRecorder {
 public:
  EventRecorder(api::RestClient& client, Executor& executor, EventRecorderOptions options);
  ~EventRecorder();

  void record(const ObjectRef& regarding, EventText text);
  std::uint64_t dropped() const;     // that waited too long, or that the server refused
  std::uint64_t superseded() const;  // that a newer one about the same object has replaced
  // `done` is called once, when what was recorded has been sent and answered, without regard to the rate; what waits for another try
  // or for its next count is not waited for.
  void when_written(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks under way, which find it gone
};

}  // namespace berth::kube
