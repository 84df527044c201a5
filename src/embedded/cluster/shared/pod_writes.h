// Requests about pods, and a writer that sends requests until they are answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/lifetime.h"

namespace berth::cluster {

// Reason of the condition Ready=False of a pod whose node is not Ready.
inline constexpr std::string_view kNodeNotReady = "NodeNotReady";

std::string pod_key(const Json& pod);     // "namespace/name"
bool has_controller(const Json& object);  // one of its owners is its controller
bool pod_terminating(const Json& pod);    // has a deletion timestamp
Json pod_condition(std::string_view type, bool status, std::string_view now, std::string_view reason = {},
                   std::string_view message = {});

// Each request is for this pod's UID only: it does not touch a later pod with the same name.
api::RestRequest patch_pod_status(const Json& pod, Json status);
api::RestRequest delete_pod(const Json& pod, std::optional<std::int64_t> grace_seconds = std::nullopt);

// Sends writes. After any error except 404 and 409 it calls `again` one second later, or 30 seconds later when the
// server refuses the content (400, 403, 422). 404 and 409 need no retry: the object is gone or has changed, and the
// watch shows the change.
class Writer {
 public:
  Writer(api::RestClient& client, Executor& executor) : client_(client), executor_(executor) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void send(api::RestRequest request, std::function<void()> again);

 private:
  api::RestClient& client_;
  Executor& executor_;
  Lifetime lifetime_;
};

}  // namespace berth::cluster
