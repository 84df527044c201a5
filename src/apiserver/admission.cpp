#include "apiserver/admission.h"

#include <utility>

namespace berth::apiserver {

using api::kueue::AdmissionRules;
using PolicyPtr = std::shared_ptr<const api::kueue::AdmissionPolicy>;

ResourcePtr with_rules(ResourcePtr resource, AdmissionRules rules, PolicyPtr policy) {
  if (!rules.mutate && !rules.check && !rules.remove) return resource;
  auto joined = std::make_shared<ResourceInfo>(*resource);
  if (rules.check) {
    joined->strategy.validating_admission = [check = std::move(rules.check), policy](
                                                const Json& object, const Json* old, std::string_view subresource,
                                                const Lookup& lookup) {
      return check(object, old, subresource, {lookup.get, *policy});
    };
  }
  if (rules.mutate) {
    joined->strategy.prepare_create = [first = resource->strategy.prepare_create, mutate = std::move(rules.mutate),
                                       policy](Json& object, const Lookup& lookup) {
      if (first) first(object, lookup);
      mutate(object, {lookup.get, *policy});
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
