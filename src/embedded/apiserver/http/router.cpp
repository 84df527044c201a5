#include "embedded/apiserver/http/router.h"

#include <algorithm>
#include <atomic>
#include <random>

#include "api/status.h"
#include "api/verb.h"
#include "base/lifetime.h"
#include "embedded/apiserver/http/decode.h"
#include "embedded/apiserver/http/encode.h"
#include "embedded/apiserver/http/negotiate.h"
#include "embedded/apiserver/http/options.h"
#include "embedded/apiserver/http/resource_path.h"
#include "embedded/apiserver/http/reviews.h"
#include "embedded/apiserver/http/roles.h"
#include "embedded/apiserver/http/token_requests.h"
#include "embedded/apiserver/http/watch_stream.h"

namespace berth::apiserver::http {

// A request after URL and body are parsed and the caller is authenticated.
struct ParsedRequest final : berth::http::Handler::Parsed {
  HttpRequest http;
  Target target;
  std::string target_error;
  std::optional<ResourcePath> resource;
  std::optional<Identity> who;        // nullopt: invalid credentials (401), unless `claims` is set
  std::optional<TokenClaims> claims;  // of a service account token; resolve_claims() checks that it is still valid
  std::optional<BodySyntax> syntax;
  std::optional<api::PatchType> patch;
  DecodedBody body;
  std::string audit_id;
};

namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

constexpr std::string_view kAnswerTypes = "application/json, application/yaml";
constexpr std::string_view kBodyTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kCustomBodyTypes = "application/json, application/yaml";
constexpr std::string_view kCustomPatchTypes =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
// A watch without a timeout from the client ends after 30 to 60 minutes, so that connections are redistributed.
constexpr std::int64_t kMinWatchSeconds = 30 * 60;
constexpr std::string_view kTokenSubresource = "token";  // of service accounts

// nullopt: the method is not a verb of the API here.
std::optional<Verb> verb_of(const ParsedRequest& r) {
  const std::string& m = r.http.method;
  const bool named = !r.resource->name.empty();
  if (m == "GET" || m == "HEAD") {
    if (named) return Verb::kGet;
    return r.target.query.flag("watch") ? Verb::kWatch : Verb::kList;
  }
  if (m == "POST") return Verb::kCreate;
  if (m == "PUT") return Verb::kUpdate;
  if (m == "PATCH") return Verb::kPatch;
  if (m == "DELETE") return named ? Verb::kDelete : Verb::kDeleteCollection;
  return std::nullopt;
}

RestResponse unknown_resource() {
  return {404, api::make_status(404, "NotFound", "the server could not find the requested resource", JsonObject{}), {}};
}

RestResponse unauthorized(const std::string& why) {
  const std::string message = why.empty() ? "Unauthorized" : "Unauthorized: client certificate: " + why;
  return {401, api::make_status(401, "Unauthorized", message), {}};
}

RestResponse method_not_allowed() {
  return {405,
          api::make_status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
                           JsonObject{}),
          {}};
}

RestResponse not_acceptable() {
  return {
      406,
      api::make_status(406, "NotAcceptable",
                       "406: Not Acceptable\n\nAvailable representations: " + std::string(kAnswerTypes), JsonObject{}),
      {}};
}

RestResponse unsupported_patch() {
  return {415, api::make_status(415, "UnsupportedMediaType", "415: Unsupported Media Type", JsonObject{}), {}};
}

bool takes_verb(const ResourceInfo& info, std::string_view verb) {
  return info.verbs.empty() || std::find(info.verbs.begin(), info.verbs.end(), verb) != info.verbs.end();
}

bool has_subresource(const ResourceInfo& info, std::string_view name) {
  if (name == "status") return info.has_status;
  if (name == "scale") return info.has_scale;
  return std::find(info.extra_subresources.begin(), info.extra_subresources.end(), name) !=
         info.extra_subresources.end();
}

// Subresources that accept only POST; "finalize" accepts only PUT.
bool is_action(std::string_view subresource) {
  return subresource == "binding" || subresource == "eviction" || subresource == kTokenSubresource;
}

class CallExchange final : public Exchange {
 public:
  Lifetime lifetime;
};

class Done final : public Exchange {};

}  // namespace

