// One served resource: what the generic machinery must know of a kind, built-in or custom.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/field_error.h"
#include "api/rest.h"
#include "apiserver/schema/schema.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::apiserver {

struct PrinterColumn {
  std::string name, type, format, description, json_path;  // json_path without braces: ".status.conditions[0].type"
  std::int32_t priority = 0;
};

class Registry;

// What a kind does besides its schema. Every function may be empty. They never do I/O: what they need to look up
// (priority classes, limit ranges, the namespace) comes through Lookup.
struct Lookup {
  // The stored object or null. Cheap; the pointer stays valid.
  std::function<JsonPtr(const api::GroupVersionResource&, std::string_view ns, std::string_view name)> get;
  std::function<std::vector<JsonPtr>(const api::GroupVersionResource&, std::string_view ns)> list;
};
struct Strategy {
  // First of all, on every object that a client's bytes or a patch made (create, update, patch; any subresource), after
  // check_types: brings members into the form they are stored in (canonical quantities and times, zero values left out as
  // the kind's codec does), fills all defaults, constant ones too. Idempotent. Field ownership is computed on its result,
  // before prepare_*. The error is the tail of a 400: `<Kind> in version "<v>" cannot be handled as a <Kind>: <error>`.
  std::function<Result<void>(Json& object)> decode;
  // After decoding and schema defaults, before validation: fills what depends on other fields or objects, drops what a
  // client must not set (status on create), computes generation-relevant normal forms. uid, name and creationTimestamp are set.
  std::function<void(Json& object, const Lookup&)> prepare_create;
  std::function<void(Json& object, const Json& old, std::string_view subresource, const Lookup&)> prepare_update;
  std::function<api::FieldErrors(const Json& object, const Lookup&)> validate;  // create and update
  std::function<api::FieldErrors(const Json& object, const Json& old, std::string_view subresource)> validate_update;
  // Refusals that are no field errors (403): unknown priority class, LimitRange, terminating namespace. Empty: allowed.
  std::function<std::optional<api::RestResponse>(Json& object, const Json* old, const Lookup&)> admit;
  // What validating webhooks would refuse, after everything else was found valid. `old` is null on creation.
  // Empty: allowed.
  std::function<std::optional<api::RestResponse>(const Json& object, const Json* old,
                                                 std::string_view subresource, const Lookup&)>
      validating_admission;
  // What validating webhooks would say of a deletion; the error becomes a 403.
  std::function<Result<void>(const Json& object, const Lookup&)> deletion_admission;
  // Makes an object of one version of the resource one of `version`. Empty: versions differ in apiVersion alone.
  std::function<Result<void>(Json& object, std::string_view version)> convert;
  // Rows of Tables for kinds whose columns are computed (Pod, Job, Node); same length as `columns` after Name.
  std::function<JsonArray(const Json& object, Time now)> cells;
  // Extra field labels for selectors: nullopt when the field is not supported.
  std::function<std::optional<std::string>(const Json& object, std::string_view field)> field;
  std::vector<std::string> selectable_fields;  // besides metadata.name and metadata.namespace
  bool status_kept_on_create = false;          // Node
  bool counts_generation = true;               // metadata.generation; false: the kind has none (ConfigMap, Node, Event, ...)
  bool unconditional_update = true;            // PUT without resourceVersion; false for custom resources
  bool graceful_delete = false;                // Pod: deletionGracePeriodSeconds
  std::string default_propagation = "Background";  // batch/v1 Job over its own version: "Orphan" is legacy; see conformance
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
  std::vector<std::string> verbs;               // empty: all
  std::vector<PrinterColumn> columns;           // without Name
  bool name_in_columns = false;                 // Event: `columns` and `cells` are the whole row, Name is among them
  // What an empty object of the kind looks like, e.g. {"status": {}}. Field ownership of a create is what differs from it.
  Json zero;
  SchemaPtr schema;                             // of the whole object; metadata is described by meta_schema()
  bool custom = false;                          // from a CustomResourceDefinition
  std::string storage_version;                  // objects of all versions of one resource share their storage
  Strategy strategy;
};
using ResourcePtr = std::shared_ptr<const ResourceInfo>;

}  // namespace berth::apiserver
