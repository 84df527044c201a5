#include "embedded/apiserver/admission.h"

#include <string>
#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/planted.h"

namespace berth::apiserver {

using api::kueue::AdmissionRules;
using PolicyPtr = std::shared_ptr<const api::kueue::AdmissionPolicy>;

namespace {

// Adds the text that kube-apiserver adds to a webhook's denial.
api::RestResponse said_by(std::string_view webhook, api::RestResponse refusal) {
  if (webhook.empty()) return refusal;
  auto& message = refusal.body.as_object()["message"];
  message = "admission webhook \"" + std::string(webhook) +
            "\" denied the request: " + std::string(api::status_message(refusal));
  return refusal;
}

}  // namespace

ResourcePtr with_rules(ResourcePtr resource, AdmissionRules rules, PolicyPtr policy) {
  if (planted(Planted::kOpenDoor)) rules.check = {};
  if (!rules.mutate && !rules.check && !rules.remove && !rules.warn) return resource;
  auto joined = std::make_shared<ResourceInfo>(*resource);
  if (rules.check) {
    joined->strategy.validating_admission = [rules, policy, group = resource->gvr.group](
                                                const Json& object, const Json* old, std::string_view subresource,
                                                const Lookup& lookup) -> std::optional<api::RestResponse> {
      const auto errors = rules.check(object, old, subresource, {lookup.get, *policy});
      if (errors.empty()) return std::nullopt;
      return said_by(rules.webhook, rules.refusal(group, object, errors));
    };
  }
  if (rules.warn) {
    joined->strategy.admission_warning = [warn = rules.warn, policy](const Json& object, const Json* old,
                                                                     const Lookup& lookup) {
      return warn(object, old, {lookup.get, *policy});
    };
  }
  if (rules.mutate && rules.mutates_updates) {
    joined->strategy.prepare_update = [prepare = resource->strategy.prepare_update, mutate = rules.mutate, policy](
                                          Json& object, const Json& old, std::string_view subresource,
                                          const Lookup& lookup) {
      if (subresource.empty()) mutate(object, {lookup.get, *policy});
      if (prepare) prepare(object, old, subresource, lookup);
    };
  }
  if (rules.mutate) {
    // The order of kube-apiserver with webhooks: first mutate, then let the kind compute fields that depend on
    // others. Built-in admission completes a pod (priority, tolerations, limits) before webhooks see it.
    joined->strategy.prepare_create = [prepare = resource->strategy.prepare_create, mutate = std::move(rules.mutate),
                                       mutates = std::move(rules.mutates), policy,
                                       completed = resource->gvr == api::kPods](Json& object, const Lookup& lookup) {
      const bool changes = !mutates || mutates(object, {lookup.get, *policy});
      if (changes && completed && prepare) prepare(object, lookup);
      if (changes) mutate(object, {lookup.get, *policy});
      if (prepare) prepare(object, lookup);
    };
  }
  if (rules.remove) {
    joined->strategy.deletion_admission = [remove = std::move(rules.remove), policy](const Json& object,
                                                                                     const Lookup& lookup) {
      return remove(object, {lookup.get, *policy});
    };
  }
  return joined;
}

}  // namespace berth::apiserver
