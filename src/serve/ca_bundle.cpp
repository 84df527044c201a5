#include "serve/ca_bundle.h"

#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/base64.h"
#include "base/log.h"
#include "base/merge_patch.h"

namespace berth::serve {
namespace {

using api::GroupVersionResource;

constexpr int kMaxConflicts = 5;  // of one target; then publish() fails, and the caller tries again later

}  // namespace

CaBundleTargets installed_targets(bool volcano) {
  CaBundleTargets out{
      {"kueue-mutating-webhook-configuration"},
      {"kueue-validating-webhook-configuration"},
      {"admissionchecks.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io",
       "localqueues.kueue.x-k8s.io", "multikueueclusters.kueue.x-k8s.io", "multikueueconfigs.kueue.x-k8s.io",
       "provisioningrequestconfigs.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "topologies.kueue.x-k8s.io",
       "workloadpriorityclasses.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"},
      {"v1beta1.visibility.kueue.x-k8s.io", "v1beta2.visibility.kueue.x-k8s.io"}};
  if (volcano) {
    out.mutating_webhooks.emplace_back("berth-volcano-mutating-webhook-configuration");
    out.validating_webhooks.emplace_back("berth-volcano-validating-webhook-configuration");
  }
  return out;
}

Json with_ca_bundle(const GroupVersionResource& resource, const Json& object, std::string_view bundle) {
  Json out = object;
  const Json encoded(base64_encode(bundle));
  if (resource == api::kCustomResourceDefinitions) {
    if (string_at(out, {"spec", "conversion", "strategy"}) == "Webhook" &&
        find_path(out, {"spec", "conversion", "webhook", "clientConfig"}) != nullptr)
      ensure_path(out, {"spec", "conversion", "webhook", "clientConfig", "caBundle"}) = encoded;
  } else if (resource == api::kApiServices) {
    // The API forbids caBundle beside insecureSkipTLSVerify. An APIService without a service is served by the API
    // server.
    if (!object_at(out, {"spec", "service"}).empty() && !bool_at(out, {"spec", "insecureSkipTLSVerify"}))
      ensure_path(out, {"spec", "caBundle"}) = encoded;
  } else if (!array_at(out, {"webhooks"}).empty()) {
    for (Json& webhook : ensure_path(out, {"webhooks"}).get_array())
      ensure_path(webhook, {"clientConfig", "caBundle"}) = encoded;
  }
  return out;
}

// One run of publish(): the targets one after the other.
struct CaBundles::Run : std::enable_shared_from_this<CaBundles::Run> {
  struct Target {
    GroupVersionResource resource;
    std::string name;
    std::string text() const { return resource.resource + "." + resource.group + " " + name; }
  };
  Run(api::RestClient& c, std::string b, std::function<void(Outcome)> d)
      : client(c), bundle(std::move(b)), done(std::move(d)) {}

  void add(const GroupVersionResource& resource, const std::vector<std::string>& names) {
    for (const std::string& name : names) targets.push_back({resource, name});
  }

  void call(api::Verb verb, Json body, std::function<void(const api::RestResponse&)> then) {
    api::RestRequest request;
    request.verb = verb;
    request.resource = targets[at].resource;
    request.name = targets[at].name;
    request.body = std::move(body);
    request.patch_type = api::PatchType::kMerge;
    client.call(std::move(request),
                [weak = weak_from_this(), then = std::move(then)](const api::RestResponse& response) {
                  if (const auto self = weak.lock()) then(response);
                });
  }

  void next() {
    if (at == targets.size()) return std::exchange(done, nullptr)(std::move(outcome));
    call(api::Verb::kGet, nullptr, [this](const api::RestResponse& response) { read(response); });
  }

  void read(const api::RestResponse& response) {
    if (!response.ok()) return over(response, "read");
    Json wanted = with_ca_bundle(targets[at].resource, response.body, bundle);
    if (json_equal(wanted, response.body)) return over(response, "read");
    Json patch = make_merge_patch(response.body, wanted);
    // The resourceVersion makes the patch fail when another client changed the object meanwhile.
    ensure_path(patch, {"metadata", "resourceVersion"}) = string_at(response.body, {"metadata", "resourceVersion"});
    call(api::Verb::kPatch, std::move(patch), [this](const api::RestResponse& r) {
      if (r.ok()) {
        log::info("caBundle written", {{"to", targets[at].text()}});
        ++outcome.changed;
      }
      // Another client changed it meanwhile, often the API server itself: read again.
      if (r.code == 409 && ++conflicts <= kMaxConflicts) return next();
      over(r, "change");
    });
  }

  // Ends this target and goes on to the next one.
  void over(const api::RestResponse& response, const char* what) {
    if (!response.ok() && response.code != 404 && outcome.result)
      outcome.result =
          fail(std::string("cannot ") + what + " " + targets[at].text() + ": " + api::failure_text(response));
    ++at;
    conflicts = 0;
    next();
  }

  api::RestClient& client;
  std::string bundle;
  std::function<void(Outcome)> done;
  std::vector<Target> targets;
  std::size_t at = 0;
  int conflicts = 0;  // with this target
  Outcome outcome;
};

CaBundles::CaBundles(api::RestClient& client, CaBundleTargets targets)
    : client_(client), targets_(std::move(targets)) {}
CaBundles::~CaBundles() = default;

void CaBundles::publish(std::string bundle, std::function<void(Outcome)> done) {
  const auto run = std::make_shared<Run>(client_, std::move(bundle), std::move(done));
  run->add(api::kMutatingWebhookConfigurations, targets_.mutating_webhooks);
  run->add(api::kValidatingWebhookConfigurations, targets_.validating_webhooks);
  run->add(api::kCustomResourceDefinitions, targets_.crds);
  run->add(api::kApiServices, targets_.api_services);
  run_ = run;
  run->next();
}

}  // namespace berth::serve
