// Every write of the controller goes through here: counted, with the object's identity and version as
// preconditions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "api/meta.h"
#include "api/rest.h"
#include "base/json.h"

namespace berth::controller {

// What a write needs to know of the object it changes.
struct Target {
  api::GroupVersionResource resource;
  std::string ns, name, uid, resource_version;
  static Target of(const api::GroupVersionResource& resource, const Json& object);
  static Target of(const api::GroupVersionResource& resource, const api::ObjectMeta& meta);
};

class Writes {
 public:
  using Done = std::function<void(const api::RestResponse&)>;
  explicit Writes(api::RestClient& client) : client_(client) {}

  // A merge patch that only applies to the very object and version that was seen: a 409 Conflict otherwise.
  void patch(const Target& target, std::string_view subresource, Json body, Done done);
  void create(const api::GroupVersionResource& resource, std::string_view ns, Json object, Done done);
  void remove(const Target& target, Done done);
  // Not a write: what is there now, when a conflict says that it is not what was seen.
  void get(const Target& target, Done done);

  // "patch workloads/status" -> how many requests were sent. Ordered, for metrics and tests.
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  void send(api::RestRequest request, std::string_view verb, Done done);

  api::RestClient& client_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace berth::controller