std::string allowed_methods(const ResourceInfo& info, bool named, std::string_view subresource) {
  std::string all;
  const auto add = [&](std::string_view method) { all += (all.empty() ? "" : ", ") + std::string(method); };
  if (!subresource.empty()) {
    if (is_action(subresource)) return "POST";
    if (subresource == "finalize") return "PUT";
    return "GET, PATCH, PUT";
  }
  if (named) {
    if (takes_verb(info, "delete")) add("DELETE");
    if (takes_verb(info, "get")) add("GET");
    if (takes_verb(info, "patch")) add("PATCH");
    if (takes_verb(info, "update")) add("PUT");
  } else {
    if (takes_verb(info, "deletecollection")) add("DELETE");
    if (takes_verb(info, "list")) add("GET");
    if (takes_verb(info, "create")) add("POST");
  }
  return all;
}

struct Router::Impl {
  Impl(api::RestClient& c, const Registry& r, Executor& e, RouterOptions options)
      : core(c),
        registry(r),
        executor(e),
        tokens(std::move(options.tokens)),
        signer(std::move(options.signer)),
        objects(std::move(options.objects)),
        discovery(r, std::move(options.discovery)) {
    if (options.metrics != nullptr) {
      requests =
          options.metrics->counter("apiserver_request_total", "Requests about resources, by verb, resource and code.");
    }
    seed = options.seed;
    if (seed == 0) seed = (std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}();
  }

  // The state of one request while the executor handles it.
  struct Passage {
    ParsedRequest& in;
    std::shared_ptr<ResponseSink> sink;
    MediaForm form;
  };

  std::unique_ptr<Exchange> execute(ParsedRequest& in, std::shared_ptr<ResponseSink> sink);
  std::unique_ptr<Exchange> execute_resource(Passage p);
  std::unique_ptr<Exchange> execute_review(Passage p, const ReviewKind& kind);
  template <typename Answer>
  std::unique_ptr<Exchange> answer_question(Passage p, std::string_view kind, Answer answer_it);
  std::unique_ptr<Exchange> execute_virtual(const Passage& p, const discovery::VirtualGroup& group);
  std::unique_ptr<Exchange> call(Passage p, RestRequest request, ResourcePtr resource);
  std::optional<RestResponse> read_body(const ParsedRequest& in, const ResourceInfo& info, RestRequest& request) const;
  RestResponse missing(const ParsedRequest& in) const;
  bool method_fits(const ParsedRequest& in, const ResourceInfo& info) const;
  void identify(ParsedRequest& in, const HttpRequest& request) const;
  void resolve_claims(ParsedRequest& in) const;
  std::unique_ptr<Exchange> execute_token_request(Passage p);

  void count(std::string_view verb, const ResourceInfo& resource, int code);

  std::uint64_t next_random() const;
  std::string audit_id(const HttpRequest& request) const;
  std::string random_id() const;
  std::vector<Header> headers_of(const ParsedRequest& in) const { return {{"Audit-Id", in.audit_id}}; }
  std::unique_ptr<Exchange> refuse(const Passage& p, RestResponse response, std::vector<Header> more = {}) const;
  std::unique_ptr<Exchange> answer(const Passage& p, HttpResponse response) const;

  api::RestClient& core;
  const Registry& registry;
  Executor& executor;
  TokenTable tokens;
  std::optional<TokenSigner> signer;
  Lookup objects;
  discovery::Discovery discovery;
  EventEncoder encoder;
  std::optional<CounterFamily> requests;
  std::uint64_t seed = 0;
  mutable std::atomic<std::uint64_t> drawn{0};
};

void Router::Impl::count(std::string_view verb, const ResourceInfo& resource, int code) {
  if (!requests) return;
  const auto& gvr = resource.gvr;
  requests->add({{"verb", std::string(verb)},
                 {"group", gvr.group},
                 {"version", gvr.version},
                 {"resource", gvr.resource},
                 {"code", std::to_string(code)}});
}

// splitmix64: identifiers need to be unique, not unpredictable.
std::uint64_t Router::Impl::next_random() const {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (1 + drawn.fetch_add(1));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string Router::Impl::audit_id(const HttpRequest& request) const {
  constexpr std::size_t kMaxAuditId = 64;
  const std::string_view given = request.header("Audit-ID");
  const bool fine = std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!given.empty() && given.size() <= kMaxAuditId && fine) return std::string(given);
  return random_id();
}

// A UUID of random bits.
std::string Router::Impl::random_id() const {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t bits = next_random();
    for (int i = 0; i < 16; ++i, bits >>= 4) id.push_back(kHex[bits & 15]);
  }
  id[12] = '4';
  for (const std::size_t dash : {20u, 16u, 12u, 8u}) id.insert(dash, 1, '-');
  return id;
}

