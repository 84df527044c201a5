#include "kube/rest_path.h"

#include <cctype>
#include <utility>

namespace berth::kube {
namespace {

std::string escape(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

class QueryText {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += (text_.empty() ? '?' : '&');
    text_ += std::string(key) + "=" + escape(value);
  }
  void add_if(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string path_of(const api::RestRequest& r) {
  std::string path = r.resource.group.empty() ? "/api/" : "/apis/" + r.resource.group + "/";
  path += r.resource.version;
  if (!r.ns.empty()) path += "/namespaces/" + escape(r.ns);
  path += "/" + r.resource.resource;
  if (!r.name.empty()) path += "/" + escape(r.name);
  if (!r.subresource.empty()) path += "/" + r.subresource;
  return path;
}

bool writes(api::Verb verb) {
  return verb == api::Verb::kCreate || verb == api::Verb::kUpdate || verb == api::Verb::kPatch;
}

QueryText query_of(const api::RestRequest& r) {
  QueryText query;
  if (writes(r.verb)) {
    query.add_if("fieldManager", r.field_manager);
    if (r.field_validation != api::FieldValidation::kWarn)
      query.add("fieldValidation", r.field_validation == api::FieldValidation::kStrict ? "Strict" : "Ignore");
    if (r.verb == api::Verb::kPatch && r.patch_type == api::PatchType::kApply && r.force) query.add("force", "true");
  }
  if (r.dry_run) query.add("dryRun", "All");
  query.add_if("labelSelector", r.label_selector);
  query.add_if("fieldSelector", r.field_selector);
  query.add_if("resourceVersion", r.resource_version);
  query.add_if("resourceVersionMatch", r.resource_version_match);
  if (r.limit > 0) query.add("limit", std::to_string(r.limit));
  query.add_if("continue", r.continue_token);
  if (r.verb == api::Verb::kWatch) query.add("watch", "true");
  if (r.send_initial_events) query.add("sendInitialEvents", *r.send_initial_events ? "true" : "false");
  if (r.allow_bookmarks) query.add("allowWatchBookmarks", "true");
  if (r.timeout_seconds) query.add("timeoutSeconds", std::to_string(*r.timeout_seconds));
  return query;
}

std::string_view method_of(api::Verb verb) {
  switch (verb) {
    case api::Verb::kCreate:
      return "POST";
    case api::Verb::kUpdate:
      return "PUT";
    case api::Verb::kPatch:
      return "PATCH";
    case api::Verb::kDelete:
    case api::Verb::kDeleteCollection:
      return "DELETE";
    default:
      return "GET";
  }
}

std::string_view content_type_of(const api::RestRequest& r) {
  if (r.verb != api::Verb::kPatch) return "application/json";
  switch (r.patch_type) {
    case api::PatchType::kJson:
      return "application/json-patch+json";
    case api::PatchType::kMerge:
      return "application/merge-patch+json";
    case api::PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case api::PatchType::kApply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return "application/json";
}

// The client knows what it wrote: an answer without it costs the server and the client less. Errors are plain JSON.
std::string_view accept_of(const api::RestRequest& r) {
  if (!r.wants_metadata_only || !writes(r.verb)) return "application/json";
  return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}

HttpRequest to_http_get(std::string target) {
  HttpRequest out;
  out.method = "GET";
  out.target = std::move(target);
  out.headers.emplace_back("Accept", "application/json");
  return out;
}

}  // namespace

HttpRequest to_http(const api::RestRequest& r, const std::string& prefix) {
  if (!r.path.empty()) return to_http_get(prefix + r.path);
  HttpRequest out;
  out.method = method_of(r.verb);
  out.target = prefix + path_of(r) + query_of(r).text();
  out.headers.emplace_back("Accept", accept_of(r));
  if (!r.body.is_null()) {
    out.headers.emplace_back("Content-Type", content_type_of(r));
    out.body = to_string(r.body);
  }
  return out;
}

}  // namespace berth::kube
