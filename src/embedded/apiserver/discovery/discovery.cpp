#include "embedded/apiserver/discovery/discovery.h"

#include <openssl/sha.h>

#include <algorithm>

#include "api/status.h"
#include "embedded/apiserver/discovery/documents.h"
#include "embedded/apiserver/http/encode.h"
#include "embedded/apiserver/http/negotiate.h"
#include "embedded/apiserver/openapi/openapi.h"

namespace berth::apiserver::discovery {
namespace {

using http::HttpRequest;
using http::HttpResponse;
using http::MediaForm;
using http::Target;

// The media type with which clients request the protobuf form of OpenAPI v2, and the Content-Type of the response.
constexpr std::string_view kOpenApiV2Accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kOpenApiV2Type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

std::string hash_of(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) {
    hex.push_back("0123456789ABCDEF"[byte >> 4]);
    hex.push_back("0123456789ABCDEF"[byte & 15]);
  }
  return hex;
}

HttpResponse not_acceptable() {
  return http::encode_document({406,
                                api::make_status(406, "NotAcceptable",
                                                 "406: Not Acceptable\n\nAvailable representations: application/json, "
                                                 "application/yaml",
                                                 JsonObject{}),
                                {}});
}

std::string syntax_key(const MediaForm& form) {
  return std::string(form.syntax == MediaForm::Syntax::kYaml ? "yaml"
                     : form.pretty                           ? "pretty"
                                                             : "json") +
         (form.shape == MediaForm::Shape::kDiscovery ? form.version : "");
}

std::optional<MediaForm> form_of(const HttpRequest& request, const Target& target, bool aggregated) {
  auto form = http::negotiate(request.header("Accept"), {false, aggregated, true});
  if (form) form->pretty = target.query.flag("pretty");
  return form;
}

}  // namespace

Json version_document() {
  JsonObject out;
  out["major"] = "1";
  out["minor"] = "36";
  out["emulationMajor"] = "1";
  out["emulationMinor"] = "36";
  out["minCompatibilityMajor"] = "1";
  out["minCompatibilityMinor"] = "35";
  out["gitVersion"] = "v1.36.2+berth";
  out["gitCommit"] = "";
  out["gitTreeState"] = "";
  out["buildDate"] = "1970-01-01T00:00:00Z";
  out["goVersion"] = "none";
  out["compiler"] = "g++";
  out["platform"] = "linux/amd64";
  return out;
}

Discovery::Discovery(const Registry& registry, DiscoveryOptions options)
    : registry_(registry), options_(std::move(options)) {}

std::shared_ptr<const Discovery::Document> Discovery::cached(const std::string& key,
                                                             const std::function<std::optional<std::string>()>& make) {
  if (generation_ != registry_.generation()) {
    documents_.clear();
    generation_ = registry_.generation();
  }
  if (const auto it = documents_.find(key); it != documents_.end()) return it->second;
  auto body = make();
  if (!body) return nullptr;  // do not cache unknown names: they would fill the cache
  auto document = std::make_shared<Document>(Document{std::move(*body), ""});
  document->etag = "\"" + hash_of(document->body) + "\"";
  documents_.emplace(key, document);
  return document;
}

std::optional<HttpResponse> Discovery::get(const HttpRequest& request, const Target& target) {
  const auto& parts = target.segments;
  if (parts.empty()) return paths();
  if (parts.size() == 1 && parts[0] == "version") {
    const auto form = form_of(request, target, false);
    return form ? http::encode_document({200, version_document(), {}}, *form) : not_acceptable();
  }
  if (auto health = answer_health(target, options_.checks)) return health;
  if (parts.size() == 1 && parts[0] == "metrics" && options_.metrics) {
    HttpResponse out = http::plain_text(200, options_.metrics());
    out.headers[0].value = "text/plain; version=0.0.4; charset=utf-8";
    return out;
  }
  if (parts[0] == "openapi") return openapi(request, target);
  if (parts[0] == "api" || parts[0] == "apis") return group_document(request, target);
  return std::nullopt;
}

