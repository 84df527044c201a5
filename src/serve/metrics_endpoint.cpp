#include "serve/metrics_endpoint.h"

#include <utility>

namespace berth::serve {
namespace {

http::HttpResponse page(std::string text) {
  return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, std::move(text)};
}

void respond(const std::shared_ptr<http::ResponseSink>& sink, http::HttpResponse answer) {
  sink->respond([answer = std::move(answer)] { return answer; });
}

void report(const std::shared_ptr<http::ResponseSink>& sink, const MetricsSource& source) {
  source.refresh();
  sink->respond([text = source.text] { return page(text()); });
}

}  // namespace

MetricsHandler::MetricsHandler(MetricsSource source, DelegatedAuth* auth) : source_(std::move(source)), auth_(auth) {}

std::unique_ptr<http::Handler::Parsed> MetricsHandler::parse(http::HttpRequest request) const {
  return http::bodiless(std::move(request));
}

std::unique_ptr<http::Exchange> MetricsHandler::execute(std::unique_ptr<Parsed> parsed,
                                                        std::shared_ptr<http::ResponseSink> sink) {
  const http::HttpRequest& request = parsed->http;
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (path != "/metrics") {
    respond(sink, http::not_found_page());
  } else if (request.method != "GET") {
    respond(sink, http::plain_text(405, "only GET\n"));
  } else if (auth_ == nullptr) {
    report(sink, source_);
  } else {
    AccessAttributes attributes;
    attributes.verb = "get";
    attributes.path = path;
    auth_->check(request, attributes, [source = source_, sink](const auto& caller) {
      if (caller) return report(sink, source);
      respond(sink, caller.error());
    });
  }
  return nullptr;
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(SecureServerOptions options, Executor& executor,
                                                            MetricsSource source, DelegatedAuth* auth,
                                                            CertificateSource& certificates) {
  std::unique_ptr<MetricsServer> out(new MetricsServer(std::make_unique<MetricsHandler>(std::move(source), auth)));
  auto server = SecureServer::start(*out->handler_, executor, certificates, std::move(options));
  if (!server) return fail("metrics: " + server.error().message);
  out->server_ = std::move(*server);
  return out;
}

}  // namespace berth::serve
