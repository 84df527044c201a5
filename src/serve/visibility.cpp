#include "serve/visibility.h"

#include <utility>

#include "api/status.h"
#include "api/visibility/documents.h"
#include "base/digest.h"
#include "base/lifetime.h"

namespace berth::serve {
namespace {

namespace visibility = api::visibility;

struct Request final : http::Handler::Parsed {
  using Parsed::Parsed;
  std::optional<http::Target> target;  // nullopt: `error` says why
  std::string error;
};

// The client may have disconnected before the gate answers.
struct Asked final : http::Exchange {
  Lifetime lifetime;
};

http::HttpResponse json(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

Answer refuse(api::RestResponse response) {
  return [response = std::move(response)] {
    auto out = json(response.code, to_string(response.body));
    if (const auto seconds = int_at(response.body, {"details", "retryAfterSeconds"}); seconds > 0)
      out.headers.push_back({"Retry-After", std::to_string(seconds)});
    return out;
  };
}

api::RestResponse method_not_allowed() {
  return {405,
          api::make_status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
          {}};
}

// 404 in the forms of API servers: a Status for an unknown resource of the group, a plain page for other paths.
Answer nothing_there(const http::Target& target) {
  const auto& parts = target.segments;
  if (parts.size() < 4 || parts[0] != "apis" || parts[1] != visibility::kGroup || !visibility::serves(parts[2]))
    return http::not_found_page;
  return refuse(
      {404, api::make_status(404, "NotFound", "the server could not find the requested resource", JsonObject()), {}});
}

Answer document(const Json& value) {
  return [text = to_string(value)] { return json(200, text); };
}

// The path of a version's OpenAPI 3 document, below /openapi/v3.
std::string openapi_path(std::string_view version) {
  return "apis/" + std::string(visibility::kGroup) + "/" + std::string(version);
}

// The index of the OpenAPI 3 documents. Each URL has a hash of its document, so that clients can cache the document.
Json openapi_v3_index() {
  constexpr std::size_t kDigits = 40;
  JsonObject paths;
  for (const std::string_view version : visibility::kVersions) {
    const std::string path = openapi_path(version);
    const std::string hash = sha1_digits(to_string(visibility::openapi_v3(version)), kDigits);
    paths[path] = JsonObject{{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + hash}};
  }
  return JsonObject{{"paths", std::move(paths)}};
}

// The newest version of aggregated discovery that the Accept header names; "" when it does not ask for that.
std::string_view aggregated_version(std::string_view accept) {
  if (accept.find("as=APIGroupDiscoveryList") == std::string_view::npos) return "";
  for (const std::string_view version : {"v2", "v2beta1"}) {
    const std::string parameter = ";v=" + std::string(version);
    for (auto at = accept.find(parameter); at != std::string_view::npos; at = accept.find(parameter, at + 1)) {
      const std::size_t end = at + parameter.size();
      if (end == accept.size() || accept[end] == ';' || accept[end] == ',' || accept[end] == ' ') return version;
    }
  }
  return "";
}

Answer group_list(std::string_view accept) {
  const std::string version(aggregated_version(accept));
  if (version.empty()) {
    return document(
        JsonObject{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", JsonArray{visibility::group_entry()}}});
  }
  const Json list = JsonObject{{"kind", "APIGroupDiscoveryList"},
                               {"apiVersion", "apidiscovery.k8s.io/" + version},
                               {"metadata", JsonObject()},
                               {"items", JsonArray{visibility::aggregated_entry()}}};
  const std::string type = "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
  return [text = to_string(list), type] { return http::HttpResponse{200, {{"Content-Type", type}}, text}; };
}

// Discovery and OpenAPI documents; null for other paths.
Answer find_document(const http::Target& target, std::string_view accept) {
  const auto& parts = target.segments;
  if (!parts.empty() && parts[0] == "apis") {
    if (parts.size() == 1) return group_list(accept);
    if (parts[1] != visibility::kGroup) return nullptr;
    if (parts.size() == 2) return document(visibility::group_document());
    if (parts.size() == 3 && visibility::serves(parts[2])) return document(visibility::resource_list(parts[2]));
  }
  if (target.path == "/openapi/v2") return document(visibility::openapi_v2());
  if (target.path == "/openapi/v3") return document(openapi_v3_index());
  for (const std::string_view version : visibility::kVersions) {
    if (target.path == "/openapi/v3/" + openapi_path(version)) return document(visibility::openapi_v3(version));
  }
  return nullptr;
}

AccessAttributes access_of(const http::HttpRequest& request, const http::Target& target) {
  AccessAttributes access;
  if (const auto path = visibility::parse_what_if_path(target.segments); path && request.method == "POST") {
    access.verb = "create";
    const auto what = path->ns.empty() ? visibility::kWhatIfs : visibility::kLocalWhatIfs;
    access.resource = {std::string(visibility::kGroup), path->version, std::string(what)};
    access.ns = path->ns;
    return access;
  }
  if (const auto path = visibility::parse_workload_path(target.segments); path && request.method == "GET") {
    access.verb = "get";
    access.resource = {std::string(visibility::kGroup), path->version, "workloads"};
    access.subresource = path->subresource;
    access.ns = target.query.flag("all") ? "" : path->ns;  // "": in all namespaces
    access.name = path->workload;
    return access;
  }
  const auto question = visibility::parse_path(target.segments);
  if (!question || request.method != "GET") {
    // The verb of such a request is its method in lower case.
    for (const char letter : request.method) access.verb += static_cast<char>(letter | 0x20);
    access.path = target.path;
    return access;
  }
  access.verb = "get";
  access.resource = {std::string(visibility::kGroup), question->version,
                     question->ns.empty() ? "clusterqueues" : "localqueues"};
  access.subresource = visibility::kSubresource;
  access.ns = question->ns;
  access.name = question->queue;
  return access;
}

// Paths of probes, which send no credentials.
bool is_health(const http::Target& target) {
  const std::string_view first = target.segments.empty() ? std::string_view() : target.segments[0];
  return first == "healthz" || first == "livez" || first == "readyz";
}

}  // namespace

namespace {

Answer answer_about(const PendingSource& source, const visibility::WorkloadPath& path, const http::Target& target) {
  const auto& report = path.subresource == visibility::kPrediction ? source.prediction : source.explanation;
  auto reported = report(path.ns, path.workload, target.query.flag("all"));
  if (!reported) return refuse(visibility::no_such_workload(path.workload));
  return [path, reported = std::move(*reported), pretty = target.query.flag("pretty")]() mutable {
    const Json out = visibility::encode_answer(path, std::move(reported));
    return json(200, pretty ? to_pretty_string(out) : to_string(out));
  };
}

Answer answer_what_if(const PendingSource& source, visibility::WhatIfPath path, std::string_view body) {
  const auto parsed = parse_json(body);
  if (!parsed) return refuse(api::bad_request(parsed.error().message));
  auto status = source.what_if(*parsed, path.ns);
  if (!status) return refuse(std::move(status.error()));
  return [path = std::move(path), status = std::move(*status)]() mutable {
    return json(201, to_string(visibility::encode_what_if(path, std::move(status))));
  };
}

}  // namespace

Answer answer_visibility(const PendingSource& source, std::string_view method, const http::Target& target,
                         std::string_view body) {
  if (auto path = visibility::parse_what_if_path(target.segments); path && source.what_if)
    return method == "POST" ? answer_what_if(source, std::move(*path), body) : refuse(method_not_allowed());
  if (const auto path = visibility::parse_workload_path(target.segments);
      path && (path->subresource == visibility::kPrediction ? source.prediction : source.explanation))
    return method == "GET" ? answer_about(source, *path, target) : refuse(method_not_allowed());
  const auto question = visibility::parse_path(target.segments);
  if (!question) return nothing_there(target);
  if (method != "GET") return refuse(method_not_allowed());
  const auto page = visibility::parse_page(target.query.get("offset"), target.query.get("limit"));
  if (!page) return refuse(api::bad_request(page.error().message));
  const bool local = !question->ns.empty();
  auto items = local ? source.in_local_queue(question->ns, question->queue, *page)
                     : source.in_cluster_queue(question->queue, *page);
  if (!items) return refuse(visibility::no_such_queue(local ? "localqueues" : "clusterqueues", question->queue));
  return [version = question->version, items = std::move(*items), pretty = target.query.flag("pretty")] {
    const Json summary = visibility::encode_summary(version, items);
    return json(200, pretty ? to_pretty_string(summary) : to_string(summary));
  };
}

VisibilityHandler::VisibilityHandler(PendingSource source, Gate gate, std::vector<HealthCheck> checks)
    : source_(std::move(source)), gate_(std::move(gate)), health_(HealthOptions(), std::move(checks)) {}

std::unique_ptr<http::Handler::Parsed> VisibilityHandler::parse(http::HttpRequest request) const {
  auto parsed = std::make_unique<Request>(std::move(request));
  if (parsed->http.target.size() > http::kMaxTargetBytes) {
    parsed->error = "the request path and query are longer than " + std::to_string(http::kMaxTargetBytes) + " bytes";
  } else if (auto target = http::parse_target(parsed->http.target)) {
    parsed->target = std::move(*target);
  } else {
    parsed->error = target.error().message;
  }
  const bool reads_body = parsed->target && visibility::parse_what_if_path(parsed->target->segments);
  if (!reads_body) parsed->max_body = 0;
  parsed->known = parsed->http.peer.has_value();
  parsed->requests = true;
  return parsed;
}

void VisibilityHandler::admit(Parsed& parsed, std::function<void(Verdict)> done) {
  const auto& request = static_cast<Request&>(parsed);
  if (!request.target || is_health(*request.target)) return done(std::nullopt);  // execute() says what is wrong
  gate_(request.http, access_of(request.http, *request.target), std::move(done));
}

std::unique_ptr<http::Exchange> VisibilityHandler::execute(std::unique_ptr<Parsed> parsed,
                                                           std::shared_ptr<http::ResponseSink> sink) {
  const std::shared_ptr<Request> request(static_cast<Request*>(parsed.release()));
  auto exchange = std::make_unique<Asked>();
  if (!request->target) {
    sink->respond(refuse(api::bad_request(request->error)));
    return exchange;
  }
  if (is_health(*request->target)) return health_.execute(health_.parse(std::move(request->http)), std::move(sink));
  gate_(request->http, access_of(request->http, *request->target),
        exchange->lifetime.guard([this, request, sink](std::optional<http::HttpResponse> refusal) {
          if (refusal) return sink->respond([refusal = std::move(*refusal)] { return refusal; });
          const http::Target& target = *request->target;
          auto found = find_document(target, request->http.header("Accept"));
          if (!found)
            return sink->respond(answer_visibility(source_, request->http.method, target, request->http.body));
          sink->respond(request->http.method == "GET" ? std::move(found) : refuse(method_not_allowed()));
        }));
  return exchange;
}

Result<std::unique_ptr<VisibilityServer>> VisibilityServer::start(SecureServerOptions options, Executor& executor,
                                                                  PendingSource source, DelegatedAuth& auth,
                                                                  std::vector<HealthCheck> checks,
                                                                  CertificateSource& certificates) {
  VisibilityHandler::Gate gate = [&auth](const http::HttpRequest& request, const AccessAttributes& attributes,
                                         auto done) {
    auth.check(request, attributes, [done = std::move(done)](const auto& caller) {
      done(caller ? std::nullopt : std::optional(caller.error()));
    });
  };
  std::unique_ptr<VisibilityServer> out(
      new VisibilityServer(std::make_unique<VisibilityHandler>(std::move(source), std::move(gate), std::move(checks))));
  auto server = SecureServer::start(*out->handler_, executor, certificates, std::move(options));
  if (!server) return fail("visibility: " + server.error().message);
  out->server_ = std::move(*server);
  return out;
}

}  // namespace berth::serve
