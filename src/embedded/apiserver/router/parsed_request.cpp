#include "embedded/apiserver/router/parsed_request.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "embedded/apiserver/router/impersonation.h"

namespace berth::apiserver::http {
namespace {

void identify(ParsedRequest& in, const HttpRequest& request, const TokenTable& tokens, const TokenSigner* signer) {
  if (!request.peer_error.empty()) return;
  if (request.peer) {
    in.caller = authenticated(request.peer->common_name, "", request.peer->organizations);
    return;
  }
  const std::string_view given = request.header("Authorization");
  if (given.empty()) in.caller = anonymous();
  constexpr std::string_view kBearer = "bearer ";
  if (given.size() < kBearer.size()) return;
  for (std::size_t i = 0; i < kBearer.size(); ++i) {
    const char c = given[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kBearer[i]) return;
  }
  const std::string_view token = given.substr(kBearer.size());
  in.caller = tokens.find(token);
  if (!in.caller && signer != nullptr) in.claims = signer->recognise(token);
}

// Whether the caller may do everything, as himself: then nobody needs to be asked.
bool may_everything(const ParsedRequest& in) {
  if (!in.caller || !is_in(in.caller->user, kMastersGroup)) return false;
  return std::none_of(in.http.headers.begin(), in.http.headers.end(),
                      [](const Header& h) { return is_impersonation(h.name); });
}

}  // namespace

std::unique_ptr<ParsedRequest> parse_request(HttpRequest head, const TokenTable& tokens, const TokenSigner* signer,
                                             const RequestIds& ids) {
  auto in = std::make_unique<ParsedRequest>(std::move(head));
  const HttpRequest& request = in->http;
  in->audit_id = ids.audit_id(request);
  identify(*in, request, tokens, signer);
  in->known = in->claims || (in->caller && in->caller->user.name != anonymous().user.name);
  in->requests = !may_everything(*in);
  if (auto target = parse_target(request.target)) {
    in->target = std::move(*target);
  } else {
    in->target_error = target.error().message;
  }
  in->resource = resource_path(in->target.segments);
  const std::string_view type = request.header("Content-Type");
  in->syntax = object_syntax(type);
  if (request.method == "PATCH") in->patch = patch_type(type);
  return in;
}

void decode_request(ParsedRequest& in) {
  const HttpRequest& request = in.http;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!in.resource || reads || request.body.empty() || request.body_too_large) return;
  std::optional<BodySyntax> syntax = in.syntax;
  if (request.method == "PATCH") {
    syntax.reset();
    if (in.patch) syntax = *in.patch == api::PatchType::kApply ? BodySyntax::kYaml : BodySyntax::kJson;
  }
  if (syntax) in.body = decode_body(request.body, *syntax);
}

}  // namespace berth::apiserver::http
