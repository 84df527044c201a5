// Validation of CustomResourceDefinitions beyond their schema.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "api/object_condition.h"
#include "base/json_path.h"
#include "base/text.h"
#include "embedded/apiserver/crd/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

constexpr std::string_view kApproval = "api-approved.kubernetes.io";

// Names that appear in URL paths must be RFC 1035 labels.
std::string check_label(std::string_view name) {
  static const re2::RE2 kLabel("[a-z]([-a-z0-9]*[a-z0-9])?");
  if (name.size() <= 63 && re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), kLabel)) return "";
  return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
         "alphabetic character, "
         "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
         "is "
         "'[a-z]([-a-z0-9]*[a-z0-9])?')";
}

class CrdCheck {
 public:
  explicit CrdCheck(const Json& crd) : crd_(crd) {}

  FieldErrors run() {
    check_name();
    check_group();
    check_scope();
    check_versions();
    check_names();
    check_conversion(crd_, errors_);
    check_stored_versions();
    check_approval();
    return std::move(errors_);
  }

 private:
  void add(api::FieldError error) { errors_.push_back(std::move(error)); }
  void invalid(std::string path, std::string_view value, std::string_view detail) {
    if (!detail.empty()) add(api::invalid_value(std::move(path), Json(value), detail));
  }

  std::string_view group() const { return string_at(crd_, {"spec", "group"}); }
  std::string_view plural() const { return string_at(crd_, {"spec", "names", "plural"}); }
  const JsonArray& versions() const { return array_at(crd_, {"spec", "versions"}); }

  void check_name() {
    std::string_view name = string_at(crd_, {"metadata", "name"});
    if (name != fmt::format("{}.{}", plural(), group())) {
      invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    }
  }

  void check_group() {
    if (group().empty()) {
      add(api::required("spec.group", ""));
    } else if (std::string detail = api::check_dns_subdomain(group()); !detail.empty()) {
      invalid("spec.group", group(), detail);
    } else if (group().find('.') == std::string_view::npos) {
      invalid("spec.group", group(), "should be a domain with at least one dot");
    }
  }

  void check_scope() {
    std::string_view scope = string_at(crd_, {"spec", "scope"});
    if (scope.empty()) return add(api::required("spec.scope", ""));
    if (scope != "Cluster" && scope != "Namespaced") {
      add(api::not_supported("spec.scope", Json(scope), {"Cluster", "Namespaced"}));
    }
  }

  void check_versions() {
    const Json* shared = shared_schema(crd_);
    std::set<std::string_view> names;
    int storage = 0;
    for (std::size_t i = 0; i < versions().size(); ++i) {
      const Json& version = versions()[i];
      const std::string path = api::index_path("spec.versions", i);
      std::string_view name = string_at(version, {"name"});
      if (!names.insert(name).second) repeated_name_ = true;
      invalid(api::field_path(path, "name"), name, check_label(name));
      storage += bool_at(version, {"storage"}) ? 1 : 0;
      const Json* schema = find_path(version, {"schema", "openAPIV3Schema"});
      if (schema == nullptr) {
        add(api::required(api::field_path(path, "schema.openAPIV3Schema"), ""));
      } else if (shared == nullptr) {
        compile_schema(*schema, api::field_path(path, "schema.openAPIV3Schema"), errors_);
      }
      check_subresources(version, shared != nullptr && i > 0 ? "" : shared != nullptr ? "spec" : path);
      check_columns(version, path);
      check_selectable_fields(version, path);
    }
    if (repeated_name_) add(api::invalid_value("spec.versions", versions_value(), "must contain unique version names"));
    if (storage != 1) {
      add(api::invalid_value("spec.versions", versions_value(),
                             "must have exactly one version marked as storage version"));
    }
    if (shared != nullptr) compile_schema(*shared, "spec.validation.openAPIV3Schema", errors_);
  }

  // The versions as kube-apiserver prints them, with the field names of its internal type.
  Json versions_value() const {
    JsonArray out;
    for (const Json& version : versions()) {
      out.push_back(JsonObject{{"Name", string_at(version, {"name"})},
                               {"Served", bool_at(version, {"served"})},
                               {"Storage", bool_at(version, {"storage"})},
                               {"Deprecated", bool_at(version, {"deprecated"})},
                               {"DeprecationWarning", nullptr},
                               {"Schema", nullptr},
                               {"Subresources", nullptr},
                               {"AdditionalPrinterColumns", nullptr},
                               {"SelectableFields", nullptr}});
    }
    return Json(std::move(out));
  }

