// One served resource: what the generic code must know about a kind, built-in or custom.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/field_error.h"
#include "api/printing/table.h"
#include "api/rest.h"
#include "base/json.h"
#include "base/time.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

using api::PrinterColumn;

class Registry;

// The behaviour of a kind in addition to its schema. Every function may be empty. The functions do no I/O: they look
// up other objects (priority classes, limit ranges, the namespace) through Lookup.
struct Lookup {
  // The stored object, or null. Cheap; the returned pointer stays valid.
  std::function<JsonPtr(const api::GroupVersionResource&, std::string_view ns, std::string_view name)> get;
  std::function<std::vector<JsonPtr>(const api::GroupVersionResource&, std::string_view ns)> list;
};
struct Strategy {
  // Runs first, after check_types, on every object that a client's body or patch produced (create, update, patch; any
  // subresource). Converts members to their stored form (canonical quantities and times, zero values omitted as the
  // kind's codec does) and fills all defaults, also the constant ones. Idempotent. Field ownership is computed from
  // the result, before prepare_*. The error is the last part of a 400 message: `<Kind> in version "<v>" cannot be
  // handled as a <Kind>: <error>`.
  std::function<Result<void>(Json& object)> decode;
  // Runs after decoding and schema defaulting, before validation: fills what depends on other fields or objects,
  // drops what a client must not set (status on create), and normalizes fields that generation depends on. uid, name
  // and creationTimestamp are already set.
  std::function<void(Json& object, const Lookup&)> prepare_create;
  std::function<void(Json& object, const Json& old, std::string_view subresource, const Lookup&)> prepare_update;
  std::function<api::FieldErrors(const Json& object, const Lookup&)> validate;  // create and update
  std::function<api::FieldErrors(const Json& object, const Json& old, std::string_view subresource)> validate_update;
  // Rejections other than field errors (403): unknown priority class, LimitRange, terminating namespace. nullopt:
  // allowed.
  std::function<std::optional<api::RestResponse>(Json& object, const Json* old, const Lookup&)> admit;
  // What validating webhooks would reject; runs after all other validation succeeded. `old` is null on create.
  // nullopt: allowed.
  std::function<std::optional<api::RestResponse>(const Json& object, const Json* old, std::string_view subresource,
                                                 const Lookup&)>
      validating_admission;
  // What validating webhooks would reject for a deletion; the error becomes a 403.
  std::function<Result<void>(const Json& object, const Lookup&)> deletion_admission;
  // What webhooks would warn about when the object is created, or updated itself (no subresource); "" for nothing. The
  // client gets it in a Warning header.
  std::function<std::string(const Json& object, const Json* old, const Lookup&)> admission_warning;
  // Converts an object of any version of the resource to `version`. Empty: versions differ only in apiVersion.
  std::function<Result<void>(Json& object, std::string_view version)> convert;
  // Table cells of kinds whose columns are computed (Pod, Job, Node): one per entry of `columns`, without Name.
  std::function<JsonArray(const Json& object, Time now)> cells;
  // Additional fields for field selectors: nullopt when the field is not supported.
  std::function<std::optional<std::string>(const Json& object, std::string_view field)> field;
  std::vector<std::string> selectable_fields;  // besides metadata.name and metadata.namespace
  bool status_kept_on_create = false;          // true for Node
  // Maintain metadata.generation; false for kinds without it (ConfigMap, Node, Event, ...).
  bool counts_generation = true;
  bool unconditional_update = true;  // allow PUT without resourceVersion; false for custom resources
  bool graceful_delete = false;      // Pod: uses deletionGracePeriodSeconds
  // When the request does not say; batch/v1 Job has the legacy default "Orphan"
  std::string default_propagation = "Background";
};

struct ResourceInfo {
  api::GroupVersionResource gvr;
  std::string kind, list_kind, singular;
  std::vector<std::string> short_names, categories;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  std::string scale_spec_path, scale_status_path, scale_selector_path;
  std::vector<std::string> extra_subresources;  // "binding", "eviction" of pods
  std::vector<std::string> verbs;               // empty: all verbs
  std::vector<PrinterColumn> columns;           // without the column Name
  bool name_in_columns = false;                 // Event: `columns` and `cells` are the whole row, including Name
  // An empty object of the kind, for example {"status": {}}. On create, the fields that differ from it are owned.
  Json zero;
  SchemaPtr schema;             // of the whole object; meta_schema() describes metadata
  bool custom = false;          // defined by a CustomResourceDefinition
  std::string storage_version;  // objects of all versions of the resource are stored in this version
  Strategy strategy;
};
using ResourcePtr = std::shared_ptr<const ResourceInfo>;

}  // namespace berth::apiserver
