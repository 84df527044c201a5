// Dispatches requests to their handlers. Sends a response only after the revision that it shows is durable.
#pragma once

#include <functional>

#include "embedded/apiserver/requests/core.h"
#include "embedded/apiserver/requests/crds.h"

namespace berth::apiserver {

class Requests {
 public:
  Requests(Core& core, Crds& crds) : core_(core), crds_(crds) {}

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done);
  std::unique_ptr<api::WatchHandle> watch(const api::RestRequest& request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end);
  // Handles a request immediately, without waiting for durability.
  Answer handle(api::RestRequest& request);

 private:
  Answer dispatch(const ResourceInfo& resource, api::RestRequest& request);
  Answer on_subresource(const ResourceInfo& resource, api::RestRequest& request);
  void answer(Answer verdict, std::function<void(api::RestResponse)> done);

  Core& core_;
  Crds& crds_;
};

}  // namespace berth::apiserver
