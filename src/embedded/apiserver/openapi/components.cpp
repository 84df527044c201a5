// The schemas in OpenAPI documents.
#include <algorithm>

#include "base/assert.h"
#include "base/yaml.h"
#include "embedded/apiserver/openapi/openapi.h"
#include "embedded/apiserver/openapi/parts.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver::openapi {
namespace {

// References are written as schema names: "$ref: Status".
constexpr std::string_view kCommon = R"(
DeleteOptions:
  description: What a deletion requests.
  type: object
  properties:
    apiVersion: {type: string, description: Group and version of this document.}
    kind: {type: string, description: Kind of this document.}
    dryRun: {type: array, items: {type: string}, x-kubernetes-list-type: atomic, description: All goes through every step but keeps nothing.}
    gracePeriodSeconds: {type: integer, format: int64, description: Seconds the object has to end by itself.}
    orphanDependents: {type: boolean, description: Deprecated; propagationPolicy says the same.}
    preconditions: {$ref: Preconditions}
    propagationPolicy: {type: string, description: "What becomes of objects that depend on this one: Orphan, Background or Foreground."}
FieldsV1:
  description: A set of fields as a tree of names.
  type: object
ListMeta:
  description: What all lists have.
  type: object
  properties:
    continue: {type: string, description: Where the next part of the list begins; empty at its end.}
    remainingItemCount: {type: integer, format: int64, description: Objects that are not in this part.}
    resourceVersion: {type: string, description: State of the cluster that the list shows.}
    selfLink: {type: string, description: No longer used.}
Patch:
  description: A change of an object, in one of several forms.
  type: object
Preconditions:
  description: What must be true of an object before it is deleted.
  type: object
  properties:
    resourceVersion: {type: string, description: The version it must have.}
    uid: {type: string, description: The UID it must have.}
Status:
  description: The answer to a request that returns no object.
  type: object
  properties:
    apiVersion: {type: string, description: Group and version of this document.}
    kind: {type: string, description: Kind of this document.}
    metadata: {$ref: ListMeta}
    code: {type: integer, format: int32, description: The HTTP status code.}
    details: {$ref: StatusDetails}
    message: {type: string, description: "What happened, for people."}
    reason: {type: string, description: "What happened, in one word for programs."}
    status: {type: string, description: Success or Failure.}
StatusCause:
  description: One of several causes.
  type: object
  properties:
    field: {type: string, description: The field that caused it.}
    message: {type: string, description: "The cause, for people."}
    reason: {type: string, description: "The cause, in one word for programs."}
StatusDetails:
  description: More about what happened.
  type: object
  properties:
    causes: {type: array, items: {$ref: StatusCause}, x-kubernetes-list-type: atomic, description: The causes.}
    group: {type: string, description: Group of the object.}
    kind: {type: string, description: Kind of the object.}
    name: {type: string, description: Name of the object.}
    retryAfterSeconds: {type: integer, format: int32, description: Seconds to wait before another try.}
    uid: {type: string, description: UID of the object.}
)";

constexpr std::string_view kScaleSource = R"(
description: How many replicas an object wants and has.
type: object
properties:
  apiVersion: {type: string, description: Group and version of this document.}
  kind: {type: string, description: Kind of this document.}
  spec:
    type: object
    description: What is wanted.
    properties:
      replicas: {type: integer, format: int32, description: Replicas that are wanted.}
  status:
    type: object
    description: What is there.
    required: [replicas]
    properties:
      replicas: {type: integer, format: int32, description: Replicas that are there.}
      selector: {type: string, description: Selects the pods of the replicas.}
x-kubernetes-group-version-kind: [{group: autoscaling, kind: Scale, version: v1}]
)";

Json parsed(std::string_view yaml) {
  auto documents = parse_yaml(yaml);
  BERTH_INVARIANT(documents.has_value() && documents->size() == 1);
  return documents->front();
}

const Json& common_source() {
  static const Json kParsed = parsed(kCommon);
  return kParsed;
}

const Json& scale_source() {
  static const Json kParsed = parsed(kScaleSource);
  return kParsed;
}

void resolve(Json& value, const Form& form) {
  if (value.is_object()) {
    JsonObject& members = value.get_object();
    if (const Json* name = members.if_contains("$ref"); name != nullptr && name->is_string()) {
      members["$ref"] = std::string(form.prefix()) + std::string(kMeta) + std::string(view(name->get_string()));
    }
    for (auto& member : members) resolve(member.value(), form);
  } else if (value.is_array()) {
    for (Json& item : value.get_array()) resolve(item, form);
  }
}

