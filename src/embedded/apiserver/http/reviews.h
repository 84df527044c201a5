// SelfSubjectReview, SubjectAccessReview, TokenReview and the like. Answered immediately and never stored.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/time.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/http/service_account_tokens.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

struct ReviewKind {
  std::string_view group, resource, kind, singular;
  bool namespaced = false;
};
// Ordered by group and resource; all are v1 and support only "create".
const std::vector<ReviewKind>& review_kinds();
const ReviewKind* find_review(const api::GroupVersionResource& resource);

struct ReviewContext {
  const Identity& who;
  const TokenTable& tokens;
  const TokenSigner* signer;  // verifies service account tokens; null: there are none
  const Lookup& objects;      // looks up roles and bindings
  std::string_view manager;   // the manager to write to managedFields
  Time now;
};
// `body` is the posted review.
api::RestResponse answer_review(const ReviewKind& kind, const Json& body, const ReviewContext& context);

}  // namespace berth::apiserver::http
