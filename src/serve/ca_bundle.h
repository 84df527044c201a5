// Writes the caBundle with which the API server verifies our certificate: into webhook configurations,
// CustomResourceDefinitions with a conversion webhook, and APIServices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"

namespace berth::serve {

// Names of objects. Objects that do not exist and CustomResourceDefinitions without a conversion webhook are skipped.
struct CaBundleTargets {
  std::vector<std::string> mutating_webhooks, validating_webhooks, crds, api_services;
};
// The objects of our manifests, with Kueue's names where Kueue has them. `volcano`: with the webhooks for Volcano's
// kinds.
CaBundleTargets installed_targets(bool volcano);

// Returns the object with `bundle` (PEM) in each of its caBundle fields; unchanged when it takes none.
Json with_ca_bundle(const api::GroupVersionResource& resource, const Json& object, std::string_view bundle);

class CaBundles {
 public:
  // The client must outlive it.
  CaBundles(api::RestClient& client, CaBundleTargets targets);
  ~CaBundles();  // cancels a running publish(); its `done` is not called

  struct Outcome {
    // Success: all carry the bundle. Error: the first that could not be read or changed, and why.
    Result<void> result;
    std::size_t changed = 0;  // number of objects that did not carry it before
  };
  // Reads every target and changes those that differ, then calls `done` once. A new call cancels the one before,
  // whose `done` is not called.
  void publish(std::string bundle, std::function<void(Outcome)> done);

 private:
  struct Run;
  api::RestClient& client_;
  CaBundleTargets targets_;
  std::shared_ptr<Run> run_;
};

}  // namespace berth::serve
