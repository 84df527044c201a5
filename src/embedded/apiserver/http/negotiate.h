// Chooses the form of a response: JSON or YAML; the object itself, a Table, or only its metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::apiserver::http {

struct MediaForm {
  enum class Syntax : std::uint8_t { kJson, kYaml };
  enum class Shape : std::uint8_t { kObject, kTable, kMetadata, kMetadataList, kDiscovery };
  Syntax syntax = Syntax::kJson;
  Shape shape = Shape::kObject;
  // Version of the shape's group: "v1" or "v1beta1" of meta.k8s.io, "v2" or "v2beta1" of apidiscovery.k8s.io.
  std::string version;
  bool pretty = false;
  bool operator==(const MediaForm&) const = default;
};

// The forms that an endpoint offers besides plain objects.
struct Offer {
  bool shapes = false;     // Tables and PartialObjectMetadata
  bool discovery = false;  // aggregated discovery
  bool yaml = true;
  bool tables = true;  // Tables too, when `shapes` is true
};

// The best form that the Accept header asks for and the endpoint offers: by q, then by order in the header. Empty
// header: JSON. nullopt: no form fits (406).
std::optional<MediaForm> negotiate(std::string_view accept, const Offer& offer);

std::string content_type(const MediaForm& form);

}  // namespace berth::apiserver::http
