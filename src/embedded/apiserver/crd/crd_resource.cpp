// The resource customresourcedefinitions.apiextensions.k8s.io.
#include "base/text.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/crd/internal.h"

namespace berth::apiserver {
namespace {

void set_if_empty(Json& crd, std::initializer_list<std::string_view> path, std::string value) {
  if (string_at(crd, path).empty()) ensure_path(crd, path) = std::move(value);
}

void fill_spec(Json& crd) {
  const std::string kind(string_at(crd, {"spec", "names", "kind"}));
  if (!kind.empty()) {
    set_if_empty(crd, {"spec", "names", "singular"}, to_lower(kind));
    set_if_empty(crd, {"spec", "names", "listKind"}, kind + "List");
  }
  // preserveUnknownFields can no longer be true in v1; typed encoders omit false.
  if (!bool_at(crd, {"spec", "preserveUnknownFields"})) erase_path(crd, {"spec", "preserveUnknownFields"});
  Json* versions = crd.is_object() && find_path(crd, {"spec", "versions"}) != nullptr
                       ? &ensure_path(crd, {"spec", "versions"})
                       : nullptr;
  if (versions == nullptr || !versions->is_array()) return;
  for (Json& version : versions->get_array()) {
    if (find_path(version, {"schema", "openAPIV3Schema"}) != nullptr) {
      drop_unknown_keywords(ensure_path(version, {"schema", "openAPIV3Schema"}));
    }
  }
}

// Adds the storage version to status.storedVersions: objects may be stored in it from now on.
void note_storage_version(Json& crd) {
  for (const Json& version : array_at(crd, {"spec", "versions"})) {
    if (!bool_at(version, {"storage"})) continue;
    Json name(string_at(version, {"name"}));
    for (const Json& stored : array_at(crd, {"status", "storedVersions"})) {
      if (json_equal(stored, name)) return;
    }
    Json& list = ensure_path(crd, {"status", "storedVersions"});
    if (!list.is_array()) list = JsonArray();
    list.get_array().push_back(std::move(name));
    return;
  }
}

// The stored form of an empty object.
Json zero() {
  const Json names = JsonObject{{"plural", ""}, {"kind", ""}};
  return JsonObject{
      {"spec", JsonObject{{"group", ""}, {"names", names}, {"scope", ""}, {"versions", nullptr}}},
      {"status", JsonObject{{"conditions", nullptr}, {"acceptedNames", names}, {"storedVersions", nullptr}}}};
}

Result<void> decode(Json& crd) {
  fill_spec(crd);
  return decode_conversion(crd);
}

void prepare_create(Json& crd, const Lookup&) {
  ensure_path(crd, {"status"}) = zero().at("status");
  note_storage_version(crd);
}

void prepare_update(Json& crd, const Json&, std::string_view subresource, const Lookup&) {
  if (subresource.empty()) note_storage_version(crd);
}

ResourcePtr make() {
  auto crd = std::make_shared<ResourceInfo>();
  crd->gvr = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  crd->kind = "CustomResourceDefinition";
  crd->list_kind = "CustomResourceDefinitionList";
  crd->singular = "customresourcedefinition";
  crd->short_names = {"crd", "crds"};
  crd->categories = {"api-extensions"};
  crd->namespaced = false;
  crd->has_status = true;
  crd->storage_version = "v1";
  crd->schema = crd_schema();
  crd->zero = zero();
  crd->strategy.decode = decode;
  PrinterColumn created;
  created.name = "Created At";
  created.type = "date";
  created.description = "When the definition was created.";
  created.json_path = ".metadata.creationTimestamp";
  crd->columns = {created};
  crd->strategy.prepare_create = prepare_create;
  crd->strategy.prepare_update = prepare_update;
  crd->strategy.validate = [](const Json& object, const Lookup&) { return validate_crd(object); };
  crd->strategy.validate_update = [](const Json& object, const Json& old, std::string_view subresource) {
    return subresource.empty() ? validate_crd_update(object, old) : api::FieldErrors();
  };
  return crd;
}

}  // namespace

ResourcePtr crd_resource() {
  static const ResourcePtr kResource = make();
  return kResource;
}

}  // namespace berth::apiserver
