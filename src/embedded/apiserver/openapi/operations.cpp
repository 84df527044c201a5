// The paths of OpenAPI documents and their operations.
#include <algorithm>
#include <array>

#include "embedded/apiserver/openapi/openapi.h"
#include "embedded/apiserver/openapi/parts.h"

namespace berth::apiserver::openapi {
namespace {

struct Query {
  std::string_view name, type, description;
};
constexpr Query kDryRun = {"dryRun", "string", "All goes through every step but keeps nothing."};
constexpr Query kFieldManager = {"fieldManager", "string", "Who makes the change, for managedFields."};
constexpr Query kFieldValidation = {"fieldValidation", "string",
                                    "What unknown and repeated fields do: Ignore, Warn or Strict."};
constexpr Query kForce = {"force", "boolean", "Whether an apply takes over fields of other managers."};
constexpr Query kResourceVersion = {"resourceVersion", "string", "The state to read: none for the latest, 0 for any."};
constexpr Query kPretty = {"pretty", "string", "Whether the answer is indented."};
constexpr std::array kWrite = {kDryRun, kFieldManager, kFieldValidation};
constexpr std::array kPatch = {kDryRun, kFieldManager, kFieldValidation, kForce};
constexpr std::array kDelete = {
    kDryRun, Query{"gracePeriodSeconds", "integer", "Seconds the object has to end by itself."},
    Query{"orphanDependents", "boolean", "Deprecated; propagationPolicy says the same."},
    Query{"propagationPolicy", "string", "What becomes of objects that depend on this one."}};
constexpr std::array kList = {
    Query{"allowWatchBookmarks", "boolean", "Whether a watch may tell how far it is without a change."},
    Query{"continue", "string", "Where the next part of a list begins, as the part before said."},
    Query{"fieldSelector", "string", "Which objects, by fields."},
    Query{"labelSelector", "string", "Which objects, by labels."},
    Query{"limit", "integer", "Most objects in one answer."},
    kResourceVersion,
    Query{"resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."},
    Query{"sendInitialEvents", "boolean", "Whether a watch begins with the objects that exist."},
    Query{"timeoutSeconds", "integer", "Seconds after which a watch ends."},
    Query{"watch", "boolean", "Whether to go on with changes."}};

// Group names in operation ids: "kueue.x-k8s.io" is KueueXK8sIo for custom resources; for built-in groups such as
// "events.k8s.io" only the first part is used.
std::string camel(std::string_view text, bool first_upper) {
  std::string out;
  bool upper = first_upper;
  for (char c : text) {
    if (c == '.' || c == '-' || c == '/') {
      upper = true;
      continue;
    }
    out.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    upper = false;
  }
  return out;
}

class PathWriter {
 public:
  PathWriter(const ResourceInfo& resource, const Form& form) : resource_(resource), form_(form) {
    const auto& gvr = resource.gvr;
    std::string_view group = gvr.group.empty() ? "core" : std::string_view(gvr.group);
    if (!resource.custom) group = group.substr(0, group.find('.'));
    group_ = camel(group, true);
    tag_ = camel(group, false) + "_" + gvr.version;
    base_ = gvr.group.empty() ? "/api/" + gvr.version : "/apis/" + gvr.group + "/" + gvr.version;
  }

  std::vector<Path> all() {
    std::string collection = base_ + (resource_.namespaced ? "/namespaces/{namespace}/" : "/") + resource_.gvr.resource;
    add_collection(collection);
    if (resource_.namespaced && allows("list")) add_collection_of_all();
    add_object(collection + "/{name}");
    if (resource_.has_status) add_subresource(collection + "/{name}/status", "Status", schema_name(resource_));
    if (resource_.has_scale) add_subresource(collection + "/{name}/scale", "Scale", std::string(kScale));
    return std::move(paths_);
  }

 private:
  bool allows(std::string_view verb) const {
    return resource_.verbs.empty() ||
           std::find(resource_.verbs.begin(), resource_.verbs.end(), verb) != resource_.verbs.end();
  }

  // Examples: "readBatchV1NamespacedJob", "listCoreV1PodForAllNamespaces".
  std::string id(std::string_view verb, std::string_view suffix, bool of_namespace) const {
    return std::string(verb) + group_ + camel(resource_.gvr.version, true) +
           (of_namespace && resource_.namespaced ? "Namespaced" : "") + resource_.kind + std::string(suffix);
  }

  Json schema_of(std::string_view type) const { return JsonObject{{"type", type}, {"uniqueItems", true}}; }

  Json parameter(const Query& query, std::string_view in) const {
    JsonObject out{{"name", query.name}, {"in", in}, {"description", query.description}};
    if (in == "path") out["required"] = true;
    if (form_.v2) {
      out["type"] = query.type;
      out["uniqueItems"] = true;
    } else {
      out["schema"] = schema_of(query.type);
    }
    return Json(std::move(out));
  }

  Json content(const Json& schema, std::initializer_list<std::string_view> types) const {
    JsonObject out;
    for (std::string_view type : types) out[type] = JsonObject{{"schema", schema}};
    return Json(std::move(out));
  }

  Json response(std::string_view description, const Json& schema) const {
    JsonObject out{{"description", description}};
    if (form_.v2) {
      out["schema"] = schema;
    } else {
      out["content"] = content(schema, {"application/json", "application/yaml"});
    }
    return Json(std::move(out));
  }

  struct Sketch {
    std::string_view method, action, description;
    std::string id;
    std::span<const Query> queries;
    Json answer;  // schema of the response
    Json body;    // schema of the request body; null when there is none
    bool body_required = true, created = false, accepted = false;
    std::vector<std::string_view> patch_types = {};  // for patches: the media types of the body
    bool of_scale = false;
  };

  Operation operation(const Sketch& sketch) const {
    JsonObject out{{"tags", JsonArray{tag_}}, {"description", sketch.description}, {"operationId", sketch.id}};
    JsonArray parameters;
    if (form_.v2 && !sketch.body.is_null()) {
      parameters.push_back(
          JsonObject{{"name", "body"}, {"in", "body"}, {"required", sketch.body_required}, {"schema", sketch.body}});
    }
    for (const Query& query : sketch.queries) parameters.push_back(parameter(query, "query"));
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    if (!sketch.body.is_null()) put_body(sketch, out);
    if (form_.v2) out["produces"] = JsonArray{"application/json", "application/yaml"};
    JsonObject responses;
    responses["200"] = response("OK", sketch.answer);
    if (sketch.created) responses["201"] = response("Created", sketch.answer);
    if (sketch.accepted) responses["202"] = response("Accepted", sketch.answer);
    responses["401"] = JsonObject{{"description", "Unauthorized"}};
    out["responses"] = std::move(responses);
    out["x-kubernetes-action"] = sketch.action;
    out["x-kubernetes-group-version-kind"] = kind_of_body(sketch);
    return {std::string(sketch.method), Json(std::move(out))};
  }

  // A Scale has its own kind.
  Json kind_of_body(const Sketch& sketch) const {
    if (sketch.of_scale) {
      return JsonObject{{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}};
    }
    return JsonObject{{"group", resource_.gvr.group}, {"version", resource_.gvr.version}, {"kind", resource_.kind}};
  }

  void put_body(const Sketch& sketch, JsonObject& out) const {
    if (form_.v2) {
      JsonArray types{"*/*"};
      if (!sketch.patch_types.empty()) types = JsonArray(sketch.patch_types.begin(), sketch.patch_types.end());
      out["consumes"] = std::move(types);
      return;
    }
    JsonObject body;
    if (sketch.patch_types.empty()) {
      body["content"] = content(sketch.body, {"application/json", "application/yaml"});
    } else {
      JsonObject types;
      for (std::string_view type : sketch.patch_types) types[type] = JsonObject{{"schema", sketch.body}};
      body["content"] = std::move(types);
    }
    if (sketch.body_required) body["required"] = true;
    out["requestBody"] = std::move(body);
  }

  std::vector<std::string_view> patch_types() const {
    std::vector<std::string_view> out = {"application/apply-patch+yaml", "application/json-patch+json",
                                         "application/merge-patch+json"};
    if (!resource_.custom) out.push_back("application/strategic-merge-patch+json");
    return out;
  }

  Json meta(std::string_view name) const { return form_.reference(std::string(kMeta) + std::string(name)); }
  Json object() const { return form_.reference(schema_name(resource_)); }
  Json list() const { return form_.reference(list_schema_name(resource_)); }

  JsonArray path_parameters(bool with_namespace, bool with_name) const {
    JsonArray out;
    if (with_name) out.push_back(parameter({"name", "string", "Name of the object."}, "path"));
    if (with_namespace) out.push_back(parameter({"namespace", "string", "Namespace of the object."}, "path"));
    out.push_back(parameter(kPretty, "query"));
    return out;
  }

  void add(std::string path, std::vector<Operation> operations, JsonArray parameters) {
    if (!operations.empty()) paths_.push_back({std::move(path), std::move(operations), std::move(parameters)});
  }

  void add_collection(const std::string& path) {
    std::vector<Operation> operations;
    if (allows("list"))
      operations.push_back(
          operation({"get", "list", "Lists or watches objects.", id("list", "", true), kList, list(), nullptr}));
    if (allows("create")) {
      operations.push_back(operation({"post", "post", "Creates an object.", id("create", "", true), kWrite, object(),
                                      object(), true, true, true}));
    }
    if (allows("deletecollection")) {
      operations.push_back(
          operation({"delete", "deletecollection", "Deletes objects.", id("deleteCollection", "", true), kList,
                     meta("Status"), meta("DeleteOptions"), false}));
    }
    add(path, std::move(operations), path_parameters(resource_.namespaced, false));
  }

  void add_collection_of_all() {
    Operation list_all = operation({"get", "list", "Lists or watches objects of all namespaces.",
                                    id("list", "ForAllNamespaces", false), kList, list(), nullptr});
    add(base_ + "/" + resource_.gvr.resource, {std::move(list_all)}, path_parameters(false, false));
  }

  void add_object(const std::string& path) {
    static constexpr std::array kRead = {kResourceVersion};
    std::vector<Operation> operations;
    if (allows("get"))
      operations.push_back(
          operation({"get", "get", "Reads an object.", id("read", "", true), kRead, object(), nullptr}));
    if (allows("update")) {
      operations.push_back(operation(
          {"put", "put", "Replaces an object.", id("replace", "", true), kWrite, object(), object(), true, true}));
    }
    if (allows("delete")) {
      operations.push_back(operation({"delete", "delete", "Deletes an object.", id("delete", "", true), kDelete,
                                      meta("Status"), meta("DeleteOptions"), false, false, true}));
    }
    if (allows("patch")) {
      operations.push_back(operation({"patch", "patch", "Changes parts of an object.", id("patch", "", true), kPatch,
                                      object(), meta("Patch"), true, !resource_.custom, false, patch_types()}));
    }
    add(path, std::move(operations), path_parameters(resource_.namespaced, true));
  }

  void add_subresource(const std::string& path, std::string_view suffix, const std::string& schema) {
    static constexpr std::array kRead = {kResourceVersion};
    const Json body = form_.reference(schema);
    std::vector<Sketch> sketches;
    sketches.push_back({"get", "get", "Reads a part of an object.", id("read", suffix, true), kRead, body, nullptr});
    sketches.push_back(
        {"put", "put", "Replaces a part of an object.", id("replace", suffix, true), kWrite, body, body, true, true});
    sketches.push_back({"patch", "patch", "Changes a part of an object.", id("patch", suffix, true), kPatch, body,
                        meta("Patch"), true, !resource_.custom, false, patch_types()});
    std::vector<Operation> operations;
    for (Sketch& sketch : sketches) {
      sketch.of_scale = suffix == "Scale";
      operations.push_back(operation(sketch));
    }
    add(path, std::move(operations), path_parameters(resource_.namespaced, true));
  }

  const ResourceInfo& resource_;
  Form form_;
  std::string group_, tag_, base_;
  std::vector<Path> paths_;
};

}  // namespace

std::vector<Path> paths_of(const ResourceInfo& resource, const Form& form) { return PathWriter(resource, form).all(); }

}  // namespace berth::apiserver::openapi
