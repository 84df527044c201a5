// The embedded API server without its network layer: requests in, responses out, on one thread. In-process clients
// use it as an api::RestClient; embedded/apiserver/http serves it over HTTPS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/apiserver/registry.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

struct ApiServerOptions {
  std::uint64_t seed = 0;        // seeds uids and generated names; 0: a random seed from the operating system
  std::size_t history = 10'000;  // changes kept for watches; requests for older ones get 410 Expired
  // Adds admission to kinds when they are registered (see kueue_webhooks.h). Empty: none.
  std::function<ResourcePtr(ResourcePtr)> admission = {};
  // Called for every object that exists at startup (as created), and for each change when it takes effect, before the
  // next request is handled: so an admission cache built from it is never stale. A key is
  // "<group>/<resource>/<namespace>/<name>".
  std::function<void(const Change&)> on_write = {};
  std::size_t watch_buffer = 1'000;  // events that a slow watcher may lag behind before its stream is ended
  // Runs the garbage collector, the namespace controller and the expiry of events. False: another controller must do
  // this, as with a bare kube-apiserver.
  bool controllers = true;
};

class ApiServer final : public api::RestClient {
 public:
  // Loads the objects in the log and registers the built-in kinds and the stored CRDs. Errors name the log and its
  // problem.
  static Result<std::unique_ptr<ApiServer>> open(Executor& executor, std::unique_ptr<Log> log,
                                                 ApiServerOptions options = {});
  ~ApiServer() override;

  // Responses are delivered on the executor once what they show is durable.
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;

  const Registry& registry() const;
  const Lookup& objects() const;  // the stored objects, latest state
  Revision revision() const;
  Time now() const;

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::apiserver
