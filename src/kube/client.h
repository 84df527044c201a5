// An API server over the network, as api::RestClient. https://kubernetes.io/docs/reference/using-api/api-concepts/
//
// One rate limit for everything that is sent. Requests that the server did not take (429, 503 with Retry-After, no connection) are
// sent again; reads also when their answer was lost. A write whose answer was lost is answered with code 0: its outcome is unknown.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/executor.h"
#include "kube/kubeconfig.h"
#include "kube/rate_limit.h"

namespace berth::kube {

// The reason (of the Status) of an answer with code 0 that another try will not change: the server cannot be trusted, or there are no
// credentials to be had.
inline constexpr std::string_view kHopeless = "Hopeless";

// Whether nothing waits for what the request writes: events, and the statuses of queues.
bool only_informs(const api::RestRequest& request);

struct ClientOptions {
  std::string user_agent = "berth";
  RateLimitOptions rate;
  Duration timeout = std::chrono::seconds(30);        // of one request
  Duration watch_silence = std::chrono::minutes(15);  // of a watch without bookmarks, longer than the server lets one run
  int max_tries = 10;
  std::uint64_t seed = 1;  // of the jitter between tries
  // Told of everything that was sent and how it was answered, each try of it; code 0: not at all.
  std::function<void(const api::RestRequest& request, int code)> on_answer;
  // Which requests let others go first.
  std::function<bool(const api::RestRequest&)> background = only_informs;
};

class Client final : public api::RestClient {
 public:
  // `executor` must outlive the client. Errors name what is wrong with the access.
  static Result<std::unique_ptr<Client>> make(Executor& executor, const Access& access, ClientOptions options = {});
  ~Client() override;

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request, std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;
  // Reads what is no resource, as JSON: "/openapi/v3", "/version".
  void get(std::string path, std::function<void(api::RestResponse)> done);

 private:
  struct Impl;
  explicit Client(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube
