#include "embedded/lab/monkeys/kinds.h"

#include <optional>
#include <utility>

namespace berth::lab {
namespace {

constexpr std::string_view kReference = "#/components/schemas/";
constexpr int kMostReferences = 8;  // in a row: bounds cyclic references
constexpr std::string_view kOfNamespace = "namespaces/{namespace}/";

struct CollectionPath {
  api::GroupVersionResource gvr;
  bool namespaced = false;
};

// Parses "/apis/batch/v1/namespaces/{namespace}/jobs" or "/api/v1/nodes"; nothing for other paths.
std::optional<CollectionPath> collection_path(std::string_view path) {
  CollectionPath out;
  const auto word = [&path] {
    const auto slash = path.find('/');
    const std::string found(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    return found;
  };
  if (path.starts_with("/apis/")) {
    path.remove_prefix(6);
    out.gvr.group = word();
  } else if (path.starts_with("/api/")) {
    path.remove_prefix(5);
  } else {
    return std::nullopt;
  }
  out.gvr.version = word();
  out.namespaced = path.starts_with(kOfNamespace);
  if (out.namespaced) path.remove_prefix(kOfNamespace.size());
  if (path.empty() || path.find_first_of("/{") != std::string_view::npos) return std::nullopt;
  out.gvr.resource = path;
  return out;
}

}  // namespace

void MonkeyKinds::read(Json document) {
  const auto shared = std::make_shared<const Json>(std::move(document));
  for (const auto& member : object_at(*shared, {"paths"})) {
    const auto collection = collection_path(member.key());
    const Json& item = member.value();
    if (!collection || berth::find(item, "get") == nullptr || berth::find(item, "post") == nullptr) continue;
    const Json* body = find_path(item, {"post", "requestBody", "content"});
    const Json* media = body == nullptr ? nullptr : berth::find(*body, "application/json");
    if (media == nullptr && body != nullptr) media = berth::find(*body, "*/*");
    if (media == nullptr || berth::find(*media, "schema") == nullptr) continue;
    MonkeyKind kind;
    kind.gvr = collection->gvr;
    kind.namespaced = collection->namespaced;
    kind.kind = string_at(item, {"post", "x-kubernetes-group-version-kind", "kind"});
    const std::string status = std::string(member.key()) + "/{name}/status";
    kind.has_status = object_at(*shared, {"paths"}).contains(status);
    if (!object_at(*shared, {"paths"}).contains(std::string(member.key()) + "/{name}"))
      continue;  // a review, not an object that is stored
    kind.schema = berth::find(*media, "schema");
    entries_[kind.gvr] = Entry{kind, shared};
  }
}

std::vector<const MonkeyKind*> MonkeyKinds::all() const {
  std::vector<const MonkeyKind*> out;
  for (const auto& [gvr, entry] : entries_) out.push_back(&entry.kind);
  return out;
}

const MonkeyKind* MonkeyKinds::find(std::string_view resource) const {
  const MonkeyKind* found = nullptr;
  for (const auto& [gvr, entry] : entries_) {
    if (resource == (gvr.group.empty() ? gvr.resource : gvr.resource + "." + gvr.group)) found = &entry.kind;
  }
  return found;
}

const MonkeyKind* MonkeyKinds::find(const api::GroupVersionResource& gvr) const {
  const auto it = entries_.find(gvr);
  return it == entries_.end() ? nullptr : &it->second.kind;
}

const Json& MonkeyKinds::resolve(const MonkeyKind& kind, const Json& schema) const {
  const Json* at = &schema;
  for (int i = 0; i < kMostReferences; ++i) {
    const auto& all_of = array_at(*at, {"allOf"});
    if (all_of.size() == 1 && berth::find(*at, "properties") == nullptr) at = &all_of[0];
    const auto reference = string_at(*at, {"$ref"});
    if (!reference.starts_with(kReference)) return *at;
    const auto& schemas = object_at(*entries_.at(kind.gvr).document, {"components", "schemas"});
    const Json* target = schemas.if_contains(reference.substr(kReference.size()));
    if (target == nullptr) return *at;
    at = target;
  }
  return *at;
}

api::RestRequest request_about(const MonkeyKind& kind, const Json& object, api::Verb verb) {
  api::RestRequest request;
  request.verb = verb;
  request.resource = kind.gvr;
  request.ns = string_at(object, {"metadata", "namespace"});
  request.name = string_at(object, {"metadata", "name"});
  return request;
}

}  // namespace berth::lab
