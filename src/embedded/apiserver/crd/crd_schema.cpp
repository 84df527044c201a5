// The schema of CustomResourceDefinition.
// https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/json_members.h"
#include "base/yaml.h"
#include "embedded/apiserver/crd/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kSchema = R"(
description: A kind of object that the API server serves beside its own.
title: CustomResourceDefinition
type: object
required: [spec]
properties:
  apiVersion: {type: string, description: Group and version of this representation of the object.}
  kind: {type: string, description: Kind of the object.}
  metadata: {type: object}
  spec:
    description: What is served and how.
    title: CustomResourceDefinitionSpec
    type: object
    required: [group, names, scope, versions]
    properties:
      group: {type: string, description: API group of the kind.}
      scope: {type: string, description: Whether objects live in namespaces; Cluster or Namespaced.}
      preserveUnknownFields: {type: boolean, description: No longer used; must be false.}
      names:
        description: Names of the kind.
        title: CustomResourceDefinitionNames
        type: object
        required: [kind, plural]
        properties:
          kind: {type: string, description: Name of the kind in documents.}
          listKind: {type: string, description: Name of lists of the kind.}
          plural: {type: string, description: Name in paths.}
          singular: {type: string, description: Name of one object for people.}
          shortNames:
            {type: array, items: {type: string}, description: Short names for people., x-kubernetes-list-type: atomic}
          categories:
            {type: array, items: {type: string}, description: Groups of resources that the kind is listed with., x-kubernetes-list-type: atomic}
      conversion:
        description: How objects are converted between versions.
        title: CustomResourceConversion
        type: object
        required: [strategy]
        properties:
          strategy: {type: string, description: None changes the apiVersion only; Webhook calls a webhook.}
          webhook:
            description: The webhook to ask.
            title: WebhookConversion
            type: object
            required: [conversionReviewVersions]
            properties:
              conversionReviewVersions:
                {type: array, items: {type: string}, description: Versions of the question that it understands., x-kubernetes-list-type: atomic}
              clientConfig:
                description: Where the webhook is.
                title: WebhookClientConfig
                type: object
                properties:
                  url: {type: string, description: Its address.}
                  caBundle: {type: string, format: byte, description: "Authorities for its certificate, as PEM in base64."}
                  service:
                    description: Its service.
                    title: ServiceReference
                    type: object
                    required: [name, namespace]
                    properties:
                      name: {type: string, description: Name of the service.}
                      namespace: {type: string, description: Namespace of the service.}
                      path: {type: string, description: Path of requests.}
                      port: {type: integer, format: int32, description: Port of the service; 443 when left out.}
      versions:
        description: Versions of the kind.
        type: array
        x-kubernetes-list-type: atomic
        items:
          title: CustomResourceDefinitionVersion
          type: object
          required: [name, served, storage]
          properties:
            name: {type: string, description: "Name of the version, such as v1beta2."}
            served: {type: boolean, description: Whether clients can use it.}
            storage: {type: boolean, description: Whether objects are stored in it; true for exactly one.}
            deprecated: {type: boolean, description: Whether clients are warned.}
            deprecationWarning: {type: string, description: Text of the warning.}
            schema:
              description: What objects contain.
              title: CustomResourceValidation
              type: object
              properties:
                openAPIV3Schema:
                  {type: object, x-kubernetes-preserve-unknown-fields: true, description: The schema in OpenAPI v3.}
            subresources:
              description: Subresources besides the object.
              title: CustomResourceSubresources
              type: object
              properties:
                status: {type: object, x-kubernetes-preserve-unknown-fields: true, description: Serves .status apart from the rest.}
                scale:
                  description: Serves a Scale.
                  title: CustomResourceSubresourceScale
                  type: object
                  required: [specReplicasPath, statusReplicasPath]
                  properties:
                    specReplicasPath: {type: string, description: Path of the wanted number.}
                    statusReplicasPath: {type: string, description: Path of the present number.}
                    labelSelectorPath: {type: string, description: Path of a label selector as text.}
            additionalPrinterColumns:
              description: Columns of tables.
              type: array
              x-kubernetes-list-type: atomic
              items:
                title: CustomResourceColumnDefinition
                type: object
                required: [jsonPath, name, type]
                properties:
                  name: {type: string, description: Heading of the column.}
                  type: {type: string, description: Type of the values.}
                  format: {type: string, description: Format of the values.}
                  description: {type: string, description: Meaning of the column.}
                  priority: {type: integer, format: int32, description: Columns above 0 are shown in wide tables only.}
                  jsonPath: {type: string, description: Path of the value.}
            selectableFields:
              description: Fields for field selectors.
              type: array
              x-kubernetes-list-type: atomic
              items:
                title: SelectableField
                type: object
                required: [jsonPath]
                properties:
                  jsonPath: {type: string, description: Path of the field.}
  status:
    description: What became of it.
    title: CustomResourceDefinitionStatus
    type: object
    properties:
      acceptedNames:
        description: Names that are served; they can differ from the wanted ones when those were taken.
        title: CustomResourceDefinitionNames
        type: object
        properties:
          kind: {type: string, description: Name of the kind in documents.}
          listKind: {type: string, description: Name of lists of the kind.}
          plural: {type: string, description: Name in paths.}
          singular: {type: string, description: Name of one object for people.}
          shortNames:
            {type: array, items: {type: string}, description: Short names for people., x-kubernetes-list-type: atomic}
          categories:
            {type: array, items: {type: string}, description: Groups of resources that the kind is listed with., x-kubernetes-list-type: atomic}
      conditions:
        description: State of the definition.
        type: array
        nullable: true
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [type]
        items:
          title: CustomResourceDefinitionCondition
          type: object
          required: [type, status]
          properties:
            type: {type: string, description: "NamesAccepted, Established, Terminating or another."}
            status: {type: string, description: "True, False or Unknown."}
            lastTransitionTime: {type: string, format: date-time, description: When the status last changed.}
            reason: {type: string, description: One word on why.}
            message: {type: string, description: The same for people.}
            observedGeneration: {type: integer, format: int64, description: Generation the condition was computed from.}
      observedGeneration: {type: integer, format: int64, description: Generation the status was computed from.}
      storedVersions:
        description: Versions in which objects are, or were once, stored.
        type: array
        x-kubernetes-list-type: atomic
        items: {type: string}
)";

