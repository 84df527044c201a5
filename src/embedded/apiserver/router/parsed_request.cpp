#include "embedded/apiserver/router/parsed_request.h"

#include <string_view>
#include <utility>

namespace berth::apiserver::http {
namespace {

void identify(ParsedRequest& in, const HttpRequest& request, const TokenTable& tokens, const TokenSigner* signer) {
  if (!request.peer_error.empty()) return;
  if (request.peer) {
    in.who = authenticated(request.peer->common_name, "", request.peer->organizations);
    return;
  }
  const std::string_view given = request.header("Authorization");
  if (given.empty()) in.who = anonymous();
  constexpr std::string_view kBearer = "bearer ";
  if (given.size() < kBearer.size()) return;
  for (std::size_t i = 0; i < kBearer.size(); ++i) {
    const char c = given[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kBearer[i]) return;
  }
  const std::string_view token = given.substr(kBearer.size());
  in.who = tokens.find(token);
  if (!in.who && signer != nullptr) in.claims = signer->recognise(token);
}

}  // namespace

std::unique_ptr<ParsedRequest> parse_request(HttpRequest request, const TokenTable& tokens, const TokenSigner* signer,
                                             const RequestIds& ids) {
  auto in = std::make_unique<ParsedRequest>();
  in->audit_id = ids.audit_id(request);
  identify(*in, request, tokens, signer);
  if (auto target = parse_target(request.target)) {
    in->target = std::move(*target);
  } else {
    in->target_error = target.error().message;
  }
  in->resource = resource_path(in->target.segments);
  const std::string_view type = request.header("Content-Type");
  in->syntax = object_syntax(type);
  std::optional<BodySyntax> syntax = in->syntax;
  if (request.method == "PATCH") {
    in->patch = patch_type(type);
    syntax.reset();
    if (in->patch) syntax = *in->patch == api::PatchType::kApply ? BodySyntax::kYaml : BodySyntax::kJson;
  }
  if ((in->who || in->claims) && in->resource && syntax && !request.body.empty() && !request.body_too_large) {
    in->body = decode_body(request.body, *syntax);
  }
  in->http = std::move(request);
  return in;
}

}  // namespace berth::apiserver::http
