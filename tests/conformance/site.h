// Where recordings of Kueue are played: an API server, the production controller and the Job controller.
// Nodes and pods are what the recorder made of them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::conformance {

// As the head of a recording tells it.
struct SiteOptions {
  Json configuration;      // of the controller, as users write it; null: the defaults
  Json gates;              // feature gates and whether they are on; null: none
  bool webhooks = false;   // those of Kueue's kinds and of Jobs are called
  bool job_controller = true;
  bool garbage_collector = true;
};
SiteOptions options_of(const Json& recording);

struct HttpAnswer {
  int status = 0;
  Json body;
};

class Site {
 public:
  virtual ~Site() = default;
  virtual api::RestResponse call(api::RestRequest request) = 0;
  // The same, but no webhook looks at the request.
  virtual api::RestResponse call_past_webhooks(api::RestRequest request) = 0;
  // A request for `path`, by an administrator or, if not empty, by `as`.
  virtual HttpAnswer ask(const std::string& method, const std::string& path, const std::string& as) = 0;
  // `api_version` may be empty. Fails when nothing of that kind is served.
  virtual Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind,
                                               std::string_view ns, std::string_view name) const = 0;
  virtual Time now() const = 0;
  virtual bool real_time() const = 0;
  // Of a real API server (see differences.h); none of the embedded one.
  virtual std::set<std::string> traits() { return {}; }
  // Until whole seconds, which creation times have, tell what was done before from what is done next.
  virtual void after_action() = 0;
  virtual void wait(Duration time) = 0;
  // Until `settled` holds, or time is up.
  virtual void until(const std::function<bool()>& settled) = 0;

  Result<Json> create(Json object);
  Result<Json> get(std::string_view api_version, std::string_view kind, std::string_view ns,
                   std::string_view name);
};

// Throw std::runtime_error: the controller does not take the configuration or the gates, or something does not start.
std::unique_ptr<Site> embedded_site(const SiteOptions& options);  // one thread, virtual time
std::unique_ptr<Site> real_site(const SiteOptions& options);      // a real API server, real time

}  // namespace berth::conformance