// OpenAPI 2 has no nullable, anyOf, oneOf, not or rules; they are dropped, so the schema is less strict.
void simplify_for_v2(Json& value) {
  if (value.is_array()) {
    for (Json& item : value.get_array()) simplify_for_v2(item);
  }
  if (!value.is_object()) return;
  JsonObject& schema = value.get_object();
  const bool mixed = schema.contains("oneOf") || schema.contains("anyOf");
  for (std::string_view key : {"nullable", "anyOf", "oneOf", "not", "x-kubernetes-validations"})
    schema.stable_erase(key);
  if (const Json* number = schema.if_contains("x-kubernetes-int-or-string")) {
    if (number->is_bool()) schema["format"] = "int-or-string";
    schema["type"] = "string";
    schema.stable_erase("pattern");
  } else if (mixed && !schema.contains("type") && !schema.contains("properties")) {
    schema["type"] = "string";  // quantities
  }
  if (schema.contains("x-kubernetes-preserve-unknown-fields")) {
    // OpenAPI 2 clients reject fields that are not listed. With no fields listed they accept all.
    schema.stable_erase("properties");
    schema.stable_erase("required");
  }
  for (std::string_view key : {"items", "additionalProperties"}) {
    if (Json* child = schema.if_contains(key)) simplify_for_v2(*child);
  }
  if (Json* properties = schema.if_contains("properties"); properties != nullptr && properties->is_object()) {
    for (auto& member : properties->get_object()) simplify_for_v2(member.value());
  }
}

Json meta_reference(std::string_view name, std::string_view description, const Form& form) {
  const std::string full = std::string(kMeta) + std::string(name);
  JsonObject out;
  out["description"] = description;
  if (form.v2) {
    out["$ref"] = std::string(form.prefix()) + full;
  } else {
    out["allOf"] = JsonArray{form.reference(full)};
  }
  return Json(std::move(out));
}

Json type_meta(std::string_view description) { return JsonObject{{"description", description}, {"type", "string"}}; }

Json group_version_kind(const ResourceInfo& resource, std::string_view kind) {
  return JsonArray{JsonObject{{"group", resource.gvr.group}, {"kind", kind}, {"version", resource.gvr.version}}};
}

std::string reversed(std::string_view group) {
  std::string out;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    out += (out.empty() ? "" : ".") + std::string(group.substr(dot == std::string_view::npos ? 0 : dot + 1));
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return out;
}

}  // namespace

Json Form::reference(std::string_view name) const {
  return JsonObject{{"$ref", std::string(prefix()) + std::string(name)}};
}

std::string schema_name(const ResourceInfo& resource) {
  const auto& [group, version, plural] = resource.gvr;
  const std::string tail = "." + version + "." + resource.kind;
  if (resource.custom) return reversed(group) + tail;
  if (group == "apiextensions.k8s.io") return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" + tail;
  return "io.k8s.api." + (group.empty() ? "core" : group.substr(0, group.find('.'))) + tail;
}

std::string list_schema_name(const ResourceInfo& resource) { return schema_name(resource) + "List"; }

JsonObject common_schemas(const Form& form) {
  JsonObject out;
  for (const auto& [name, schema] : common_source().get_object()) {
    Json resolved = schema;
    resolve(resolved, form);
    out[std::string(kMeta) + std::string(name)] = std::move(resolved);
  }
  Json meta = to_openapi(*meta_schema());
  Json& owners = ensure_path(meta, {"properties", "ownerReferences", "items"});
  out[std::string(kMeta) + "OwnerReference"] = std::move(owners);
  owners = form.reference(std::string(kMeta) + "OwnerReference");
  Json& managers = ensure_path(meta, {"properties", "managedFields", "items"});
  ensure_path(managers, {"properties", "fieldsV1"}) = meta_reference("FieldsV1", "The fields.", form);
  out[std::string(kMeta) + "ManagedFieldsEntry"] = std::move(managers);
  managers = form.reference(std::string(kMeta) + "ManagedFieldsEntry");
  out[std::string(kMeta) + "ObjectMeta"] = std::move(meta);
  if (form.v2) {
    for (auto& member : out) simplify_for_v2(member.value());
  }
  return out;
}

Json kind_schema(const ResourceInfo& resource, const Form& form) {
  Json out = resource.schema ? to_openapi(*resource.schema) : Json(JsonObject{{"type", "object"}});
  if (form.v2) simplify_for_v2(out);
  Json& properties = ensure_path(out, {"properties"});
  if (!properties.is_object()) properties = JsonObject();
  JsonObject& fields = properties.get_object();
  fields["apiVersion"] = type_meta("Group and version of this representation of the object.");
  fields["kind"] = type_meta("Kind of the object.");
  fields["metadata"] = meta_reference("ObjectMeta", "Name, labels and history of the object.", form);
  out.get_object()["x-kubernetes-group-version-kind"] = group_version_kind(resource, resource.kind);
  return out;
}

Json scale_schema(const Form& form) {
  Json out = scale_source();
  Json& fields = ensure_path(out, {"properties"});
  fields.get_object()["metadata"] = meta_reference("ObjectMeta", "Name, labels and history of the object.", form);
  return out;
}

Json list_schema(const ResourceInfo& resource, const Form& form) {
  JsonObject items{{"description", "The objects."}, {"type", "array"}};
  items["items"] = form.reference(schema_name(resource));
  JsonObject properties;
  properties["apiVersion"] = type_meta("Group and version of this representation of the list.");
  properties["items"] = std::move(items);
  properties["kind"] = type_meta("Kind of the list.");
  properties["metadata"] = meta_reference("ListMeta", "What all lists have.", form);
  JsonObject out;
  out["description"] = resource.list_kind + " is a list of objects of kind " + resource.kind + ".";
  out["type"] = "object";
  out["required"] = JsonArray{"items"};
  out["properties"] = std::move(properties);
  out["x-kubernetes-group-version-kind"] = group_version_kind(resource, resource.list_kind);
  return Json(std::move(out));
}

}  // namespace berth::apiserver::openapi
