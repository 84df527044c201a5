// Whether the API server calls our webhooks: without a configuration of them it does not, and no certificate is needed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "base/lifetime.h"
#include "serve/ca_bundle.h"

namespace berth::cli {

class WebhookCalls {
 public:
  // Looks for the webhook configurations among `targets`. The client must outlive it.
  WebhookCalls(api::RestClient& client, const serve::CaBundleTargets& targets);

  // Asks the API server, then calls `done`. One call at a time.
  void look(std::function<void()> done);
  // False when the last look found none of them. What cannot be read counts as found.
  bool expected() const { return expected_; }

 private:
  void ask(std::size_t index);

  api::RestClient& client_;
  std::vector<std::pair<api::GroupVersionResource, std::string>> configurations_;
  std::function<void()> done_;
  bool expected_ = true;
  Lifetime lifetime_;
};

}  // namespace berth::cli
