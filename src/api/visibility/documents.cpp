#include "api/visibility/documents.h"

#include <array>

#include <string>

#include "api/visibility/visibility.h"

namespace berth::api::visibility {
namespace {

struct Queue {
  std::string_view resource, singular;
  bool namespaced;
};
struct Tried {
  std::string_view resource, singular, kind;
  bool namespaced;
};
constexpr Tried kTried[] = {{kWhatIfs, "whatif", kWhatIfKind, false},
                            {kLocalWhatIfs, "localwhatif", kLocalWhatIfKind, true}};
constexpr Queue kQueues[] = {{"clusterqueues", "clusterqueue", false}, {"localqueues", "localqueue", true}};

std::string group_version(std::string_view version) { return std::string(kGroup) + "/" + std::string(version); }

Json kind_of(std::string_view version) {
  return JsonObject{{"group", kGroup}, {"version", version}, {"kind", kSummaryKind}};
}

Json entry(std::string_view name, std::string_view singular, bool namespaced, JsonArray verbs) {
  return JsonObject{{"name", name},
                    {"singularName", singular},
                    {"namespaced", namespaced},
                    {"kind", kSummaryKind},
                    {"verbs", std::move(verbs)}};
}

// --- OpenAPI. The two forms differ in the place of schemas and in the description of parameters and responses.

struct Form {
  bool v2 = false;
  Json reference(const std::string& name) const {
    return JsonObject{{"$ref", (v2 ? "#/definitions/" : "#/components/schemas/") + name}};
  }
};

std::string schema_name(std::string_view version, std::string_view kind) {
  return "io.k8s.kueue.visibility." + std::string(version) + "." + std::string(kind);
}

Json text(std::string_view description) { return JsonObject{{"description", description}, {"type", "string"}}; }

Json number(std::string_view description) {
  return JsonObject{{"description", description}, {"type", "integer"}, {"format", "int32"}};
}

Json object(std::string_view description, JsonObject properties, JsonArray required = {}) {
  JsonObject out{{"description", description}, {"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

Json list(Json items) { return JsonObject{{"type", "array"}, {"items", std::move(items)}}; }

Json metadata_schema() {
  JsonObject owner{{"apiVersion", text("Group and version of the owner.")},
                   {"kind", text("Kind of the owner.")},
                   {"name", text("Name of the owner.")},
                   {"uid", text("UID of the owner.")}};
  return object(
      "Which workload it is.",
      {{"name", text("Name of the workload.")},
       {"namespace", text("Namespace of the workload.")},
       {"creationTimestamp",
        JsonObject{{"description", "When the workload was created."}, {"type", "string"}, {"format", "date-time"}}},
       {"ownerReferences", list(object("The job that the workload stands for.", std::move(owner)))}});
}

Json workload_schema() {
  return object("A workload that waits for quota, and where it stands.",
                {{"metadata", metadata_schema()},
                 {"priority", number("Priority of the workload.")},
                 {"localQueueName", text("The local queue that it was submitted to.")},
                 {"positionInClusterQueue", number("Its position in the cluster queue; 0 is the next.")},
                 {"positionInLocalQueue", number("Its position among those of the local queue; 0 is the next.")}},
                {"priority", "localQueueName", "positionInClusterQueue", "positionInLocalQueue"});
}

Json summary_schema(std::string_view version, const Form& form) {
  Json out = object("The workloads that wait in a queue, the next one first.",
                    {{"apiVersion", text("Group and version of this document.")},
                     {"kind", text("Kind of this document.")},
                     {"metadata", JsonObject{{"type", "object"}}},
                     {"items", list(form.reference(schema_name(version, "PendingWorkload")))}},
                    {"items"});
  out.as_object()["x-kubernetes-group-version-kind"] = JsonArray{kind_of(version)};
  return out;
}

void add_schemas(std::string_view version, const Form& form, JsonObject& schemas) {
  schemas[schema_name(version, "PendingWorkload")] = workload_schema();
  schemas[schema_name(version, kSummaryKind)] = summary_schema(version, form);
}

Json parameter(const Form& form, std::string_view name, std::string_view in, std::string_view type,
               std::string_view description) {
  JsonObject out{{"name", name}, {"in", in}, {"description", description}};
  if (in == "path") out["required"] = true;
  out["uniqueItems"] = true;
  if (form.v2) {
    out["type"] = type;
  } else {
    out.erase("uniqueItems");
    out["schema"] = JsonObject{{"type", type}, {"uniqueItems", true}};
  }
  return out;
}

Json operation(const Queue& queue, std::string_view version, const Form& form) {
  const Json schema = form.reference(schema_name(version, kSummaryKind));
  JsonObject ok{{"description", "OK"}};
  if (form.v2) {
    ok["schema"] = schema;
  } else {
    ok["content"] = JsonObject{{"application/json", JsonObject{{"schema", schema}}}};
  }
  JsonObject out;
  out["description"] = "read the pending workloads of the specified " + std::string(queue.singular);
  out["operationId"] =
      "readVisibilityKueueXK8sIo" + std::string(version) + std::string(queue.singular) + "Pendingworkloads";
  out["tags"] = JsonArray{"visibilityKueueXK8sIo_" + std::string(version)};
  if (form.v2) {
    out["consumes"] = JsonArray{"*/*"};
    out["produces"] = JsonArray{"application/json"};
    out["schemes"] = JsonArray{"https"};
  }
  out["responses"] = JsonObject{{"200", std::move(ok)}, {"401", JsonObject{{"description", "Unauthorized"}}}};
  out["x-kubernetes-action"] = "get";
  out["x-kubernetes-group-version-kind"] = kind_of(version);
  return out;
}

void add_paths(std::string_view version, const Form& form, JsonObject& paths) {
  for (const Queue& queue : kQueues) {
    const std::string path = "/apis/" + group_version(version) + (queue.namespaced ? "/namespaces/{namespace}/" : "/") +
                             std::string(queue.resource) + "/{name}/" + std::string(kSubresource);
    JsonArray parameters{
        parameter(form, "limit", "query", "integer", "Most workloads in the answer: 1000 by default, at most 100000."),
        parameter(form, "name", "path", "string", "Name of the queue."),
        parameter(form, "offset", "query", "integer", "Position of the first workload in the answer, from 0.")};
    if (queue.namespaced)
      parameters.push_back(parameter(form, "namespace", "path", "string", "Namespace of the queue."));
    paths[path] = JsonObject{{"get", operation(queue, version, form)}, {"parameters", std::move(parameters)}};
  }
}

// What the answer says about a workload.
struct Reported {
  std::string_view subresource, kind, about, action, operation;
};
constexpr std::array<Reported, 2> kReported{
    {{kExplanation, kExplanationKind, "Why a workload waits, and the smallest changes that would admit it.",
      "read why the specified workload waits", "workloadExplanation"},
     {kPrediction, kPredictionKind, "When a workload starts.", "read when the specified workload starts",
      "workloadPrediction"}}};

// Its fields grow with Berth, so the schema leaves them open.
void add_reported(const Reported& reported, std::string_view version, const Form& form, JsonObject& paths,
                  JsonObject& schemas) {
  const std::string name = schema_name(version, reported.kind);
  const JsonObject kind{{"group", kGroup}, {"version", version}, {"kind", reported.kind}};
  schemas[name] = JsonObject{{"description", reported.about},
                             {"type", "object"},
                             {"x-kubernetes-preserve-unknown-fields", true},
                             {"x-kubernetes-group-version-kind", JsonArray{kind}}};
  JsonObject ok{{"description", "OK"}};
  if (form.v2) {
    ok["schema"] = form.reference(name);
  } else {
    ok["content"] = JsonObject{{"application/json", JsonObject{{"schema", form.reference(name)}}}};
  }
  JsonObject get{{"description", reported.action},
                 {"operationId", "readVisibilityKueueXK8sIo" + std::string(version) + std::string(reported.operation)},
                 {"tags", JsonArray{"visibilityKueueXK8sIo_" + std::string(version)}},
                 {"responses", JsonObject{{"200", std::move(ok)}}},
                 {"x-kubernetes-action", "get"},
                 {"x-kubernetes-group-version-kind", kind}};
  if (form.v2) {
    get["produces"] = JsonArray{"application/json"};
    get["schemes"] = JsonArray{"https"};
  }
  const std::string path = "/apis/" + group_version(version) + "/namespaces/{namespace}/workloads/{name}/" +
                           std::string(reported.subresource);
  paths[path] = JsonObject{
      {"get", std::move(get)},
      {"parameters", JsonArray{parameter(form, "name", "path", "string", "Name of the workload."),
                               parameter(form, "namespace", "path", "string", "Namespace of the workload."),
                               parameter(form, "all", "query", "boolean", "Also names objects of other namespaces.")}}};
}

Json info() { return JsonObject{{"title", "Berth visibility"}, {"version", "unversioned"}}; }

}  // namespace

Json group_entry() {
  JsonArray versions;
  for (const std::string_view version : kVersions)
    versions.push_back(JsonObject{{"groupVersion", group_version(version)}, {"version", version}});
  JsonObject out;
  out["name"] = kGroup;
  out["preferredVersion"] = versions.front();
  out["versions"] = std::move(versions);
  return out;
}

Json group_document() {
  JsonObject out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  const Json entry = group_entry();
  for (const auto& [key, value] : entry.as_object()) out[key] = value;
  return out;
}

// The queues themselves have no verbs; they are listed only because of their subresource.
Json resource_list(std::string_view version) {
  JsonArray resources;
  for (const Queue& queue : kQueues) {
    resources.push_back(entry(queue.resource, queue.singular, queue.namespaced, {}));
    resources.push_back(
        entry(std::string(queue.resource) + "/" + std::string(kSubresource), "", queue.namespaced, {"get"}));
  }
  const auto own_entry = [](std::string_view name, std::string_view singular, JsonArray verbs) {
    Json out = entry(name, singular, true, std::move(verbs));
    out.as_object()["kind"] = kExplanationKind;
    return out;
  };
  for (const Tried& tried : kTried) {
    resources.push_back(JsonObject{{"name", tried.resource},
                                   {"singularName", tried.singular},
                                   {"namespaced", tried.namespaced},
                                   {"kind", tried.kind},
                                   {"verbs", JsonArray{"create"}}});
  }
  resources.push_back(own_entry("workloads", "workload", {}));
  for (const Reported& reported : kReported) {
    resources.push_back(own_entry("workloads/" + std::string(reported.subresource), "", {"get"}));
    resources.back().as_object()["kind"] = reported.kind;
  }
  JsonObject out;
  out["kind"] = "APIResourceList";
  out["apiVersion"] = "v1";
  out["groupVersion"] = group_version(version);
  out["resources"] = std::move(resources);
  return out;
}

Json aggregated_entry() {
  JsonArray versions;
  for (const std::string_view version : kVersions) {
    JsonArray resources;
    for (const Queue& queue : kQueues) {
      JsonObject subresource{
          {"subresource", kSubresource}, {"responseKind", kind_of(version)}, {"verbs", JsonArray{"get"}}};
      resources.push_back(JsonObject{{"resource", queue.resource},
                                     {"responseKind", kind_of(version)},
                                     {"scope", queue.namespaced ? "Namespaced" : "Cluster"},
                                     {"singularResource", queue.singular},
                                     {"verbs", JsonArray{}},
                                     {"subresources", JsonArray{std::move(subresource)}}});
    }
    const JsonObject kind{{"group", kGroup}, {"version", version}, {"kind", kExplanationKind}};
    JsonArray subresources;
    for (const Reported& reported : kReported)
      subresources.push_back(
          JsonObject{{"subresource", reported.subresource},
                     {"responseKind", JsonObject{{"group", kGroup}, {"version", version}, {"kind", reported.kind}}},
                     {"verbs", JsonArray{"get"}}});
    resources.push_back(JsonObject{{"resource", "workloads"},
                                   {"responseKind", kind},
                                   {"scope", "Namespaced"},
                                   {"singularResource", "workload"},
                                   {"verbs", JsonArray{}},
                                   {"subresources", std::move(subresources)}});
    for (const Tried& tried : kTried) {
      resources.push_back(
          JsonObject{{"resource", tried.resource},
                     {"responseKind", JsonObject{{"group", kGroup}, {"version", version}, {"kind", tried.kind}}},
                     {"scope", tried.namespaced ? "Namespaced" : "Cluster"},
                     {"singularResource", tried.singular},
                     {"verbs", JsonArray{"create"}}});
    }
    versions.push_back(JsonObject{{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  return JsonObject{{"metadata", JsonObject{{"name", kGroup}}}, {"versions", std::move(versions)}};
}

Json openapi_v3(std::string_view version) {
  const Form form;
  JsonObject paths, schemas;
  add_paths(version, form, paths);
  add_schemas(version, form, schemas);
  for (const Reported& reported : kReported) add_reported(reported, version, form, paths, schemas);
  return JsonObject{{"openapi", "3.0.0"},
                    {"info", info()},
                    {"paths", std::move(paths)},
                    {"components", JsonObject{{"schemas", std::move(schemas)}}}};
}

Json openapi_v2() {
  const Form form{.v2 = true};
  JsonObject paths, definitions;
  for (const std::string_view version : kVersions) {
    add_paths(version, form, paths);
    add_schemas(version, form, definitions);
    for (const Reported& reported : kReported) add_reported(reported, version, form, paths, definitions);
  }
  return JsonObject{
      {"swagger", "2.0"}, {"info", info()}, {"paths", std::move(paths)}, {"definitions", std::move(definitions)}};
}

}  // namespace berth::api::visibility
