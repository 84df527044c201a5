#include "cli/webhook_calls.h"

#include "api/resources.h"

namespace berth::cli {

WebhookCalls::WebhookCalls(api::RestClient& client, const serve::CaBundleTargets& targets) : client_(client) {
  for (const auto& name : targets.mutating_webhooks)
    configurations_.emplace_back(api::kMutatingWebhookConfigurations, name);
  for (const auto& name : targets.validating_webhooks)
    configurations_.emplace_back(api::kValidatingWebhookConfigurations, name);
}

void WebhookCalls::look(std::function<void()> done) {
  done_ = std::move(done);
  ask(0);
}

void WebhookCalls::ask(std::size_t index) {
  if (index == configurations_.size()) {
    expected_ = false;
    return std::exchange(done_, {})();
  }
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = configurations_[index].first;
  request.name = configurations_[index].second;
  client_.call(std::move(request), lifetime_.guard([this, index](const api::RestResponse& response) {
    if (response.code == 404) return ask(index + 1);
    expected_ = true;
    std::exchange(done_, {})();
  }));
}

}  // namespace berth::cli