void Router::Impl::identify(ParsedRequest& in, const HttpRequest& request) const {
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
  if (!in.who && signer) in.claims = signer->recognise(token);
}

// Another thread has checked the signature. The objects that the token names can only be checked here, on the
// executor.
void Router::Impl::resolve_claims(ParsedRequest& in) const {
  if (!in.claims) return;
  auto who = identity_of(*in.claims, {std::string(kIssuer)}, objects, executor.now());
  if (who) in.who = std::move(*who);
}

std::unique_ptr<Exchange> Router::Impl::answer(const Passage& p, HttpResponse response) const {
  response.headers.push_back({"Audit-Id", p.in.audit_id});
  auto shared = std::make_shared<HttpResponse>(std::move(response));
  p.sink->respond([shared] { return std::move(*shared); });
  return std::make_unique<Done>();
}

std::unique_ptr<Exchange> Router::Impl::refuse(const Passage& p, RestResponse response,
                                               std::vector<Header> more) const {
  MediaForm form;
  form.syntax = p.form.syntax;
  form.pretty = p.form.pretty;
  HttpResponse out = encode_document(response, form);
  for (Header& h : more) out.headers.push_back(std::move(h));
  return answer(p, std::move(out));
}

std::unique_ptr<Exchange> Router::Impl::execute(ParsedRequest& in, std::shared_ptr<ResponseSink> sink) {
  Passage p{in, std::move(sink), {}};
  if (in.http.target.size() > kMaxTargetBytes) {
    return refuse(p, {414,
                      api::make_status(
                          414, "RequestURITooLong",
                          "the request path and query are longer than " + std::to_string(kMaxTargetBytes) + " bytes"),
                      {}});
  }
  if (!in.target_error.empty()) return refuse(p, api::bad_request(in.target_error));
  resolve_claims(in);
  if (!in.who) return refuse(p, unauthorized(in.http.peer_error));
  if (in.resource) return execute_resource(std::move(p));

  const bool reading = in.http.method == "GET" || in.http.method == "HEAD";
  Action action;
  action.verb = in.http.method == "HEAD" ? "head" : reading ? "get" : in.http.method == "POST" ? "post" : "put";
  action.path = in.target.path;
  if (!may(in.who->user, action, objects)) return refuse(p, forbidden_action(in.who->user, action));
  if (!reading) return refuse(p, method_not_allowed(), {{"Allow", "GET, HEAD"}});
  auto page = discovery.get(in.http, in.target);
  return answer(p, page ? std::move(*page) : not_found_page());
}

// 404 for a path that names no served resource: plain when the group and version serve no built-in kind, else a
// Status.
RestResponse Router::Impl::missing(const ParsedRequest& in) const {
  for (const ResourcePtr& r : registry.all()) {
    const auto& gvr = in.resource->resource;
    if (!r->custom && r->gvr.group == gvr.group && r->gvr.version == gvr.version) return unknown_resource();
  }
  return {404, nullptr, {}};
}

bool Router::Impl::method_fits(const ParsedRequest& in, const ResourceInfo& info) const {
  const std::string methods = allowed_methods(info, !in.resource->name.empty(), in.resource->subresource);
  const std::string& method = in.http.method == "HEAD" ? std::string("GET") : in.http.method;
  if (method == "POST" && info.namespaced && in.resource->ns.empty()) return false;
  for (std::string_view rest = methods; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == method) return true;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return false;
}

