#include "embedded/apiserver/router/router.h"

#include <utility>

#include "api/status.h"
#include "api/verb.h"
#include "base/lifetime.h"
#include "embedded/apiserver/http/encode.h"
#include "embedded/apiserver/http/negotiate.h"
#include "embedded/apiserver/http/options.h"
#include "embedded/apiserver/http/resource_path.h"
#include "embedded/apiserver/http/reviews.h"
#include "embedded/apiserver/http/roles.h"
#include "embedded/apiserver/http/token_requests.h"
#include "embedded/apiserver/http/watch_stream.h"
#include "embedded/apiserver/router/impersonation.h"
#include "embedded/apiserver/router/methods.h"
#include "embedded/apiserver/router/parsed_request.h"
#include "embedded/apiserver/router/read_body.h"
#include "embedded/apiserver/router/refusals.h"
#include "embedded/apiserver/router/request_ids.h"
#include "embedded/apiserver/router/requested_action.h"

namespace berth::apiserver::http {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

// A watch without a timeout from the client ends after 30 to 60 minutes, so that connections are redistributed.
constexpr std::int64_t kMinWatchSeconds = 30 * 60;
class CallExchange final : public Exchange {
 public:
  Lifetime lifetime;
};

class Done final : public Exchange {};

}  // namespace

struct Router::Impl {
  Impl(api::RestClient& c, const Registry& r, Executor& e, RouterOptions options)
      : core(c),
        registry(r),
        executor(e),
        tokens(std::move(options.tokens)),
        signer(std::move(options.signer)),
        objects(std::move(options.objects)),
        discovery(r, std::move(options.discovery)),
        ids(options.seed) {
    if (options.metrics != nullptr) {
      requests =
          options.metrics->counter("apiserver_request_total", "Requests about resources, by verb, resource and code.");
    }
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
  RestResponse missing(const ParsedRequest& in) const;
  std::optional<RestResponse> refusal_of(ParsedRequest& in) const;
  std::unique_ptr<Exchange> execute_token_request(Passage p);

  void count(std::string_view verb, const ResourceInfo& resource, int code);

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
  RequestIds ids;
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

// Who asks, and whether that user may: asked before the body is read, and again when it is there. Sets `who`.
std::optional<RestResponse> Router::Impl::refusal_of(ParsedRequest& in) const {
  if (in.http.target.size() > kMaxTargetBytes) return target_too_long();
  if (!in.target_error.empty()) return api::bad_request(in.target_error);
  in.who = in.caller;
  if (in.claims) {
    // Another thread has checked the signature. The objects that the token names can only be checked here.
    auto who = identity_of(*in.claims, {std::string(kIssuer)}, objects, executor.now());
    if (who) in.who = std::move(*who);
  }
  if (!in.who) return unauthorized(in.http.peer_error);
  if (auto refusal = impersonate(in.http.headers, objects, *in.who)) return refusal;
  const Action action = requested_action(in);
  if (!may(in.who->user, action, objects)) return forbidden_action(in.who->user, action);
  return std::nullopt;
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
  if (auto refusal = refusal_of(in)) return refuse(p, std::move(*refusal));
  if (in.resource) return execute_resource(std::move(p));
  if (in.http.method != "GET" && in.http.method != "HEAD")
    return refuse(p, method_not_allowed(), {{"Allow", "GET, HEAD"}});
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

std::unique_ptr<Exchange> Router::Impl::execute_resource(Passage p) {
  ParsedRequest& in = p.in;
  const ResourcePath& path = *in.resource;
  const auto verb = verb_of(in.http.method, !path.name.empty(), in.target.query.flag("watch"));
  if (!verb) return refuse(p, method_not_allowed());

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
  if (!takes_method(*info, path, in.http.method)) {
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
  if (const auto creation = creation_by_apply(request, requested_action(in), objects);
      creation && !may(in.who->user, *creation, objects))
    return refuse(p, forbidden_action(in.who->user, *creation));
  return call(std::move(p), std::move(request), info);
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
      request.timeout_seconds = kMinWatchSeconds + static_cast<std::int64_t>(ids.next() % kMinWatchSeconds);
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
  if (group.requests_everywhere && group.requests_everywhere(p.in.target)) {
    Action action = requested_action(p.in);
    action.ns.clear();
    if (!may(p.in.who->user, action, objects)) return refuse(p, forbidden_action(p.in.who->user, action));
  }
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
                                {*signer, objects, in.resource->ns, in.resource->name, ids.uuid(), executor.now()});
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
  const Impl& impl = *impl_;
  return parse_request(std::move(request), impl.tokens, impl.signer ? &*impl.signer : nullptr, impl.ids);
}

void Router::admit(Parsed& request, std::function<void(Verdict)> done) {
  auto& in = static_cast<ParsedRequest&>(request);
  const auto refusal = impl_->refusal_of(in);
  if (!refusal) return done(std::nullopt);
  HttpResponse out = encode_document(*refusal, {});
  out.headers.push_back({"Audit-Id", in.audit_id});
  done(std::move(out));
}

void Router::decode(Parsed& request) const { decode_request(static_cast<ParsedRequest&>(request)); }

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

}  // namespace berth::apiserver::http
