// Tells the API server whom to trust when it calls us: the caBundle of webhook configurations, of CustomResourceDefinitions that are
// converted, and of APIServices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"

namespace berth::serve {

// Names of objects. What is not there is passed over, so are CustomResourceDefinitions without a conversion webhook.
struct CaBundleTargets {
  std::vector<std::string> mutating_webhooks, validating_webhooks, crds, api_services;
};
// As the manifests name them, those of Kueue's as there. `volcano`: with the webhooks for Volcano's kinds.
CaBundleTargets installed_targets(bool volcano);

// The object with `bundle` (PEM) wherever it says whom to trust; as it was when there is nothing to be said.
Json with_ca_bundle(const api::GroupVersionResource& resource, const Json& object, std::string_view bundle);

class CaBundles {
 public:
  // The client must outlive it.
  CaBundles(api::RestClient& client, CaBundleTargets targets);
  ~CaBundles();  // what is under way ends without a word

  struct Outcome {
    Result<void> result;      // all carry the bundle; or the first that could not be read or changed, and why
    std::size_t changed = 0;  // how many did not carry it before
  };
  // Reads every target and changes those that differ. `done` is called once. One at a time: another call ends the one before, whose
  // `done` is not called.
  void publish(std::string bundle, std::function<void(Outcome)> done);

 private:
  struct Run;
  api::RestClient& client_;
  CaBundleTargets targets_;
  std::shared_ptr<Run> run_;
};

}  // namespace berth::serve