  // `path` is empty when another version has the same subresources: report errors only once.
  void check_subresources(const Json& version, const std::string& path) {
    const Json* scale = find_path(version, {"subresources", "scale"});
    if (scale == nullptr || path.empty()) return;
    const std::string at = api::field_path(path, "subresources.scale");
    check_scale_path(*scale, "specReplicasPath", at, true, {".spec."}, ".spec");
    check_scale_path(*scale, "statusReplicasPath", at, true, {".status."}, ".status");
    check_scale_path(*scale, "labelSelectorPath", at, false, {".spec.", ".status."}, ".status or .spec");
  }

  void check_scale_path(const Json& scale, std::string_view key, const std::string& at, bool needed,
                        std::initializer_list<std::string_view> below, std::string_view names) {
    std::string_view value = string_at(scale, {key});
    if (value.empty()) {
      if (needed) add(api::required(api::field_path(at, key), ""));
      return;
    }
    auto path = JsonPath::compile(value);
    const bool under =
        std::any_of(below.begin(), below.end(), [&](std::string_view prefix) { return value.starts_with(prefix); });
    if (!path || !path->is_plain()) {
      invalid(api::field_path(at, key), value, "must be a simple json path of the form .a.b");
    } else if (!under) {
      invalid(api::field_path(at, key), value, fmt::format("should be a json path under {}", names));
    }
  }

  void check_columns(const Json& version, const std::string& path) {
    const JsonArray& columns = array_at(version, {"additionalPrinterColumns"});
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string at = api::index_path(api::field_path(path, "additionalPrinterColumns"), i);
      if (string_at(columns[i], {"name"}).empty()) add(api::required(api::field_path(at, "name"), ""));
      std::string_view type = string_at(columns[i], {"type"});
      static const std::vector<std::string_view> kTypes = {"boolean", "date", "integer", "number", "string"};
      if (type.empty()) {
        add(api::required(api::field_path(at, "type"), "must be one of boolean,date,integer,number,string"));
      } else if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
        invalid(api::field_path(at, "type"), type, "must be one of boolean,date,integer,number,string");
      }
      std::string_view json_path = string_at(columns[i], {"jsonPath"});
      if (json_path.empty()) {
        add(api::required(api::field_path(at, "jsonPath"), ""));
      } else if (auto compiled = JsonPath::compile(json_path); !compiled) {
        invalid(api::field_path(at, "jsonPath"), json_path, compiled.error().message);
      }
    }
  }

  void check_selectable_fields(const Json& version, const std::string& path) {
    constexpr std::size_t kMost = 8;  // kube-apiserver's limit
    const JsonArray& fields = array_at(version, {"selectableFields"});
    const std::string at = api::field_path(path, "selectableFields");
    if (fields.size() > kMost) add(api::too_many(at, fields.size(), kMost));
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string field = api::field_path(api::index_path(at, i), "jsonPath");
      std::string_view value = string_at(fields[i], {"jsonPath"});
      auto compiled = JsonPath::compile(value);
      if (value.empty()) {
        add(api::required(field, ""));
      } else if (!compiled || !compiled->is_plain() || value.front() != '.') {
        invalid(field, value, "is an invalid path: must be a simple json path of the form .a.b");
      } else if (value.starts_with(".metadata.")) {
        invalid(field, value, "must not point to fields in metadata");
      } else if (!seen.insert(value).second) {
        add(api::duplicate(field, Json(value)));
      } else {
        check_selectable_type(version, *compiled, field, value);
      }
    }
  }

  void check_selectable_type(const Json& version, const JsonPath& path, const std::string& field,
                             std::string_view value) {
    const Json* schema = find_path(version, {"schema", "openAPIV3Schema"});
    for (const std::string& name : path.names()) {
      if (schema != nullptr) schema = find_path(*schema, {"properties", name});
    }
    std::string_view type = schema != nullptr ? string_at(*schema, {"type"}) : std::string_view();
    if (schema == nullptr) {
      invalid(field, value, "is an invalid path: does not refer to a valid field");
    } else if (type != "string" && type != "boolean" && type != "integer") {
      invalid(field, value, "must point to a field of type string, boolean or integer");
    }
  }

  void check_names() {
    const std::string at = "spec.names";
    std::string_view kind = string_at(crd_, {"spec", "names", "kind"});
    std::string_view list_kind = string_at(crd_, {"spec", "names", "listKind"});
    std::string_view singular = string_at(crd_, {"spec", "names", "singular"});
    check_label_at(at + ".plural", plural(), true);
    check_label_at(at + ".singular", singular, false);
    check_kind(at + ".kind", kind);
    check_kind(at + ".listKind", list_kind);
    for (std::string_view list : {"shortNames", "categories"}) {
      const JsonArray& names = array_at(crd_, {"spec", "names", list});
      for (std::size_t i = 0; i < names.size(); ++i) {
        std::string_view name = names[i].is_string() ? view(names[i].get_string()) : std::string_view();
        check_label_at(api::index_path(api::field_path(at, list), i), name, true);
      }
    }
    if (!kind.empty() && kind == list_kind)
      invalid(at + ".listKind", list_kind, "kind and listKind may not be the same");
  }

  void check_label_at(const std::string& path, std::string_view value, bool needed) {
    if (!value.empty()) return invalid(path, value, check_label(value));
    if (needed) add(api::required(path, ""));
  }

  void check_kind(const std::string& path, std::string_view kind) {
    if (kind.empty()) return add(api::required(path, ""));
    std::string detail = check_label(to_lower(kind));
    if (!detail.empty()) invalid(path, kind, "may have mixed case, but should otherwise match: " + detail);
  }

  void check_stored_versions() {
    const JsonArray& stored = array_at(crd_, {"status", "storedVersions"});
    const std::string at = "status.storedVersions";
    if (stored.empty()) return add(api::invalid_value(at, Json(JsonArray()), "must have at least one stored version"));
    std::set<std::string_view> names;
    for (const Json& version : versions()) names.insert(string_at(version, {"name"}));
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const bool known = stored[i].is_string() && names.contains(view(stored[i].get_string()));
      if (!known) add(api::invalid_value(api::index_path(at, i), stored[i], "must appear in spec.versions"));
    }
    std::string_view storage;  // the last one when several versions are marked as storage
    for (const Json& version : versions()) {
      if (bool_at(version, {"storage"})) storage = string_at(version, {"name"});
    }
    const bool has =
        std::any_of(stored.begin(), stored.end(), [&](const Json& name) { return json_equal(name, Json(storage)); });
    if (!storage.empty() && !has)
      add(api::invalid_value(at, Json(stored), fmt::format("must have the storage version {}", storage)));
  }

  void check_approval() {
    if (!group().ends_with(".k8s.io") && !group().ends_with(".kubernetes.io")) return;
    if (!string_at(crd_, {"metadata", "annotations", kApproval}).empty()) return;
    add(api::required(api::key_path("metadata.annotations", kApproval),
                      fmt::format("protected groups must have approval annotation \"{}\", see "
                                  "https://github.com/kubernetes/enhancements/pull/1111",
                                  kApproval)));
  }

  const Json& crd_;
  FieldErrors errors_;
  bool repeated_name_ = false;
};

}  // namespace

const Json* shared_schema(const Json& crd) {
  const Json* shared = nullptr;
  for (const Json& version : array_at(crd, {"spec", "versions"})) {
    const Json* schema = find_path(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr || (shared != nullptr && !json_equal(*shared, *schema))) return nullptr;
    shared = schema;
  }
  return shared;
}

FieldErrors validate_crd(const Json& crd) { return CrdCheck(crd).run(); }

FieldErrors validate_crd_update(const Json& crd, const Json& old) {
  FieldErrors errors;
  auto keep = [&](std::initializer_list<std::string_view> path, std::string field) {
    std::string_view now = string_at(crd, path);
    if (now != string_at(old, path))
      errors.push_back(api::invalid_value(std::move(field), Json(now), "field is immutable"));
  };
  keep({"spec", "group"}, "spec.group");
  keep({"spec", "names", "plural"}, "spec.names.plural");
  if (!api::object_condition_is_true(old, "Established")) return errors;
  keep({"spec", "scope"}, "spec.scope");
  keep({"spec", "names", "kind"}, "spec.names.kind");
  return errors;
}

}  // namespace berth::apiserver
