#include "cli/migrate/cluster_objects.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/kueue/types.h"
#include "api/meta.h"
#include "api/resources.h"
#include "cli/queues/lister.h"

namespace berth::cli::migrate {
namespace {

using queues::Server;
using queues::Session;

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};
// Those of config/crd.
constexpr std::array<std::string_view, 11> kServed = {"AdmissionCheck",
                                                      "ClusterQueue",
                                                      "Cohort",
                                                      "LocalQueue",
                                                      "MultiKueueCluster",
                                                      "MultiKueueConfig",
                                                      "ProvisioningRequestConfig",
                                                      "ResourceFlavor",
                                                      "Topology",
                                                      "WorkloadPriorityClass",
                                                      "Workload"};

// The version to read: Berth's, else one that the server has.
std::string version_of(const Json& definition) {
  std::string served;
  for (const Json& version : array_at(definition, {"spec", "versions"})) {
    const std::string name(string_at(version, {"name"}));
    if (!bool_at(version, {"served"})) continue;
    if (name == api::kueue::kVersion) return name;
    served = name;
  }
  return served;
}

class Reader {
 public:
  Reader(const Session& session, Server& server) : session_(session), server_(server) {}

  // Empty when the server does not know the resource.
  Result<std::vector<Json>> list(const api::GroupVersionResource& resource, const std::string& kind) {
    api::RestRequest probe;
    probe.verb = api::Verb::kList;
    probe.resource = resource;
    probe.limit = 1;
    if (server_.call(std::move(probe)).code == 404) return std::vector<Json>();
    auto items = queues::list_objects(session_, server_, {resource, kind, {}, {}, {}});
    if (!items) return tl::unexpected(items.error());
    return std::vector<Json>(std::make_move_iterator(items->begin()), std::make_move_iterator(items->end()));
  }

  // nullopt: there is none.
  Result<std::optional<Json>> get(const api::GroupVersionResource& resource, const std::string& ns,
                                  const std::string& name) {
    api::RestRequest request;
    request.resource = resource;
    request.ns = ns;
    request.name = name;
    api::RestResponse answer = server_.call(std::move(request));
    if (answer.code == 404) return std::optional<Json>();
    if (!answer.ok()) return fail(server_.explain(answer, resource));
    return std::optional<Json>(std::move(answer.body));
  }

 private:
  const Session& session_;
  Server& server_;
};

bool is_kueues(const Json& object) { return api::object_key(object).starts_with("kueue-"); }

Result<void> read_kinds(Reader& reader, ClusterObjects& out) {
  auto definitions = reader.list(api::kCustomResourceDefinitions, "CustomResourceDefinition");
  if (!definitions) return tl::unexpected(definitions.error());
  for (Json& definition : *definitions) {
    const std::string group(string_at(definition, {"spec", "group"}));
    if (group != kKueueGroup && !group.ends_with("." + std::string(kKueueGroup))) continue;
    const std::string kind(string_at(definition, {"spec", "names", "kind"}));
    const bool served = group == kKueueGroup && std::ranges::find(kServed, kind) != kServed.end();
    auto objects = reader.list(
        {group, version_of(definition), std::string(string_at(definition, {"spec", "names", "plural"}))}, kind);
    if (!objects) return tl::unexpected(objects.error());
    (served ? out.objects : out.foreign)[kind] = std::move(*objects);
    out.definitions.push_back(std::move(definition));
  }
  return {};
}

Result<void> read_webhooks(Reader& reader, ClusterObjects& out) {
  for (const auto& [resource, kind] :
       {std::pair{api::kMutatingWebhookConfigurations, "MutatingWebhookConfiguration"},
        std::pair{api::kValidatingWebhookConfigurations, "ValidatingWebhookConfiguration"}}) {
    auto found = reader.list(resource, kind);
    if (!found) return tl::unexpected(found.error());
    for (Json& one : *found) {
      if (is_kueues(one)) out.webhooks.push_back(std::move(one));
    }
  }
  return {};
}

}  // namespace

const std::vector<Json>& ClusterObjects::of(const std::string& kind) const {
  static const std::vector<Json> none;
  const auto found = objects.find(kind);
  return found == objects.end() ? none : found->second;
}

Result<ClusterObjects> read_cluster(const Session& session, Server& server, const std::string& config_map) {
  Reader reader(session, server);
  ClusterObjects out;
  out.config_map = config_map.empty() ? std::string(queues::kConfigMap) : config_map;
  auto configuration = queues::read_config_map(server, out.config_map);
  if (!configuration) return tl::unexpected(configuration.error());
  out.configuration = std::move(*configuration);
  if (const auto read = read_kinds(reader, out); !read) return tl::unexpected(read.error());
  if (const auto read = read_webhooks(reader, out); !read) return tl::unexpected(read.error());
  auto jobs = reader.list(api::kJobs, "Job");
  if (!jobs) return tl::unexpected(jobs.error());
  out.jobs = std::move(*jobs);
  const std::string ns = out.config_map.substr(0, out.config_map.find('/'));
  auto deployment = reader.get(kDeployments, ns, "kueue-controller-manager");
  if (!deployment) return tl::unexpected(deployment.error());
  out.deployment = std::move(*deployment);
  const auto populator = reader.get(kDeployments, ns, "kueue-populator");
  if (!populator) return tl::unexpected(populator.error());
  out.populator = populator->has_value();
  return out;
}

}  // namespace berth::cli::migrate
