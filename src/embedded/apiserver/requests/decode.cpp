#include "embedded/apiserver/requests/decode.h"

#include <utility>

#include "api/status.h"
#include "base/text.h"
#include "embedded/apiserver/requests/core.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

// Unknown and duplicate fields that are reported, as in kube-apiserver; and the bytes of each path.
constexpr std::size_t kMaxStrictErrors = 100, kMaxPathBytes = 1024;

bool schema_has_metadata(const ResourceInfo& resource) {
  if (resource.schema == nullptr) return false;
  const auto it = resource.schema->properties.find("metadata");
  return it != resource.schema->properties.end() && it->second != nullptr && !it->second->properties.empty();
}

Result<void> check_all_types(const ResourceInfo& resource, const Json& object) {
  if (!resource.custom && resource.schema != nullptr) {
    if (auto checked = check_types(object, *resource.schema); !checked) return checked;
    if (schema_has_metadata(resource)) return {};
  }
  const Json* metadata = find(object, "metadata");
  return metadata == nullptr || metadata->is_null() ? Result<void>{} : check_types(*metadata, *meta_schema());
}

// prune() of a root leaves metadata alone, so metadata is pruned with its own schema.
std::vector<std::string> prune_all(const ResourceInfo& resource, Json& object) {
  std::vector<std::string> unknown;
  if (Json* metadata = object.as_object().if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    prune(*metadata, *meta_schema(), false, &unknown);
    for (std::string& path : unknown) path.insert(0, "metadata.");
  }
  if (resource.schema != nullptr) prune(object, *resource.schema, true, &unknown);
  return unknown;
}

}  // namespace

tl::expected<void, api::RestResponse> check_type(const ResourceInfo& resource, Json& object) {
  const std::string kind(string_at(object, {"kind"}));
  const std::string version(string_at(object, {"apiVersion"}));
  const std::string wanted = api_version_of(resource);
  if (resource.custom) {
    if (kind.empty()) {
      return tl::unexpected(api::bad_request("Object 'Kind' is missing in '" + to_string(object) + "'"));
    }
    if (version != wanted) {
      return tl::unexpected(api::bad_request("the API version in the data (" + version +
                                             ") does not match the expected API version (" + wanted + ")"));
    }
    if (kind != resource.kind) {
      return tl::unexpected(api::invalid(resource.gvr.group, resource.kind, string_at(object, {"metadata", "name"}),
                                         {api::invalid_value("kind", Json(kind), "must be " + resource.kind)}));
    }
    return {};
  }
  if (!version.empty() && version != wanted) {
    const std::string shown = kind.empty() ? resource.kind : kind;
    return tl::unexpected(api::bad_request(shown + " in version \"" + version + "\" cannot be handled as a " +
                                           resource.kind + ": no kind \"" + shown + "\" is registered for version \"" +
                                           version +
                                           "\" in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""));
  }
  if (!kind.empty() && kind != resource.kind) {
    const std::string internal =
        resource.gvr.group.empty() ? "core" : resource.gvr.group.substr(0, resource.gvr.group.find('.'));
    return tl::unexpected(api::bad_request(kind + " in version \"" + resource.gvr.version +
                                           "\" cannot be handled as a " + resource.kind + ": converting (" +
                                           resource.gvr.version + "." + kind + ") to (" + internal + "." +
                                           resource.kind + "): unknown conversion"));
  }
  object.as_object()["kind"] = resource.kind;
  object.as_object()["apiVersion"] = wanted;
  return {};
}

Result<void> decode_object(const ResourceInfo& resource, Json& object, api::FieldValidation validation,
                           const std::vector<std::string>& duplicates, std::vector<std::string>& warnings) {
  if (auto checked = check_all_types(resource, object); !checked) return checked;

  const std::vector<std::string> unknown = prune_all(resource, object);
  if (validation != api::FieldValidation::kIgnore && !(unknown.empty() && duplicates.empty())) {
    std::vector<std::string> texts;
    const auto report = [&](std::string_view what, std::string_view path) {
      if (texts.size() < kMaxStrictErrors) texts.push_back(std::string(what) + " field \"" + std::string(path) + "\"");
    };
    for (const std::string& path : duplicates) report("duplicate", path);
    for (const std::string& path : unknown) report("unknown", cut_text(path, kMaxPathBytes));
    if (validation == api::FieldValidation::kStrict) {
      std::string all;
      for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
      return fail("strict decoding error: " + all);
    }
    warnings.insert(warnings.end(), texts.begin(), texts.end());
  }

  normalize_metadata(object);
  if (resource.strategy.decode) {
    if (auto decoded = resource.strategy.decode(object); !decoded) return decoded;
  } else if (resource.schema != nullptr) {
    apply_defaults(object, *resource.schema);
  }
  return {};
}

api::RestResponse cannot_be_handled(const ResourceInfo& resource, std::string_view error) {
  return api::bad_request(resource.kind + " in version \"" + resource.gvr.version + "\" cannot be handled as a " +
                          resource.kind + ": " + std::string(error));
}

}  // namespace berth::apiserver
