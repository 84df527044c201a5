// Answers to the page's questions about single objects. Each asks by SubjectAccessReview whether the user may know the
// answer, then reads it with the console's own account.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "console/pod_workloads.h"
#include "console/positions.h"
#include "http/message.h"
#include "http/target.h"
#include "serve/delegated_auth.h"

namespace berth::console {

inline constexpr std::size_t kMaxEvents = 200;   // of one object
inline constexpr std::size_t kMaxPods = 10'000;  // that are read to find those of a workload

// Use it on the executor only.
class Questions {
 public:
  using Done = std::function<void(http::HttpResponse)>;  // called once, on the executor, now or later

  // All must outlive it. `read`: for the visibility API.
  Questions(api::RestClient& client, serve::DelegatedAuth& auth, const PodWorkloads& workloads, ReadPath read)
      : client_(client), auth_(auth), workloads_(workloads), read_(std::move(read)) {}

  // `query` is that of the request; missing or wrong values give 400.
  void object(const serve::Caller& caller, const http::Query& query, Done done);
  void events(const serve::Caller& caller, const http::Query& query, Done done);
  void pods(const serve::Caller& caller, const http::Query& query, Done done);
  // Whether the user may make a change, "resource" being clusterqueues, localqueues or workloads: {"allowed": true}, or
  // false with a "message".
  void may_change(const serve::Caller& caller, const http::Query& query, Done done);
  // What the visibility API says of a workload. `what`: api::visibility::kExplanation or kPrediction.
  void about(std::string_view what, const serve::Caller& caller, const http::Query& query, Done done);

 private:
  // Calls `then` when the caller may do it, else `done` with 403 or 503.
  void when_allowed(const serve::Caller& caller, const serve::AccessAttributes& what, Done done,
                    std::function<void(Done)> then);

  api::RestClient& client_;
  serve::DelegatedAuth& auth_;
  const PodWorkloads& workloads_;
  const ReadPath read_;
};

}  // namespace berth::console
