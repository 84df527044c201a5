// The OpenAPI documents for clients: kubectl explain, create and apply, and code generators.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-interface-definition
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::openapi {

// The OpenAPI 3.0 document of one group and version: /openapi/v3/apis/<group>/<version>, /openapi/v3/api/v1.
// `resources` may contain resources of other groups and versions; they are ignored.
Json v3_document(std::string_view group, std::string_view version, std::span<const ResourcePtr> resources);

// "api/v1" or "apis/<group>/<version>".
std::string v3_path(std::string_view group, std::string_view version);

// The document of /openapi/v3: the URL of the document of each group and version. The URL contains a hash of the
// document, so that clients can cache it forever. Builds all documents.
Json v3_index(std::span<const ResourcePtr> resources);

// Adds a document that was built elsewhere to the index.
void add_to_v3_index(std::string_view group, std::string_view version, const Json& document, Json& index);

// The OpenAPI 2.0 document of all resources: /openapi/v2.
Json v2_document(std::span<const ResourcePtr> resources);

// The same document in the binary form that kubectl requests: gnostic's openapi.v2.Document as protobuf, media type
// application/com.github.proto-openapi.spec.v2.v1.0+protobuf.
std::string v2_protobuf(const Json& document);

// The name of a kind's schema: "io.k8s.api.batch.v1.Job", "io.x-k8s.kueue.v1beta2.Workload".
std::string schema_name(const ResourceInfo& resource);

}  // namespace berth::apiserver::openapi
