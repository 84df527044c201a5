// The embedded API server without its network: requests in, answers out, one thread. In-process clients use it through
// api::RestClient; apiserver/http puts it on HTTPS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "apiserver/registry.h"
#include "apiserver/storage/store.h"
#include "base/executor.h"

namespace berth::apiserver {

struct ApiServerOptions {
  std::uint64_t seed = 0;  // of uids and generated names; 0: from the operating system
  std::size_t history = 10'000;            // changes kept for watches; older ones answer 410 Expired
  // Joins admission to kinds as they are served (see kueue_webhooks.h). Empty: none.
  std::function<ResourcePtr(ResourcePtr)> admission = {};
  // Told of every object that is there at the start, as created, and of each change in the moment it takes effect, before the next
  // request is looked at: what admission remembers of objects is as they are. A key is "<group>/<resource>/<namespace>/<name>".
  std::function<void(const Change&)> on_write = {};
  std::size_t watch_buffer = 1'000;        // events a slow watcher may lag behind before its stream is ended
  // Runs the garbage collector, the namespace controller and the expiry of events. Without them objects wait for somebody
  // else to do that work, as those of a bare API server.
  bool controllers = true;
};

class ApiServer final : public api::RestClient {
 public:
  // Loads what the log holds. Registers built-in kinds and the CRDs found. Errors name the log and what is wrong with it.
  static Result<std::unique_ptr<ApiServer>> open(Executor& executor, std::unique_ptr<Log> log, ApiServerOptions options = {});
  ~ApiServer() override;

  // Answers are delivered on the executor once what they show is durable.
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request, std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;

  const Registry& registry() const;
  const Lookup& objects() const;  // as they are stored now
  Revision revision() const;
  Time now() const;

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::apiserver
