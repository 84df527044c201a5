#include "serve/health.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::serve {
namespace {

// Whether the query has the flag with a value other than "false" and "0".
bool has_flag(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    if (part.substr(0, equals) != name) continue;
    const std::string_view value = equals == part.size() ? "" : part.substr(equals + 1);
    return value != "false" && value != "0";
  }
  return false;
}

}  // namespace

HealthHandler::HealthHandler(HealthOptions options, std::vector<HealthCheck> checks)
    : options_(std::move(options)), checks_(std::move(checks)) {
  checks_.insert(checks_.begin(), HealthCheck{"ping", nullptr, false});
}

std::unique_ptr<http::Handler::Parsed> HealthHandler::parse(http::HttpRequest request) const {
  return http::bodiless(std::move(request));
}

std::unique_ptr<http::Exchange> HealthHandler::execute(std::unique_ptr<Parsed> request,
                                                       std::shared_ptr<http::ResponseSink> sink) {
  sink->respond([answer = answer(request->http)] { return answer; });
  return nullptr;
}

http::HttpResponse HealthHandler::answer(const http::HttpRequest& request) const {
  std::string_view path = request.target;
  const std::size_t question = std::min(path.find('?'), path.size());
  const bool verbose = has_flag(path.substr(std::min(question + 1, path.size())), "verbose");
  path = path.substr(0, question);
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string endpoint(path.substr(0, path.find('/')));
  const std::string_view single = path.size() > endpoint.size() ? path.substr(endpoint.size() + 1) : "";
  const bool ready = endpoint == options_.readiness, live = endpoint == options_.liveness || endpoint == "livez";
  if (!ready && !live) return http::not_found_page();
  if (request.method != "GET" && request.method != "HEAD") return http::plain_text(405, "only GET\n");

  std::string lines;
  bool fine = true, found = false;
  for (const HealthCheck& check : checks_) {
    if (single.empty() ? check.readiness_only && !ready : check.name != single) continue;
    found = true;
    const std::string failure = check.failure ? check.failure() : std::string();
    lines += failure.empty() ? "[+]" + check.name + " ok\n" : "[-]" + check.name + " failed: " + failure + "\n";
    fine = fine && failure.empty();
  }
  if (!found) return http::not_found_page();
  if (!fine) return http::plain_text(500, lines + endpoint + " check failed\n");
  return http::plain_text(200, verbose ? lines + endpoint + " check passed\n" : "ok");
}

Result<std::unique_ptr<HealthServer>> HealthServer::start(HealthOptions options, Executor& executor,
                                                          std::vector<HealthCheck> checks) {
  const http::HttpsServerOptions listen{options.address, options.port, 1};
  std::unique_ptr<HealthServer> out(
      new HealthServer(std::make_unique<HealthHandler>(std::move(options), std::move(checks))));
  auto server = http::HttpsServer::start(*out->handler_, executor, nullptr, listen);
  if (!server) return fail("health: " + server.error().message);
  out->server_ = std::move(*server);
  return out;
}

}  // namespace berth::serve