std::unique_ptr<Exchange> Router::Impl::execute_resource(Passage p) {
  ParsedRequest& in = p.in;
  const ResourcePath& path = *in.resource;
  const auto verb = verb_of(in);
  if (!verb) return refuse(p, method_not_allowed());
  Action action{std::string(name_of(*verb)), path.resource, path.subresource, path.ns, path.name, ""};
  if (action.name.empty()) action.name = name_selected(in.target.query.get("fieldSelector"));
  if (!may(in.who->user, action, objects)) return refuse(p, forbidden_action(in.who->user, action));

  if (const auto* group = discovery.virtual_group(path.resource.group)) return execute_virtual(p, *group);
  if (const ReviewKind* review = find_review(path.resource)) return execute_review(std::move(p), *review);
  const ResourcePtr info = registry.find(path.resource);
  if (!info) {
    RestResponse none = missing(in);
    return none.body.is_null() ? answer(p, not_found_page()) : refuse(p, std::move(none));
  }
  const bool placed = info->namespaced ? !(path.ns.empty() && !path.name.empty()) : path.ns.empty();
  if (!placed) return refuse(p, unknown_resource());
  if (!path.subresource.empty() && !has_subresource(*info, path.subresource)) {
    return refuse(p, info->custom ? api::not_found(path.resource, path.name) : unknown_resource());
  }
  if (!method_fits(in, *info)) {
    return refuse(p, method_not_allowed(), {{"Allow", allowed_methods(*info, !path.name.empty(), path.subresource)}});
  }
  if (path.subresource == kTokenSubresource) return execute_token_request(std::move(p));
  const bool watching = *verb == Verb::kWatch;
  auto form =
      negotiate(in.http.header("Accept"), {true, false, !watching, !watching || !streams_list(in.target.query)});
  const bool list = *verb == Verb::kList || *verb == Verb::kDeleteCollection;
  const bool misfit = form && form->shape == (list ? MediaForm::Shape::kMetadata : MediaForm::Shape::kMetadataList);
  if (!form || misfit) return refuse(p, not_acceptable());
  form->pretty = in.target.query.flag("pretty");
  p.form = *form;

  RestRequest request;
  request.verb = *verb;
  request.resource = path.resource;
  request.ns = path.ns;
  request.name = path.name;
  request.subresource = path.subresource;
  request.user = in.who->user;
  if (auto refusal = read_body(in, *info, request)) return refuse(p, std::move(*refusal));
  return call(std::move(p), std::move(request), info);
}

// Reads the body and the options. Errors are checked in kube-apiserver's order: size, type, options, content.
std::optional<RestResponse> Router::Impl::read_body(const ParsedRequest& in, const ResourceInfo& info,
                                                    RestRequest& request) const {
  const bool writes = request.verb == Verb::kCreate || request.verb == Verb::kUpdate;
  const bool deletes = request.verb == Verb::kDelete || request.verb == Verb::kDeleteCollection;
  const bool patches = request.verb == Verb::kPatch;
  if (patches) {
    if (!in.patch) return unsupported_patch();
    if (info.custom && *in.patch == api::PatchType::kStrategicMerge) return unsupported_media_type(kCustomPatchTypes);
    request.patch_type = *in.patch;
  }
  const bool has_object = writes || (deletes && !in.http.body.empty());
  if (has_object && !in.syntax) return unsupported_media_type(info.custom ? kCustomBodyTypes : kBodyTypes);
  // Custom kinds have no protobuf form; DeleteOptions have one for every kind.
  if (writes && info.custom && *in.syntax == BodySyntax::kProtobuf) return unsupported_media_type(kCustomBodyTypes);
  if (in.http.body_too_large) return too_large();
  if (deletes && !in.http.body.empty()) {
    if (!in.body.error.empty()) return undecodable_object("DeleteOptions", in.http.body, in.body.error);
    request.body = in.body.value;
  }
  if (auto refusal = apply_options(in.target.query, in.http.header("User-Agent"), request)) return refusal;
  if (patches && !in.body.error.empty()) return api::bad_request("error decoding patch: " + in.body.error);
  if (patches && in.http.body.empty()) return api::bad_request("error decoding patch: unexpected end of JSON input");
  if (writes) {
    const std::string error = !in.body.error.empty()      ? in.body.error
                              : in.http.body.empty()      ? "json parse error: unexpected end of JSON input"
                              : in.body.value.is_object() ? ""
                                                          : "json parse error: expected an object";
    if (!error.empty()) return undecodable_object(info.kind, in.http.body, error);
  }
  if (writes || patches) {
    request.body = in.body.value;
    request.duplicate_fields = in.body.duplicates;
  }
  return std::nullopt;
}

