// All writes of the controller go through here and are counted. Patches and status updates have the object's uid and
// resourceVersion as preconditions, deletions its uid. When many wait to be sent, they take turns: a thousand evictions
// in one queue do not delay starts in another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/meta.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "controller/turns.h"

namespace berth::controller {

// Identifies the object to write and the version that the write is based on.
struct Target {
  api::GroupVersionResource resource;
  std::string ns, name, uid, resource_version;
  // The line in which the write waits for its turn: writes of one line are sent in order, and lines take turns. Empty:
  // the line of the namespace and the kind of request.
  std::string line{};
  static Target of(const api::GroupVersionResource& resource, const Json& object);
  static Target of(const api::GroupVersionResource& resource, const api::ObjectMeta& meta);
};

class Writes {
 public:
  using Done = std::function<void(const api::RestResponse&)>;
  Writes(api::RestClient& client, Executor& executor) : client_(client), executor_(executor) {}

  // `until` returns the time until which this process may write, as far as it knows. It is checked before each
  // request, and again by the client before a write is sent. A request that comes too late is answered with code 0.
  // Empty: no limit.
  void allow_until(std::function<Time()> until) { until_ = std::move(until); }
  const std::function<Time()>& limit() const { return until_; }
  // From now on nothing is sent; those that wait to be sent and later requests get no answer. `done` is called when all
  // requests that were sent have their answer.
  void close(std::function<void()> done);

  // Answers to writes contain only the metadata, those about pods the whole pod.

  // Requests that were not sent yet.
  std::size_t waiting() const { return turns_.size(); }

  // A merge patch with uid and resourceVersion as preconditions: 409 Conflict when the object has changed.
  void patch(const Target& target, std::string_view subresource, Json body, Done done);
  // Replaces the whole status, under the same preconditions: an update costs the server less than a patch.
  void update_status(const Target& target, std::string_view kind, Json status, Done done);
  // `line` as in Target.
  void create(const api::GroupVersionResource& resource, std::string_view ns, Json object, Done done,
              const std::string& line = {});
  // Deletes the object if it has this uid, whatever its version. Dependents are deleted in the background.
  void remove(const Target& target, Done done);
  // The same, if it still has the version of the target: 409 Conflict when it has changed.
  void remove_version(const Target& target, Done done);
  // As remove() for a pod, by force: without waiting for its kubelet.
  void remove_at_once(const Target& target, Done done);
  // A read: the present object, for example after a conflict.
  void get(const Target& target, Done done);

  // "patch workloads/status" -> number of requests sent. Ordered, for metrics and tests.
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  static api::RestRequest removal(const Target& target);
  struct Waiting {
    api::RestRequest request;
    std::string what;  // as in counts()
    Done done;
  };
  // The most requests that have no answer yet. The rest waits here, where it takes turns, and not in the client.
  static constexpr std::size_t kInFlight = 32;
  void send(api::RestRequest request, std::string_view verb, const std::string& line, Done done);
  void send_waiting();
  void send_now(Waiting one);

  void answered();
  void refused(const std::string& what, const api::RestResponse& response);

  api::RestClient& client_;
  Executor& executor_;
  std::function<Time()> until_;
  Turns<Waiting> turns_;
  std::size_t in_flight_ = 0;
  bool closed_ = false;
  std::function<void()> when_quiet_;
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> reported_refusals_;  // kinds of requests whose 403 was logged
  Lifetime lifetime_;
};

}  // namespace berth::controller
