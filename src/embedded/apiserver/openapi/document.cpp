// Builds complete OpenAPI documents.
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <set>

#include "embedded/apiserver/openapi/openapi.h"
#include "embedded/apiserver/openapi/parts.h"

namespace berth::apiserver::openapi {
namespace {

Json info() { return JsonObject{{"title", "Berth"}, {"version", "unversioned"}}; }

void add_paths(const ResourceInfo& resource, const Form& form, JsonObject& paths) {
  for (Path& path : paths_of(resource, form)) {
    JsonObject item;
    for (Operation& operation : path.operations) item[operation.method] = std::move(operation.json);
    item["parameters"] = std::move(path.parameters);
    paths[path.path] = std::move(item);
  }
}

void add_schemas(const ResourceInfo& resource, const Form& form, JsonObject& schemas) {
  schemas[schema_name(resource)] = kind_schema(resource, form);
  schemas[list_schema_name(resource)] = list_schema(resource, form);
  if (resource.has_scale) schemas[kScale] = scale_schema(form);
}

std::string hash_of(const Json& document) {
  const std::string text = to_string(document);
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (unsigned char byte : digest) {
    out.push_back(kDigits[byte >> 4U]);
    out.push_back(kDigits[byte & 15U]);
  }
  return out;
}

}  // namespace

std::string v3_path(std::string_view group, std::string_view version) {
  return group.empty() ? "api/" + std::string(version) : "apis/" + std::string(group) + "/" + std::string(version);
}

Json v3_document(std::string_view group, std::string_view version, std::span<const ResourcePtr> resources) {
  const Form form;
  JsonObject paths, schemas = common_schemas(form);
  for (const ResourcePtr& resource : resources) {
    if (resource->gvr.group != group || resource->gvr.version != version) continue;
    add_paths(*resource, form, paths);
    add_schemas(*resource, form, schemas);
  }
  JsonObject out;
  out["openapi"] = "3.0.0";
  out["info"] = info();
  out["paths"] = std::move(paths);
  out["components"] = JsonObject{{"schemas", std::move(schemas)}};
  return Json(std::move(out));
}

Json v3_index(std::span<const ResourcePtr> resources) {
  std::set<std::pair<std::string, std::string>> versions;
  for (const ResourcePtr& resource : resources) versions.emplace(resource->gvr.group, resource->gvr.version);
  Json index = JsonObject{{"paths", JsonObject()}};
  for (const auto& [group, version] : versions)
    add_to_v3_index(group, version, v3_document(group, version, resources), index);
  return index;
}

void add_to_v3_index(std::string_view group, std::string_view version, const Json& document, Json& index) {
  const std::string path = v3_path(group, version);
  const std::string url = "/openapi/v3/" + path + "?hash=" + hash_of(document);
  ensure_path(index, {"paths", path}) = JsonObject{{"serverRelativeURL", url}};
}

Json v2_document(std::span<const ResourcePtr> resources) {
  const Form form{.v2 = true};
  JsonObject paths, definitions = common_schemas(form);
  for (const ResourcePtr& resource : resources) {
    add_paths(*resource, form, paths);
    add_schemas(*resource, form, definitions);
  }
  JsonObject out;
  out["swagger"] = "2.0";
  out["info"] = info();
  out["paths"] = std::move(paths);
  out["definitions"] = std::move(definitions);
  return Json(std::move(out));
}

}  // namespace berth::apiserver::openapi
