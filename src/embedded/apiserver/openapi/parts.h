// Building blocks of the OpenAPI documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::openapi {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kScale = "io.k8s.api.autoscaling.v1.Scale";  // the schema name of the subresource scale

// The location of schemas: "#/components/schemas/" in OpenAPI 3, "#/definitions/" in OpenAPI 2.
struct Form {
  bool v2 = false;
  std::string_view prefix() const { return v2 ? "#/definitions/" : "#/components/schemas/"; }
  Json reference(std::string_view name) const;
};

// The schemas that every group needs, by name: ObjectMeta, Status, DeleteOptions and their parts.
JsonObject common_schemas(const Form& form);

// The schemas of a kind, with references for metadata, and of its list.
Json kind_schema(const ResourceInfo& resource, const Form& form);
Json list_schema(const ResourceInfo& resource, const Form& form);
Json scale_schema(const Form& form);
std::string list_schema_name(const ResourceInfo& resource);

// One operation of a path.
struct Operation {
  std::string method;  // "get", "put", ...
  Json json;
};
// A path of a group and version, its operations, and the parameters that they share.
struct Path {
  std::string path;
  std::vector<Operation> operations;
  JsonArray parameters;
};
std::vector<Path> paths_of(const ResourceInfo& resource, const Form& form);

}  // namespace berth::apiserver::openapi