std::unique_ptr<Exchange> Router::Impl::call(Passage p, RestRequest request, ResourcePtr resource) {
  const auto include = parse_include_object(p.in.target.query.get("includeObject"));
  if (!include && p.form.shape == MediaForm::Shape::kTable) {
    return refuse(p, api::invalid("meta.k8s.io", "TableOptions", "",
                                  {api::invalid_value("includeObject", Json(p.in.target.query.get("includeObject")),
                                                      "must be 'Metadata', 'Object', 'None', or empty")}));
  }
  if (request.verb == Verb::kWatch) {
    if (!request.timeout_seconds) {
      request.timeout_seconds = kMinWatchSeconds + static_cast<std::int64_t>(next_random() % kMinWatchSeconds);
    }
    count(name_of(request.verb), *resource, 200);
    return start_watch(core, executor, encoder, std::move(request), std::move(resource),
                       {p.form, include.value_or(IncludeObject::kMetadata), false}, headers_of(p.in), p.sink);
  }
  const std::string_view verb = name_of(request.verb);
  auto exchange = std::make_unique<CallExchange>();
  auto reply = std::make_shared<Reply>();
  reply->form = p.form;
  reply->include = include.value_or(IncludeObject::kMetadata);
  reply->headers = headers_of(p.in);
  // Other subresources return a different kind than the resource's.
  if (request.subresource.empty() || request.subresource == "status") reply->resource = resource;
  core.call(std::move(request),
            exchange->lifetime.guard([reply, sink = p.sink, verb, resource = resource, this](RestResponse response) {
              count(verb, *resource, response.code);
              reply->response = std::move(response);
              reply->now = executor.now();
              sink->respond([reply] { return encode(*reply); });
            }));
  return exchange;
}

std::unique_ptr<Exchange> Router::Impl::execute_virtual(const Passage& p, const discovery::VirtualGroup& group) {
  p.sink->respond([make = group.answer(p.in.http.method, p.in.target, p.in.http.body), headers = headers_of(p.in)] {
    HttpResponse response = make();
    response.headers.insert(response.headers.end(), headers.begin(), headers.end());
    return response;
  });
  return std::make_unique<Done>();
}

std::unique_ptr<Exchange> Router::Impl::execute_review(Passage p, const ReviewKind& kind) {
  if (p.in.http.method != "POST" || !p.in.resource->name.empty()) {
    return refuse(p, method_not_allowed(), {{"Allow", "POST"}});
  }
  return answer_question(std::move(p), kind.kind, [&](const ParsedRequest& in, const RestRequest& request) {
    return answer_review(
        kind, in.body.value,
        {*in.who, tokens, signer ? &*signer : nullptr, objects, request.field_manager, executor.now()});
  });
}

std::unique_ptr<Exchange> Router::Impl::execute_token_request(Passage p) {
  if (!signer) return refuse(p, unknown_resource());
  return answer_question(std::move(p), "TokenRequest", [&](const ParsedRequest& in, const RestRequest&) {
    return answer_token_request(in.body.value,
                                {*signer, objects, in.resource->ns, in.resource->name, random_id(), executor.now()});
  });
}

// Answers a posted object immediately, without storing it.
template <typename Answer>
std::unique_ptr<Exchange> Router::Impl::answer_question(Passage p, std::string_view kind, Answer answer_it) {
  const ParsedRequest& in = p.in;
  const auto form = negotiate(in.http.header("Accept"), {});
  if (!form) return refuse(p, not_acceptable());
  p.form = *form;
  if (!in.syntax) return refuse(p, unsupported_media_type(kBodyTypes));
  if (in.http.body_too_large) return refuse(p, too_large());
  RestRequest request;
  request.verb = Verb::kCreate;
  if (auto refusal = apply_options(in.target.query, in.http.header("User-Agent"), request)) {
    return refuse(p, std::move(*refusal));
  }
  if (!in.body.error.empty() || !in.body.value.is_object()) {
    return refuse(p, undecodable_object(kind, in.http.body, in.body.error));
  }
  return refuse(p, answer_it(in, request));
}

Router::Router(api::RestClient& core, const Registry& registry, Executor& executor, RouterOptions options)
    : impl_(std::make_unique<Impl>(core, registry, executor, std::move(options))) {}
Router::~Router() = default;

std::unique_ptr<Router::Parsed> Router::parse(HttpRequest request) const {
  auto in = std::make_unique<ParsedRequest>();
  in->audit_id = impl_->audit_id(request);
  impl_->identify(*in, request);
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

std::unique_ptr<Exchange> Router::execute(std::unique_ptr<Parsed> request, std::shared_ptr<ResponseSink> sink) {
  return impl_->execute(static_cast<ParsedRequest&>(*request), std::move(sink));
}

HttpResponse Router::overloaded() const {
  return encode_document(
      {429,
       api::make_status(429, "TooManyRequests", "the server has received too many requests, please try again later",
                        JsonObject{{"retryAfterSeconds", 1}}),
       {}});
}

std::unique_ptr<Exchange> Router::handle(HttpRequest request, std::shared_ptr<ResponseSink> sink) {
  return execute(parse(std::move(request)), std::move(sink));
}

}  // namespace berth::apiserver::http
