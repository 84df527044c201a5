// TokenRequest: POST .../serviceaccounts/NAME/token. Answered immediately and never stored.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
#pragma once

#include <string>

#include "embedded/apiserver/http/service_account_tokens.h"

namespace berth::apiserver::http {

struct TokenRequestContext {
  const TokenSigner& signer;
  const Lookup& objects;
  std::string ns, account;  // from the path
  std::string token_id;     // unique among all tokens (jti)
  Time now;
};
// `body` is the posted TokenRequest.
api::RestResponse answer_token_request(const Json& body, const TokenRequestContext& context);

}  // namespace berth::apiserver::http
