// A request whose URL is parsed and whose caller is authenticated. Its body is decoded later.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/rest.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/http/decode.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/resource_path.h"
#include "embedded/apiserver/http/service_account_tokens.h"
#include "embedded/apiserver/router/request_ids.h"
#include "http/handler.h"

namespace berth::apiserver::http {

struct ParsedRequest final : berth::http::Handler::Parsed {
  using Parsed::Parsed;
  Target target;
  std::string target_error;
  std::optional<ResourcePath> resource;
  std::optional<Identity> caller;     // nullopt: invalid credentials (401), unless `claims` is set
  std::optional<TokenClaims> claims;  // of a service account token; resolve_claims() checks that it is still valid
  std::optional<Identity> who;        // the caller, or the user that the caller acts as
  std::optional<BodySyntax> syntax;
  std::optional<api::PatchType> patch;
  DecodedBody body;
  std::string audit_id;
};

// For use on any thread. `signer` verifies service account tokens; null: there are none.
std::unique_ptr<ParsedRequest> parse_request(HttpRequest head, const TokenTable& tokens, const TokenSigner* signer,
                                             const RequestIds& ids);
void decode_request(ParsedRequest& in);

}  // namespace berth::apiserver::http
