// The embedded API server without its network layer: requests in, responses out, on one thread. In-process clients
// use it as an api::RestClient; embedded/apiserver/router serves it over HTTPS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/apiserver/registry.h"
#include "embedded/apiserver/requests/server_options.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

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
  // Why writes cannot be made durable at present; empty: they can.
  std::string storage_problem() const;
  std::uint64_t storage_failures() const;  // how often that began

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::apiserver
