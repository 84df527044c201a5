#include "embedded/apiserver/kueue_webhooks.h"

#include <utility>

#include "api/kueue/conversion.h"
#include "api/kueue/types.h"
#include "embedded/apiserver/admission.h"

namespace berth::apiserver {
namespace {

using api::kueue::AdmissionPolicy;
using PolicyPtr = std::shared_ptr<const AdmissionPolicy>;

ResourcePtr join(ResourcePtr resource, const PolicyPtr& policy) {
  const auto& rules = api::kueue::admission_rules(resource->gvr.group, resource->gvr.resource, *policy);
  return with_rules(with_kueue_conversion(std::move(resource)), rules, policy);
}

}  // namespace

ResourcePtr with_kueue_conversion(ResourcePtr resource) {
  if (resource->gvr.group != api::kueue::kGroup || !resource->custom) return resource;
  auto joined = std::make_shared<ResourceInfo>(*resource);
  joined->strategy.convert = api::kueue::convert;
  if (resource->gvr.version != api::kueue::kVersion) {
    // Try the conversion when the client sends the object, so that the client gets the error before anything is
    // stored.
    joined->strategy.decode = [](Json& object) -> Result<void> {
      Json copy = object;
      return api::kueue::convert(copy, api::kueue::kVersion);
    };
  }
  return joined;
}

std::function<ResourcePtr(ResourcePtr)> kueue_webhooks(AdmissionPolicy policy) {
  return [policy = std::make_shared<const AdmissionPolicy>(std::move(policy))](ResourcePtr resource) {
    return join(std::move(resource), policy);
  };
}

ResourcePtr with_kueue_webhooks(ResourcePtr resource) { return kueue_webhooks({})(std::move(resource)); }

}  // namespace berth::apiserver