constexpr std::array<std::string_view, 44> kKeywords = {
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
};

}  // namespace

SchemaPtr crd_schema() {
  static const SchemaPtr kCompiled = [] {
    auto documents = parse_yaml(kSchema);
    BERTH_INVARIANT(documents.has_value() && documents->size() == 1);
    api::FieldErrors errors;
    SchemaPtr schema = compile_schema(documents->front(), "customresourcedefinition", errors);
    BERTH_INVARIANT(errors.empty());
    return schema;
  }();
  return kCompiled;
}

void drop_unknown_keywords(Json& openapi) {
  if (!openapi.is_object()) return;
  JsonObject& schema = openapi.get_object();
  erase_members_if(schema, [](const auto& member) {
    return !std::binary_search(kKeywords.begin(), kKeywords.end(), std::string_view(member.key()));
  });
  for (std::string_view key : {"items", "not", "additionalProperties"}) {
    if (Json* child = schema.if_contains(key)) drop_unknown_keywords(*child);
  }
  if (Json* properties = schema.if_contains("properties"); properties != nullptr && properties->is_object()) {
    for (auto& member : properties->get_object()) drop_unknown_keywords(member.value());
  }
  for (std::string_view key : {"allOf", "anyOf", "oneOf"}) {
    Json* branches = schema.if_contains(key);
    if (branches == nullptr || !branches->is_array()) continue;
    for (Json& branch : branches->get_array()) drop_unknown_keywords(branch);
  }
}

}  // namespace berth::apiserver
