// Answers the reviews that an API server sends to webhooks, as JSON values. Pure functions.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-conversion
#pragma once

#include <string_view>

#include "api/kueue/webhooks/admission.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::serve {

enum class Hook { kMutate, kValidate };

// Answers an AdmissionReview (admission.k8s.io/v1) about an object of `group` and `resource` in any of its versions,
// by the rules of that resource. Operations without a rule (CONNECT, defaults on updates) are allowed. A refusal
// carries the Status that the API server passes on: that of AdmissionRules::refusal(), or 403 Forbidden for a
// deletion. Only the validating webhook warns, so that the client gets each warning once. There are no side effects, so
// a dry run needs no special case. An error says what is wrong with the review itself.
Result<Json> answer_admission(Hook hook, std::string_view group, std::string_view resource, const Json& review,
                              const api::kueue::AdmissionRules& rules, const api::kueue::AdmissionContext& context);

// Answers a ConversionReview (apiextensions.k8s.io/v1): all objects converted, or a failure that names the first
// object that cannot be converted. An error says what is wrong with the review itself.
Result<Json> answer_conversion(const Json& review);

}  // namespace berth::serve
