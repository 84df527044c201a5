// An API server over the network, as api::RestClient. https://kubernetes.io/docs/reference/using-api/api-concepts/
//
// One rate limit covers everything that is sent. The client retries requests that the server did not take (429, 503
// with Retry-After, no connection), and reads whose answer was lost. A write whose answer was lost gets code 0: its
// outcome is unknown.
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

// The reason in the Status of an answer with code 0 when a retry would not help: the server cannot be trusted, or
// there are no credentials.
inline constexpr std::string_view kHopeless = "Hopeless";

// Whether the request is about events, or writes the status of a queue or cohort: nothing waits for such writes.
bool only_informs(const api::RestRequest& request);

struct ClientOptions {
  std::string user_agent = "berth";
  RateLimitOptions rate;
  Duration timeout = std::chrono::seconds(30);  // of one request
  // A watch that is silent for so long ends. Longer than the server lets a watch without bookmarks run.
  Duration watch_silence = std::chrono::minutes(15);
  int max_tries = 10;      // of one request, the first included
  std::uint64_t seed = 1;  // of the jitter between tries
  // Called for each try that was sent, with the code of its answer; code 0: there was no answer.
  std::function<void(const api::RestRequest& request, int code)> on_answer;
  // Which requests are sent in the background: they let other requests go first.
  std::function<bool(const api::RestRequest&)> background = only_informs;
};

class Client final : public api::RestClient {
 public:
  // `executor` must outlive the client. Errors name what is wrong in `access`.
  static Result<std::unique_ptr<Client>> make(Executor& executor, const Access& access, ClientOptions options = {});
  ~Client() override;

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;
  // Reads JSON from a path that is not a resource: "/openapi/v3", "/version".
  void get(std::string path, std::function<void(api::RestResponse)> done);

 private:
  struct Impl;
  explicit Client(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube
