// What the machines' parts ask of the API server about pods, and sending it until there is an answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"

namespace berth::cluster {

// Why a pod is not Ready whose node is not.
inline constexpr std::string_view kNodeNotReady = "NodeNotReady";

std::string pod_key(const Json& pod);   // "namespace/name"
bool pod_over(const Json& pod);         // Succeeded or Failed
bool pod_terminating(const Json& pod);  // has a deletion timestamp
// The status of a condition: "True", "False", "Unknown", or "" when there is none.
std::string_view condition_status(const Json& object, std::string_view type);
Json pod_condition(std::string_view type, bool status, std::string_view now, std::string_view reason = {},
                   std::string_view message = {});

// Each for this pod only: one of the same name that came later is not touched.
api::RestRequest patch_pod_status(const Json& pod, Json status);
api::RestRequest delete_pod(const Json& pod, std::optional<std::int64_t> grace_seconds = std::nullopt);

// Sends writes. What the server could not take (429, 500, no answer) is looked at again by `again` a second
// later; 404 and 409 are answers: the object is gone or has changed, and its change is seen.
class Writer {
 public:
  Writer(api::RestClient& client, Executor& executor) : client_(client), executor_(executor) {}
  ~Writer() { *alive_ = false; }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void send(api::RestRequest request, std::function<void()> again);

 private:
  api::RestClient& client_;
  Executor& executor_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::cluster
