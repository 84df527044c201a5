#include "embedded/apiserver/http/encode.h"

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/apiserver/http/warnings.h"

namespace berth::apiserver::http {
namespace {

bool is_status(const Json& body) {
  return string_at(body, {"kind"}) == "Status" && string_at(body, {"apiVersion"}) == "v1";
}

// The body in the requested shape. Status objects are not converted.
Json shaped(const Reply& reply) {
  const Json& body = reply.response.body;
  if (!reply.resource || is_status(body)) return body;
  switch (reply.form.shape) {
    case MediaForm::Shape::kTable:
      return to_table(body, *reply.resource, {reply.form.version, reply.include, true}, reply.now);
    case MediaForm::Shape::kMetadata:
      return to_partial_metadata(body, reply.form.version);
    case MediaForm::Shape::kMetadataList:
      return to_partial_metadata_list(body, reply.form.version);
    case MediaForm::Shape::kObject:
    case MediaForm::Shape::kDiscovery:
      return body;
  }
  return body;
}

void add_common_headers(const api::RestResponse& response, HttpResponse& out) {
  for (const std::string& w : bounded_warnings(response.warnings))
    out.headers.push_back({"Warning", warning_header(w)});
  if (const std::int64_t after = int_at(response.body, {"details", "retryAfterSeconds"}); after > 0 && !response.ok()) {
    out.headers.push_back({"Retry-After", std::to_string(after)});
  }
  out.headers.push_back({"Cache-Control", "no-cache, private"});
}

}  // namespace

std::string to_bytes(const Json& document, const MediaForm& form) {
  if (form.syntax == MediaForm::Syntax::kYaml) return to_yaml(document);
  std::string text = form.pretty ? to_pretty_string(document) : to_string(document);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

HttpResponse encode(const Reply& reply) {
  HttpResponse out;
  out.status = reply.response.code;
  out.headers = reply.headers;
  out.headers.push_back({"Content-Type", content_type(reply.form)});
  const bool as_is = !reply.resource || reply.form.shape == MediaForm::Shape::kObject;
  out.body = to_bytes(as_is ? reply.response.body : shaped(reply), reply.form);
  add_common_headers(reply.response, out);
  return out;
}

HttpResponse encode_document(const api::RestResponse& response, const MediaForm& form) {
  HttpResponse out;
  out.status = response.code;
  out.headers.push_back({"Content-Type", content_type(form)});
  out.body = to_bytes(response.body, form);
  add_common_headers(response, out);
  return out;
}

}  // namespace berth::apiserver::http
