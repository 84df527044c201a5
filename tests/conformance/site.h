// Where recordings of Kueue are played: an API server, the production controller and the Job controller.
// Nodes and pods are what the recorder made of them; Kueue's webhooks are off, as they were.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::conformance {

class Site {
 public:
  virtual ~Site() = default;
  virtual api::RestResponse call(api::RestRequest request) = 0;
  // `api_version` may be empty. Fails when nothing of that kind is served.
  virtual Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind,
                                               std::string_view ns, std::string_view name) const = 0;
  virtual Time now() const = 0;
  virtual bool real_time() const = 0;
  // Of a real API server (see differences.h); none of the embedded one.
  virtual std::set<std::string> traits() { return {}; }
  // Until whole seconds, which creation times have, tell what was done before from what is done next.
  virtual void after_action() = 0;
  // Until `settled` holds; where time is virtual: until all that would happen has happened, whatever it says.
  virtual void until(const std::function<bool()>& settled) = 0;

  Result<Json> create(Json object);
  Result<Json> get(std::string_view api_version, std::string_view kind, std::string_view ns,
                   std::string_view name);
};

std::unique_ptr<Site> embedded_site();  // one thread, virtual time
std::unique_ptr<Site> real_site();      // a real API server, real time

}  // namespace berth::conformance
