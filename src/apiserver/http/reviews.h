// Resources that are questions: who am I, may I, who is this. They are answered at once and never stored.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "apiserver/http/access.h"
#include "apiserver/http/service_account_tokens.h"
#include "apiserver/resource.h"
#include "base/time.h"

namespace berth::apiserver::http {

struct ReviewKind {
  std::string_view group, resource, kind, singular;
  bool namespaced = false;
};
// Ordered by group and resource; all are v1 and know only "create".
const std::vector<ReviewKind>& review_kinds();
const ReviewKind* find_review(const api::GroupVersionResource& resource);

struct ReviewContext {
  const Identity& who;
  const TokenTable& tokens;
  const TokenSigner* signer;  // of service accounts' tokens; null: there are none
  const Lookup& objects;     // where roles and bindings are
  std::string_view manager;  // whom managedFields names
  Time now;
};
// `body` is the review that was posted.
api::RestResponse answer_review(const ReviewKind& kind, const Json& body, const ReviewContext& context);

}  // namespace berth::apiserver::http
