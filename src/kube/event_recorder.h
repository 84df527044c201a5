// Records events (events.k8s.io/v1) about objects. Repeated events become one event with a series. Recording never
// blocks. https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
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
  std::string resource_version = {};  // of the object when the event happened; may be empty
  bool operator==(const ObjectRef&) const = default;
};

struct EventRecorderOptions {
  std::string controller = "berth";  // reportingController
  std::string instance = "berth-0";  // reportingInstance
  std::size_t queue_bound = 4096;    // events waiting to be written; the oldest is dropped beyond it
  std::size_t in_flight = 4;         // writes at the same time
  // Rate limit of writes (0 or less: no limit). When `crowd` events or more wait, a new event replaces the newest
  // unwritten one about the same object: the event of an admission also tells that quota was reserved.
  RateLimitOptions rate{100, 200};
  std::size_t crowd = 100;
  // An event that repeats within this time after its last occurrence counts in the series; later it is a new event.
  Duration series_window = std::chrono::minutes(6);
  std::uint64_t seed = 1;  // of the names
};

// What happened. An event is a repetition of another when type, reason, action, controller, object and the object's
// version are equal, as in the Kubernetes recorder of this API. The series keeps the note of the first. Other than
// there, a warning with another note is another event: it says what is wrong now.
struct EventText {
  bool warning = false;
  std::string reason;
  std::string note;        // cut to 1024 bytes
  std::string action;      // empty: the reason
  std::string controller;  // reportingController, e.g. "kueue-admission"
  // Compare the note instead of the object's version, as components that record with the older API (core/v1) do, such
  // as the Job controller and Volcano.
  bool by_note = false;
  bool operator==(const EventText&) const = default;
};

class EventRecorder {
 public:
  EventRecorder(api::RestClient& client, Executor& executor, EventRecorderOptions options);
  ~EventRecorder();

  void record(const ObjectRef& regarding, EventText text);
  std::uint64_t dropped() const;     // events dropped because the queue was full or the server refused them
  std::uint64_t superseded() const;  // events replaced by a newer one about the same object
  // Calls `done` once, when all queued events are sent and answered; until then the rate limit does not apply. Does
  // not wait for events that wait for a retry or for the next count of their series.
  void when_written(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::kube
