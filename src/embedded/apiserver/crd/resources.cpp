// Creates the resources that a CustomResourceDefinition defines.
#include <fmt/format.h>

#include "base/json_path.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/crd/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

std::vector<std::string> strings_at(const Json& value, std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  for (const Json& item : array_at(value, path)) {
    if (item.is_string()) out.emplace_back(view(item.get_string()));
  }
  return out;
}

std::vector<PrinterColumn> columns_of(const Json& version) {
  std::vector<PrinterColumn> out;
  for (const Json& column : array_at(version, {"additionalPrinterColumns"})) {
    PrinterColumn& to = out.emplace_back();
    to.name = string_at(column, {"name"});
    to.type = string_at(column, {"type"});
    to.format = string_at(column, {"format"});
    to.description = string_at(column, {"description"});
    to.json_path = string_at(column, {"jsonPath"});
    to.priority = static_cast<std::int32_t>(int_at(column, {"priority"}));
  }
  if (find(version, "additionalPrinterColumns") == nullptr) {
    PrinterColumn& age = out.emplace_back();
    age.name = "Age";
    age.type = "date";
    age.description = "How long the object has existed.";
    age.json_path = ".metadata.creationTimestamp";
  }
  return out;
}

void read_subresources(const Json& version, ResourceInfo& to) {
  to.has_status = find_path(version, {"subresources", "status"}) != nullptr;
  const Json* scale = find_path(version, {"subresources", "scale"});
  if (scale == nullptr) return;
  to.has_scale = true;
  to.scale_spec_path = string_at(*scale, {"specReplicasPath"});
  to.scale_status_path = string_at(*scale, {"statusReplicasPath"});
  to.scale_selector_path = string_at(*scale, {"labelSelectorPath"});
}

// Field selectors name the fields without the leading dot.
Result<void> read_selectable_fields(const Json& version, Strategy& strategy) {
  std::map<std::string, JsonPath, std::less<>> paths;
  for (const Json& field : array_at(version, {"selectableFields"})) {
    std::string_view text = string_at(field, {"jsonPath"});
    auto path = JsonPath::compile(text);
    if (!path) return tl::unexpected(path.error());
    if (text.starts_with('.')) text.remove_prefix(1);
    strategy.selectable_fields.emplace_back(text);
    paths.emplace(std::string(text), std::move(*path));
  }
  if (paths.empty()) return {};
  strategy.field = [paths = std::move(paths)](const Json& object, std::string_view name) -> std::optional<std::string> {
    auto it = paths.find(name);
    if (it == paths.end()) return std::nullopt;
    const Json* value = it->second.find_first(object);
    if (value == nullptr || value->is_null()) return "";
    return value->is_string() ? std::string(view(value->get_string())) : to_string(*value);
  };
  return {};
}

Result<ResourcePtr> resource_of(const Json& crd, const Json& version, const SchemaPtr& schema) {
  auto to = std::make_shared<ResourceInfo>();
  to->gvr = {std::string(string_at(crd, {"spec", "group"})), std::string(string_at(version, {"name"})),
             std::string(string_at(crd, {"spec", "names", "plural"}))};
  to->kind = string_at(crd, {"spec", "names", "kind"});
  to->list_kind = string_at(crd, {"spec", "names", "listKind"}, to->kind + "List");
  to->singular = string_at(crd, {"spec", "names", "singular"});
  to->short_names = strings_at(crd, {"spec", "names", "shortNames"});
  to->categories = strings_at(crd, {"spec", "names", "categories"});
  to->namespaced = string_at(crd, {"spec", "scope"}) != "Cluster";
  to->columns = columns_of(version);
  to->custom = true;
  to->schema = schema;
  to->strategy.unconditional_update = false;
  read_subresources(version, *to);
  if (auto read = read_selectable_fields(version, to->strategy); !read) return tl::unexpected(read.error());
  for (const Json& other : array_at(crd, {"spec", "versions"})) {
    if (bool_at(other, {"storage"})) to->storage_version = string_at(other, {"name"});
  }
  return to;
}

Json condition(std::string_view type, std::string_view reason, std::string_view message, Time now) {
  return JsonObject{{"type", type},
                    {"status", "True"},
                    {"lastTransitionTime", format_time(now)},
                    {"reason", reason},
                    {"message", message}};
}

}  // namespace

Result<std::vector<ResourcePtr>> resources_of_crd(const Json& crd) {
  std::vector<ResourcePtr> out;
  SchemaPtr shared;
  const bool one_schema = shared_schema(crd) != nullptr;
  for (const Json& version : array_at(crd, {"spec", "versions"})) {
    if (!bool_at(version, {"served"})) continue;
    SchemaPtr schema = shared;
    if (!schema) {
      const Json* document = find_path(version, {"schema", "openAPIV3Schema"});
      api::FieldErrors errors;
      schema = compile_schema(document != nullptr ? *document : Json(JsonObject()), "spec.validation.openAPIV3Schema",
                              errors);
      if (!errors.empty()) {
        return fail(fmt::format("CustomResourceDefinition \"{}\", version {}: {}", string_at(crd, {"metadata", "name"}),
                                string_at(version, {"name"}), api::to_string(errors)));
      }
      if (one_schema) shared = schema;
    }
    auto resource = resource_of(crd, version, schema);
    if (!resource) return tl::unexpected(resource.error());
    out.push_back(std::move(*resource));
  }
  return out;
}

Json established_status(const Json& crd, Time now) {
  JsonObject status;
  status["conditions"] =
      JsonArray{condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
                condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now)};
  const Json* names = find_path(crd, {"spec", "names"});
  status["acceptedNames"] = names != nullptr ? *names : Json(JsonObject());
  JsonArray stored = array_at(crd, {"status", "storedVersions"});
  if (stored.empty()) {
    for (const Json& version : array_at(crd, {"spec", "versions"})) {
      if (bool_at(version, {"storage"})) stored.push_back(Json(string_at(version, {"name"})));
    }
  }
  status["storedVersions"] = std::move(stored);
  return Json(std::move(status));
}

}  // namespace berth::apiserver
