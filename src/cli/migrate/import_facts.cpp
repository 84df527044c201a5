#include "cli/migrate/import_facts.h"

#include <algorithm>
#include <utility>

#include "api/kueue/job_rules.h"
#include "api/owners.h"
#include "api/resources.h"
#include "cli/queues/lister.h"

namespace berth::cli::migrate {
namespace {

using queues::Selection;
using queues::Server;
using queues::Session;

constexpr int kMostOwners = 10;  // above each other, as the controller looks

// Calls `take` with each object of a list.
template <typename Take>
Result<void> each(const Session& session, Server& server, const Selection& selection, Take take) {
  auto items = queues::list_objects(session, server, selection);
  if (!items) return tl::unexpected(items.error());
  for (Json& item : *items) {
    if (auto taken = take(std::move(item)); !taken) return taken;
  }
  return {};
}

// Files each decoded object under its key.
template <typename T>
auto into(std::map<std::string, T>& there, Result<T> (*decode)(const Json&)) {
  return [&there, decode](const Json& item) -> Result<void> {
    auto decoded = decode(item);
    if (!decoded) return fail(api::object_key(item) + ": " + decoded.error().message);
    there.emplace(api::object_key(item), std::move(*decoded));
    return {};
  };
}

Result<void> read_queues(const Session& session, Server& server, const ImportTerms& terms, ImportFacts& facts) {
  auto read = each(session, server, {api::kClusterQueues, "ClusterQueue", {}, {}, {}}, [&](const Json& item) {
    auto queue = api::kueue::decode_cluster_queue(item);
    if (!queue) return Result<void>(fail("ClusterQueue " + api::object_key(item) + ": " + queue.error().message));
    const Json* reserved = find_path(item, {"status", "flavorsReservation"});
    facts.cluster_queues.emplace(api::object_key(item),
                                 SeenQueue{std::move(*queue), reserved == nullptr ? Json() : *reserved});
    return Result<void>();
  });
  if (read)
    read = each(session, server, {api::kResourceFlavors, "ResourceFlavor", {}, {}, {}},
                into(facts.flavors, api::kueue::decode_resource_flavor));
  for (const std::string& ns : terms.namespaces) {
    if (read)
      read = each(session, server, {api::kLocalQueues, "LocalQueue", ns, {}, {}},
                  into(facts.local_queues, api::kueue::decode_local_queue));
  }
  return read;
}

Result<void> read_classes(const Session& session, Server& server, ImportFacts& facts) {
  const auto file = [](std::map<std::string, std::int32_t>& there) {
    return [&there](const Json& item) -> Result<void> {
      there.emplace(api::object_key(item), static_cast<std::int32_t>(int_at(item, {"value"})));
      return {};
    };
  };
  const auto read = each(session, server, {api::kPriorityClasses, "PriorityClass", {}, {}, {}}, [&](const Json& item) {
    // Of several defaults the API server takes the one with the lowest value.
    const auto value = static_cast<std::int32_t>(int_at(item, {"value"}));
    const bool lower = !facts.default_priority_class || value < facts.default_priority_class->second;
    if (bool_at(item, {"globalDefault"}) && lower) facts.default_priority_class = {api::object_key(item), value};
    return file(facts.priority_classes)(item);
  });
  if (!read) return read;
  return each(session, server, {api::kWorkloadPriorityClasses, "WorkloadPriorityClass", {}, {}, {}},
              file(facts.workload_priority_classes));
}

Result<void> read_namespace(Server& server, const std::string& name, ImportFacts& facts) {
  api::RestRequest request;
  request.resource = api::kNamespaces;
  request.name = name;
  api::RestResponse answer = server.call(std::move(request));
  if (answer.code == 404) return fail("-n " + name + ": there is no namespace " + name);
  if (!answer.ok()) return fail(server.explain(answer, api::kNamespaces));
  facts.namespaces.emplace(name, std::move(answer.body));
  return {};
}

Result<void> read_pods(const Session& session, Server& server, const std::string& ns, ImportFacts& facts) {
  const auto pods = each(session, server, {api::kPods, "Pod", ns, {}, {}}, [&](Json item) -> Result<void> {
    facts.pods.push_back(std::move(item));
    return {};
  });
  if (!pods) return pods;
  return each(session, server, {api::kWorkloads, "Workload", ns, {}, {}}, [&](Json item) -> Result<void> {
    std::string key = api::object_key(item);
    facts.workloads.emplace(std::move(key), std::move(item));
    return {};
  });
}

}  // namespace

Result<ImportFacts> read_import_facts(const Session& session, Server& server, const ImportTerms& terms) {
  ImportFacts facts;
  Result<void> read;
  for (const std::string& ns : terms.namespaces) {
    if (read) read = read_namespace(server, ns, facts);
  }
  if (read) read = read_queues(session, server, terms, facts);
  if (read) read = read_classes(session, server, facts);
  if (read)
    read = each(session, server, {api::kNodes, "Node", {}, {}, {}}, [&](const Json& item) -> Result<void> {
      const Json* labels = find_path(item, {"metadata", "labels"});
      facts.nodes.emplace(api::object_key(item),
                          labels == nullptr ? api::StringMap() : api::decode_string_map(*labels));
      return {};
    });
  for (const std::string& ns : terms.namespaces) {
    if (read) read = read_pods(session, server, ns, facts);
  }
  if (!read) return tl::unexpected(read.error());
  std::ranges::sort(facts.pods, {}, [](const Json& pod) { return api::object_key(pod); });
  return facts;
}

Result<std::string> QueuedOwners::queued_owner(const Json& pod) {
  return look(pod, std::string(string_at(pod, {"metadata", "namespace"})), 0);
}

Result<std::string> QueuedOwners::look(const Json& object, const std::string& ns, int depth) {
  if (depth == kMostOwners) return std::string();
  const Json* controller = api::controller_of(object);
  if (controller == nullptr) return std::string();
  const std::string uid(string_at(*controller, {"uid"}));
  if (const auto known = known_.find(uid); known != known_.end()) return known->second;
  const std::string kind(string_at(*controller, {"kind"})), name(string_at(*controller, {"name"}));
  const auto answer_of = [&]() -> Result<std::string> {
    const auto resource = discovery_.by_kind(string_at(*controller, {"apiVersion"}), kind);
    if (!resource) return tl::unexpected(resource.error());
    api::RestRequest request;
    request.resource = resource->resource;
    if (resource->namespaced) request.ns = ns;
    request.name = name;
    const api::RestResponse answer = server_.call(std::move(request));
    if (answer.code == 404 || (answer.ok() && string_at(answer.body, {"metadata", "uid"}) != uid)) return std::string();
    if (!answer.ok()) return fail(server_.explain(answer, resource->resource));
    if (!api::kueue::label_of(answer.body, api::kueue::kQueueLabel).empty()) return kind + " " + ns + "/" + name;
    return look(answer.body, ns, depth + 1);
  };
  const auto answer = answer_of();
  known_.emplace(uid, answer);
  return answer;
}

}  // namespace berth::cli::migrate