HttpResponse Discovery::paths() {
  const auto document = cached("/", [&]() -> std::optional<std::string> {
    JsonArray all{"/api", "/api/v1", "/apis"};
    for (const GroupVersions& g : served_groups(registry_)) {
      if (g.group.empty()) continue;
      all.emplace_back("/apis/" + g.group);
      for (const std::string& v : g.versions) all.emplace_back("/apis/" + g.group + "/" + v);
    }
    for (const VirtualGroup& g : options_.virtual_groups) {
      all.emplace_back("/apis/" + g.group);
      for (const std::string& v : g.versions) all.emplace_back("/apis/" + g.group + "/" + v);
    }
    for (const char* p : {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
      all.emplace_back(p);
    return http::to_bytes(JsonObject{{"paths", std::move(all)}}, {});
  });
  return {200, {{"Content-Type", "application/json"}}, document->body};
}

HttpResponse Discovery::root_document(const HttpRequest& request, const Target& target, bool core) {
  const auto form = form_of(request, target, true);
  if (!form) return not_acceptable();
  const auto document = cached(target.path + syntax_key(*form), [&]() -> std::optional<std::string> {
    if (form->shape == MediaForm::Shape::kDiscovery) {
      Json list = aggregated_discovery(registry_, core, form->version);
      if (!core) add_to_aggregated(options_.virtual_groups, list);
      return http::to_bytes(list, *form);
    }
    if (core) return http::to_bytes(api_versions(options_.server_address), *form);
    Json list = api_group_list(registry_);
    add_to_group_list(options_.virtual_groups, list);
    return http::to_bytes(list, *form);
  });
  HttpResponse out{200, {{"Content-Type", http::content_type(*form)}, {"Vary", "Accept"}}, ""};
  if (form->shape == MediaForm::Shape::kDiscovery) {
    out.headers.push_back({"ETag", document->etag});
    if (request.header("If-None-Match") == document->etag) {
      out.status = 304;
      return out;
    }
  }
  out.body = document->body;
  return out;
}

// /openapi/v2, /openapi/v3 and single documents of v3: "openapi/v3/apis/batch/v1".
std::optional<HttpResponse> Discovery::openapi(const HttpRequest& request, const Target& target) {
  const auto& parts = target.segments;
  const bool v2 = parts.size() == 2 && parts[1] == "v2";
  if (parts.size() < 2 || (!v2 && parts[1] != "v3")) return std::nullopt;
  const std::string_view accept = request.header("Accept");
  const bool protobuf = v2 && accept.find(kOpenApiV2Accept) != std::string_view::npos;
  if (!protobuf && !http::negotiate(accept, {false, false, false})) return not_acceptable();
  const auto document = cached(target.path + (protobuf ? "#protobuf" : ""), [&]() -> std::optional<std::string> {
    const std::vector<ResourcePtr> all = registry_.all();
    if (v2) {
      Json json = openapi::v2_document(all);
      add_to_openapi_v2(options_.virtual_groups, json);
      return protobuf ? openapi::v2_protobuf(json) : to_string(json);
    }
    if (parts.size() == 2) {
      Json index = openapi::v3_index(all);
      add_to_openapi_v3_index(options_.virtual_groups, index);
      return to_string(index);
    }
    const bool core = parts.size() == 4 && parts[2] == "api";
    if (!core && !(parts.size() == 5 && parts[2] == "apis")) return std::nullopt;
    const auto json = openapi_v3_document(core ? "" : parts[3], parts.back());
    return json ? std::optional(to_string(*json)) : std::nullopt;
  });
  if (!document) return std::nullopt;
  HttpResponse out{200,
                   {{"Content-Type", protobuf ? std::string(kOpenApiV2Type) : "application/json"},
                    {"Vary", "Accept"},
                    {"ETag", document->etag}},
                   ""};
  if (request.header("If-None-Match") == document->etag) {
    out.status = 304;
  } else {
    out.body = document->body;
  }
  return out;
}

std::optional<Json> Discovery::openapi_v3_document(const std::string& group, const std::string& version) const {
  if (const VirtualGroup* other = virtual_group(group))
    return other->serves(version) ? std::optional(other->openapi_v3(version)) : std::nullopt;
  if (!api_resource_list(registry_, group, version)) return std::nullopt;
  return openapi::v3_document(group, version, registry_.all());
}

const VirtualGroup* Discovery::virtual_group(std::string_view group) const {
  const auto it = std::ranges::find(options_.virtual_groups, group, &VirtualGroup::group);
  return it == options_.virtual_groups.end() ? nullptr : &*it;
}

// The document of a group, or of a group and version: "/api/v1", "/apis/batch", "/apis/batch/v1".
std::optional<Json> Discovery::plain_document(const Target& target) const {
  const auto& parts = target.segments;
  if (parts[0] == "api") return api_resource_list(registry_, "", parts[1]);
  const VirtualGroup* other = virtual_group(parts[1]);
  if (parts.size() == 2) return other != nullptr ? discovery::group_document(*other) : api_group(registry_, parts[1]);
  if (other == nullptr) return api_resource_list(registry_, parts[1], parts[2]);
  return other->serves(parts[2]) ? std::optional(other->resources(parts[2])) : std::nullopt;
}

std::optional<HttpResponse> Discovery::group_document(const HttpRequest& request, const Target& target) {
  const auto& parts = target.segments;
  const bool core = parts[0] == "api";
  if (parts.size() == 1) return root_document(request, target, core);
  if (parts.size() > (core ? 2u : 3u)) return std::nullopt;
  const auto form = form_of(request, target, false);
  if (!form) return not_acceptable();
  const auto document = cached(target.path + syntax_key(*form), [&]() -> std::optional<std::string> {
    const auto json = plain_document(target);
    if (!json) return std::nullopt;
    return http::to_bytes(*json, *form);
  });
  if (!document) return std::nullopt;
  return HttpResponse{200, {{"Content-Type", http::content_type(*form)}}, document->body};
}

}  // namespace berth::apiserver::discovery
