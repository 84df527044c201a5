// Server-side printing: objects as rows of a meta.k8s.io Table, or only their metadata.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

enum class IncludeObject : std::uint8_t { kNone, kMetadata, kObject };
// The value of ?includeObject=; nullopt unless it is "None", "Metadata", "Object" or "".
std::optional<IncludeObject> parse_include_object(std::string_view text);

struct TableOptions {
  std::string version = "v1";  // of meta.k8s.io
  IncludeObject include = IncludeObject::kMetadata;
  bool columns = true;  // false: columnDefinitions is null (later events of a watch)
};

// `body` is an object of the resource, or a list of them.
Json to_table(const Json& body, const ResourceInfo& info, const TableOptions& options, Time now);

Json to_partial_metadata(const Json& object, std::string_view version);     // PartialObjectMetadata
Json to_partial_metadata_list(const Json& list, std::string_view version);  // PartialObjectMetadataList

bool is_list(const Json& body);  // has items and a kind that ends in "List"

// The age of an RFC 3339 time; "<unknown>" for an empty text, "<invalid>" for an invalid one.
std::string human_age(std::string_view time, Time now);

}  // namespace berth::apiserver::http
