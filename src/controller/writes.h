// Every write of the controller goes through here: counted, with the object's identity and version as
// preconditions.
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

namespace berth::controller {

// What a write needs to know of the object it changes.
struct Target {
  api::GroupVersionResource resource;
  std::string ns, name, uid, resource_version;
  static Target of(const api::GroupVersionResource& resource, const Json& object);
  static Target of(const api::GroupVersionResource& resource, const api::ObjectMeta& meta);
};

// The namespace is being deleted and takes no new objects: no later try can succeed.
bool refused_by_terminating_namespace(const api::RestResponse& response);

class Writes {
 public:
  using Done = std::function<void(const api::RestResponse&)>;
  Writes(api::RestClient& client, Executor& executor) : client_(client), executor_(executor) {}
  ~Writes() { *alive_ = false; }

  // Until when this process may write, as far as it knows: asked before each request, and again by the client before it goes out.
  // What comes too late is answered with code 0. Empty: for ever.
  void allow_until(std::function<Time()> until) { until_ = std::move(until); }
  // Nothing more is sent, nor answered. `done` is called when all that was sent has its answer.
  void close(std::function<void()> done);

  // A merge patch that only applies to the very object and version that was seen: a 409 Conflict otherwise.
  void patch(const Target& target, std::string_view subresource, Json body, Done done);
  // The whole status instead, under the same conditions: for a server, an update costs less than a patch. Of the answer only the
  // metadata is there.
  void update_status(const Target& target, std::string_view kind, Json status, Done done);
  void create(const api::GroupVersionResource& resource, std::string_view ns, Json object, Done done);
  void remove(const Target& target, Done done);
  // Not a write: what is there now, when a conflict says that it is not what was seen.
  void get(const Target& target, Done done);

  // "patch workloads/status" -> how many requests were sent. Ordered, for metrics and tests.
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  void send(api::RestRequest request, std::string_view verb, Done done);

  void answered();
  void refused(const std::string& what, const api::RestResponse& response);

  api::RestClient& client_;
  Executor& executor_;
  std::function<Time()> until_;
  std::size_t in_flight_ = 0;
  bool closed_ = false;
  std::function<void()> when_quiet_;
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> told_refusals_;  // kinds of requests whose 403 was logged
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::controller
