// The settings of an embedded API server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "embedded/apiserver/resource.h"
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

}  // namespace berth::apiserver
