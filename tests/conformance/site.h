// Where recordings of Kueue are played: an API server, the production controller and the Job controller. There is no
// kubelet and no binder: the recording sets nodes and the state of pods.
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

// The options in the head of a recording.
struct SiteOptions {
  Json configuration;          // the controller's Configuration file; null: the defaults
  Json gates;                  // feature gates with their values; null: none
  std::string external_kinds;  // of other projects: what is served (see embedded/apiserver/crd/external_kinds.h)
  bool webhooks = false;       // webhooks of Kueue's kinds and of Jobs are called
  bool job_controller = true;
  bool apps_controllers = false;  // of Deployments, ReplicaSets and StatefulSets
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
  // The same, but without webhooks.
  virtual api::RestResponse call_past_webhooks(api::RestRequest request) = 0;
  // Sends a request for `path` as an administrator or, if it is not empty, as the user `as`.
  virtual HttpAnswer ask(const std::string& method, const std::string& path, const std::string& as) = 0;
  // `api_version` may be empty. Fails when no served resource has the kind.
  virtual Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind, std::string_view ns,
                                               std::string_view name) const = 0;
  virtual Time now() const = 0;
  virtual bool real_time() const = 0;
  // The traits of a real API server (see differences.h); none for the embedded server.
  virtual std::set<std::string> traits() { return {}; }
  // Waits until creation times (whole seconds) of earlier and later actions differ.
  virtual void after_action() = 0;
  virtual void wait(Duration time) = 0;
  // Waits until `settled` returns true, or the time has passed.
  virtual void until(const std::function<bool()>& settled) = 0;

  Result<Json> create(Json object);
  Result<Json> get(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name);
};

// Both throw std::runtime_error when the configuration or the gates are not valid, or when something does not start.
std::unique_ptr<Site> embedded_site(const SiteOptions& options);  // one thread, virtual time
std::unique_ptr<Site> real_site(const SiteOptions& options);      // a real API server, real time

}  // namespace berth::conformance
