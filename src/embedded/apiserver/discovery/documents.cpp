#include "embedded/apiserver/discovery/documents.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "embedded/apiserver/builtin/schema_loader.h"
#include "embedded/apiserver/http/reviews.h"

namespace berth::apiserver::discovery {
namespace {

constexpr std::string_view kBuiltInVerbs[] = {"create", "delete", "deletecollection", "get",
                                              "list",   "patch",  "update",           "watch"};
constexpr std::string_view kCustomVerbs[] = {"delete", "deletecollection", "get",    "list",
                                             "patch",  "create",           "update", "watch"};

// One entry of a resource list. A subresource can have a different kind than its resource.
struct Entry {
  std::string name;  // "pods", or "status" for a subresource
  std::string singular;
  std::string group, version,
      kind;  // kind of the request and response body; group and version only where they differ from the resource's
  std::vector<std::string> verbs;
};

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

Json texts(const std::vector<std::string>& values) {
  JsonArray array;
  for (const std::string& v : values) array.emplace_back(v);
  return array;
}

std::vector<std::string> verbs_of(const ResourceInfo& info) {
  if (!info.verbs.empty()) return info.verbs;
  if (info.custom) return {std::begin(kCustomVerbs), std::end(kCustomVerbs)};
  return {std::begin(kBuiltInVerbs), std::end(kBuiltInVerbs)};
}

Entry extra_subresource(const ResourceInfo& info, const std::string& name) {
  if (name == "binding") return {name, "", "", "", "Binding", {"create"}};
  if (name == "eviction") return {name, "", "policy", "v1", "Eviction", {"create"}};
  if (name == "token") return {name, "", "authentication.k8s.io", "v1", "TokenRequest", {"create"}};
  if (name == "finalize") return {name, "", "", "", info.kind, {"update"}};
  return {name, "", "", "", info.kind, {"get", "patch", "update"}};
}

// Built-in kinds list subresources by name; custom kinds list status before scale.
std::vector<Entry> subresources_of(const ResourceInfo& info) {
  std::vector<Entry> all;
  for (const std::string& name : info.extra_subresources) all.push_back(extra_subresource(info, name));
  if (info.has_status) all.push_back({"status", "", "", "", info.kind, {"get", "patch", "update"}});
  if (info.has_scale) all.push_back({"scale", "", "autoscaling", "v1", "Scale", {"get", "patch", "update"}});
  if (!info.custom) std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return all;
}

// Clients compare it to learn that two resources share their storage: eight bytes of a hash, as in kube-apiserver.
std::string storage_hash(const ResourceInfo& info) {
  const std::string text =
      info.gvr.group + "/" + (info.storage_version.empty() ? info.gvr.version : info.storage_version) + "/" + info.kind;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  unsigned char encoded[16];
  const int length = EVP_EncodeBlock(encoded, digest, 8);
  return {reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length)};
}

Json plain_entry(const Entry& e, bool namespaced) {
  JsonObject out;
  out["name"] = e.name;
  out["singularName"] = e.singular;
  out["namespaced"] = namespaced;
  if (!e.version.empty()) {
    out["group"] = e.group;
    out["version"] = e.version;
  }
  out["kind"] = e.kind;
  out["verbs"] = texts(e.verbs);
  return out;
}

void add_plain(const ResourceInfo& info, JsonArray& resources) {
  Json main = plain_entry({info.gvr.resource, info.singular, "", "", info.kind, verbs_of(info)}, info.namespaced);
  JsonObject& object = main.get_object();
  if (!info.short_names.empty()) object["shortNames"] = texts(info.short_names);
  if (!info.categories.empty()) object["categories"] = texts(info.categories);
  object["storageVersionHash"] = storage_hash(info);
  resources.push_back(std::move(main));
  for (Entry e : subresources_of(info)) {
    e.name = info.gvr.resource + "/" + e.name;
    resources.push_back(plain_entry(e, info.namespaced));
  }
}

// Built-in kinds leave the group and version of their own kind empty; clients take them from the document.
Json response_kind(const Entry& e, const ResourceInfo& info) {
  const bool own = e.version.empty();
  const bool reported = info.custom || !own;
  return JsonObject{{"group", reported ? (own ? info.gvr.group : e.group) : ""},
                    {"version", reported ? (own ? info.gvr.version : e.version) : ""},
                    {"kind", e.kind}};
}

Json aggregated_entry(const ResourceInfo& info) {
  const Entry main{info.gvr.resource, info.singular, "", "", info.kind, verbs_of(info)};
  JsonObject out;
  out["resource"] = main.name;
  out["responseKind"] = response_kind(main, info);
  out["scope"] = info.namespaced ? "Namespaced" : "Cluster";
  out["singularResource"] = main.singular;
  out["verbs"] = texts(main.verbs);
  if (!info.short_names.empty()) out["shortNames"] = texts(info.short_names);
  if (!info.categories.empty()) out["categories"] = texts(info.categories);
  JsonArray subresources;
  for (const Entry& e : subresources_of(info)) {
    subresources.push_back(
        JsonObject{{"subresource", e.name}, {"responseKind", response_kind(e, info)}, {"verbs", texts(e.verbs)}});
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

// The review kinds as resources, so that discovery lists them with the stored ones.
std::vector<ResourcePtr> review_resources() {
  std::vector<ResourcePtr> all;
  for (const http::ReviewKind& k : http::review_kinds()) {
    auto info = std::make_shared<ResourceInfo>();
    info->gvr = {std::string(k.group), "v1", std::string(k.resource)};
    info->kind = k.kind;
    info->singular = k.singular;
    info->namespaced = k.namespaced;
    info->verbs = {"create"};
    info->schema = builtin_kind_schema(k.kind);
    all.push_back(std::move(info));
  }
  return all;
}

std::vector<ResourcePtr> all_resources(const Registry& registry) {
  static const std::vector<ResourcePtr> reviews = review_resources();
  std::vector<ResourcePtr> all = registry.all();
  for (const ResourcePtr& r : reviews) {
    if (!registry.find(r->gvr)) all.push_back(r);
  }
  return all;
}

Json group_versions(const GroupVersions& g) {
  JsonArray versions;
  for (const std::string& v : g.versions) {
    versions.push_back(JsonObject{{"groupVersion", group_version(g.group, v)}, {"version", v}});
  }
  JsonObject out;
  out["name"] = g.group;
  out["preferredVersion"] = versions.front();
  out["versions"] = std::move(versions);
  return out;
}

struct ParsedVersion {
  int rank = 3;  // 0 stable, 1 beta, 2 alpha, 3 anything else
  int major = 0, minor = 0;
};

ParsedVersion parse_version(std::string_view text) {
  ParsedVersion v;
  if (text.empty() || text.front() != 'v') return v;
  const char* at = text.data() + 1;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(at, end, v.major);
  if (parsed.ec != std::errc()) return v;
  const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (rest.empty()) return {0, v.major, 0};
  for (const auto& [stage, rank] : {std::pair<std::string_view, int>{"beta", 1}, {"alpha", 2}}) {
    if (!rest.starts_with(stage)) continue;
    const std::string_view digits = rest.substr(stage.size());
    parsed = std::from_chars(digits.data(), digits.data() + digits.size(), v.minor);
    if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return {rank, v.major, v.minor};
  }
  return {3, 0, 0};
}

}  // namespace

bool version_before(std::string_view a, std::string_view b) {
  const ParsedVersion x = parse_version(a), y = parse_version(b);
  if (x.rank == 3 && y.rank == 3) return a < b;
  return std::tuple(x.rank, -x.major, -x.minor, a) < std::tuple(y.rank, -y.major, -y.minor, b);
}

std::vector<GroupVersions> served_groups(const Registry& registry) {
  std::map<std::string, GroupVersions> by_name;
  for (const ResourcePtr& r : all_resources(registry)) {
    GroupVersions& g = by_name[r->gvr.group];
    g.group = r->gvr.group;
    g.custom = g.custom && r->custom;
    if (std::find(g.versions.begin(), g.versions.end(), r->gvr.version) == g.versions.end()) {
      g.versions.push_back(r->gvr.version);
    }
  }
  std::vector<GroupVersions> groups;
  for (auto& [name, g] : by_name) {
    std::sort(g.versions.begin(), g.versions.end(), version_before);
    groups.push_back(std::move(g));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const GroupVersions& a, const GroupVersions& b) { return a.custom < b.custom; });
  return groups;
}

Json api_versions(std::string_view server_address) {
  JsonObject out;
  out["kind"] = "APIVersions";
  out["versions"] = JsonArray{"v1"};
  out["serverAddressByClientCIDRs"] =
      JsonArray{JsonObject{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}};
  return out;
}

Json api_group_list(const Registry& registry) {
  JsonArray groups;
  for (const GroupVersions& g : served_groups(registry)) {
    if (!g.group.empty()) groups.push_back(group_versions(g));
  }
  JsonObject out;
  out["kind"] = "APIGroupList";
  out["apiVersion"] = "v1";
  out["groups"] = std::move(groups);
  return out;
}

std::optional<Json> api_group(const Registry& registry, std::string_view group) {
  for (const GroupVersions& g : served_groups(registry)) {
    if (g.group != group || group.empty()) continue;
    JsonObject out;
    out["kind"] = "APIGroup";
    out["apiVersion"] = "v1";
    const Json versions = group_versions(g);
    for (const auto& [key, value] : versions.get_object()) out[key] = value;
    return out;
  }
  return std::nullopt;
}

std::optional<Json> api_resource_list(const Registry& registry, std::string_view group, std::string_view version) {
  JsonArray resources;
  for (const ResourcePtr& r : all_resources(registry)) {
    if (r->gvr.group == group && r->gvr.version == version) add_plain(*r, resources);
  }
  if (resources.empty()) return std::nullopt;
  JsonObject out;
  out["kind"] = "APIResourceList";
  if (!group.empty()) out["apiVersion"] = "v1";
  out["groupVersion"] = group_version(group, version);
  out["resources"] = std::move(resources);
  return out;
}

Json aggregated_discovery(const Registry& registry, bool core, std::string_view version) {
  const std::vector<ResourcePtr> all = all_resources(registry);
  JsonArray items;
  for (const GroupVersions& g : served_groups(registry)) {
    if (g.group.empty() != core) continue;
    JsonArray versions;
    for (const std::string& v : g.versions) {
      JsonArray resources;
      for (const ResourcePtr& r : all) {
        if (r->gvr.group == g.group && r->gvr.version == v) resources.push_back(aggregated_entry(*r));
      }
      versions.push_back(JsonObject{{"version", v}, {"resources", std::move(resources)}, {"freshness", "Current"}});
    }
    JsonObject metadata;
    if (!g.group.empty()) metadata["name"] = g.group;
    items.push_back(JsonObject{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
  }
  JsonObject out;
  out["kind"] = "APIGroupDiscoveryList";
  out["apiVersion"] = "apidiscovery.k8s.io/" + std::string(version);
  out["metadata"] = JsonObject{};
  out["items"] = std::move(items);
  return out;
}

}  // namespace berth::apiserver::discovery
