#include "embedded/simulate/world.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/status.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/apiserver/storage/store.h"
#include "embedded/cluster/cluster.h"
#include "embedded/simulate/volcano_admission.h"

namespace berth::simulate {
namespace {

// The longest time that a request may take, in virtual time: longer than any wait of the server.
constexpr Duration kAnswerBound = std::chrono::minutes(2);
constexpr Duration kStartBound = std::chrono::minutes(1);

api::GroupVersionResource split(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version), ""};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1)), ""};
}

Error error_of(const api::RestResponse& response) {
  const auto message = api::status_message(response);
  return Error{message.empty() ? "the server answered " + std::to_string(response.code) : std::string(message)};
}

}  // namespace

struct World::Impl {
  explicit Impl(Time start) : executor(start) {}
  VirtualExecutor executor;
  std::unique_ptr<apiserver::ApiServer> server;
  std::unique_ptr<cluster::PretendCluster> cluster;
  std::unique_ptr<api::RestClient> between;  // client between the controller and the server, if any
  std::unique_ptr<controller::Controller> controller;
  bool past_webhooks = false;  // while a request that skips webhooks is handed to the server
};

void WorldOptions::configure(const controller::ControllerOptions& configured) {
  engine = configured.engine;
  jobs = configured.jobs;
  devices = configured.devices;
  volcano = configured.volcano;
  default_local_queues = configured.default_local_queues;
  manage_jobs_without_queue_name = configured.manage_jobs_without_queue_name;
  manage_jobs = configured.manage_jobs;
  kinds = configured.kinds;
  owner_kinds = configured.external_kinds;
  manage_pods = configured.manage_pods;
  manage_deployments = configured.manage_deployments;
  manage_stateful_sets = configured.manage_stateful_sets;
  manage_leader_worker_sets = configured.manage_leader_worker_sets;
  managed_namespaces = configured.managed_namespaces;
  label_keys_to_copy = configured.label_keys_to_copy;
  annotation_keys_to_copy = configured.annotation_keys_to_copy;
}

namespace {

controller::ControllerOptions controller_options(const WorldOptions& options) {
  controller::ControllerOptions out;
  out.engine = options.engine;
  out.jobs = options.jobs;
  out.devices = options.devices;
  out.volcano = options.volcano;
  out.default_local_queues = options.default_local_queues;
  out.manage_jobs_without_queue_name = options.manage_jobs_without_queue_name;
  out.manage_jobs = options.manage_jobs;
  out.kinds = options.kinds;
  out.external_kinds = options.owner_kinds;
  out.manage_pods = options.manage_pods;
  out.manage_deployments = options.manage_deployments;
  out.manage_stateful_sets = options.manage_stateful_sets;
  out.manage_leader_worker_sets = options.manage_leader_worker_sets;
  out.managed_namespaces = options.managed_namespaces;
  out.label_keys_to_copy = options.label_keys_to_copy;
  out.annotation_keys_to_copy = options.annotation_keys_to_copy;
  out.seed = options.seed;
  return out;
}

}  // namespace

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;

VirtualExecutor& World::executor() { return impl_->executor; }
api::RestClient& World::client() { return *impl_->server; }
apiserver::ApiServer& World::server() { return *impl_->server; }
controller::Controller& World::controller() { return *impl_->controller; }
void World::run_for(Duration d) { impl_->executor.run_until(impl_->executor.now() + d); }

Result<std::unique_ptr<World>> World::make(const WorldOptions& options) {
  auto impl = std::make_unique<Impl>(options.start);
  apiserver::ApiServerOptions server_options;
  server_options.seed = options.seed;
  server_options.admission = apiserver::with_kueue_conversion;
  server_options.controllers = options.server_controllers;
  if (options.webhooks) {
    auto policy = controller::admission_policy(controller_options(options));
    if (options.controller) {
      policy.manages_namespace = [parts = impl.get()](std::string_view ns) {
        return parts->controller && parts->controller->manages_namespace(ns);
      };
    }
    const auto holders_in = [parts = impl.get()](std::string_view queue) {
      return parts->controller ? parts->controller->volcano_holders(queue) : std::size_t{0};
    };
    set_admission(server_options, options.volcano, holders_in, std::move(policy));
    server_options.admission =
        with_a_way_past(std::move(server_options.admission), [parts = impl.get()] { return parts->past_webhooks; });
  }
  auto server = apiserver::ApiServer::open(impl->executor, apiserver::make_memory_log(impl->executor), server_options);
  if (!server) return tl::unexpected(server.error());
  impl->server = std::move(*server);
  std::unique_ptr<World> world(new World(std::move(impl)));
  if (auto created = world->create_kinds(options); !created) return tl::unexpected(created.error());
  Impl& parts = *world->impl_;
  auto cluster = cluster::PretendCluster::make(*parts.server, parts.executor, world->cluster_options(options));
  if (!cluster) return tl::unexpected(cluster.error());
  parts.cluster = std::move(*cluster);
  parts.cluster->start();
  if (!options.controller) return world;
  if (options.between) parts.between = options.between(*parts.server, parts.executor);
  api::RestClient& client = parts.between ? *parts.between : *parts.server;
  parts.controller = std::make_unique<controller::Controller>(client, parts.executor, controller_options(options));
  parts.controller->lead();
  parts.controller->start();
  const Time latest = parts.executor.now() + kStartBound;
  while (!parts.controller->leading() && parts.executor.next_due() && *parts.executor.next_due() <= latest)
    parts.executor.step();
  if (!parts.controller->leading()) return fail("the controller could not read the API server's objects");
  return world;
}

Result<void> World::create_kinds(const WorldOptions& options) {
  auto external_kinds = apiserver::choose_external_kinds(options.external_kinds);
  if (!external_kinds) return tl::unexpected(external_kinds.error());
  for (const std::span<const embedded::File> files :
       {embedded::crds(), std::span<const embedded::File>(*external_kinds)}) {
    for (const embedded::File& file : files) {
      auto documents = parse_yaml(file.content);
      if (!documents) return fail(std::string(file.name) + ": " + documents.error().message);
      for (auto& document : *documents) {
        if (auto created = create(std::move(document)); !created)
          return fail(std::string(file.name) + ": " + created.error().message);
      }
    }
  }
  return {};
}

cluster::ClusterOptions World::cluster_options(const WorldOptions& options) {
  cluster::ClusterOptions out;
  out.nodes = options.nodes;
  out.node_resources = options.node_resources;
  out.devices = options.devices_of_nodes;
  out.scale_up = options.scale_up;
  out.provisioning_delay = options.provisioning_delay;
  out.runs_nodes = options.runs_nodes;
  out.job_controller = options.job_controller;
  out.apps_controllers = options.apps_controllers;
  out.node_manifests = options.node_manifests;
  out.leader_worker_sets = options.leader_worker_sets;
  out.vcjobs = options.vcjobs;
  for (const auto& known : options.kinds) {
    const auto& kind = known.description;
    const bool served = request_for(kind->api_version(), kind->kind, "", "").has_value();
    if (options.operators && served) out.kinds.push_back(kind);
  }
  return out;
}

api::RestResponse World::call(api::RestRequest request) {
  request.user = {"admin", {"system:masters"}};
  std::optional<api::RestResponse> answer;
  impl_->server->call(std::move(request), [&answer](api::RestResponse response) { answer = std::move(response); });
  return until_answered(answer);
}

api::RestResponse World::until_answered(std::optional<api::RestResponse>& answer) {
  const Time latest = impl_->executor.now() + kAnswerBound;
  while (!answer && impl_->executor.next_due() && *impl_->executor.next_due() <= latest) impl_->executor.step();
  if (answer) return std::move(*answer);
  api::RestResponse none;
  none.code = 0;
  return none;
}

api::RestResponse World::call_past_webhooks(api::RestRequest request) {
  // The server calls webhooks inside call(), before it lets other tasks run.
  std::optional<api::RestResponse> answer;
  request.user = {"admin", {"system:masters"}};
  impl_->past_webhooks = true;
  impl_->server->call(std::move(request), [&answer](api::RestResponse response) { answer = std::move(response); });
  impl_->past_webhooks = false;
  return until_answered(answer);
}

Result<api::RestRequest> World::request_for(std::string_view api_version, std::string_view kind, std::string_view ns,
                                            std::string_view name) const {
  apiserver::ResourcePtr found;
  const auto wanted = split(api_version);
  for (const auto& resource : impl_->server->registry().all()) {
    if (resource->kind != kind) continue;
    if (!api_version.empty() && (resource->gvr.group != wanted.group || resource->gvr.version != wanted.version))
      continue;
    const bool stored_so = resource->gvr.version == resource->storage_version;
    if (!found || (found->gvr.group == resource->gvr.group && stored_so)) found = resource;
  }
  if (!found)
    return fail("no served resource has the kind \"" + std::string(kind) + "\"" +
                (api_version.empty() ? "" : " in " + std::string(api_version)));
  api::RestRequest request;
  request.resource = found->gvr;
  if (found->namespaced) request.ns = ns.empty() ? "default" : std::string(ns);
  request.name = name;
  return request;
}

Result<Json> World::create(Json object) {
  auto request = request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}),
                             string_at(object, {"metadata", "namespace"}), {});
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kCreate;
  request->field_validation = api::FieldValidation::kStrict;
  request->body = std::move(object);
  auto response = call(std::move(*request));
  if (!response.ok()) return tl::unexpected(error_of(response));
  return std::move(response.body);
}

Result<Json> World::get(std::string_view api_version, std::string_view kind, std::string_view ns,
                        std::string_view name) {
  auto request = request_for(api_version, kind, ns, name);
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kGet;
  auto response = call(std::move(*request));
  if (!response.ok()) return tl::unexpected(error_of(response));
  return std::move(response.body);
}

Result<Json> World::apply(Json object) {
  const std::string name(string_at(object, {"metadata", "name"}));
  auto request = request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}),
                             string_at(object, {"metadata", "namespace"}), name);
  if (!request) return tl::unexpected(request.error());
  api::RestRequest look = *request;
  look.verb = api::Verb::kGet;
  if (name.empty() || call(std::move(look)).code == 404) return create(std::move(object));
  request->verb = api::Verb::kPatch;
  request->patch_type = api::PatchType::kMerge;
  request->body = std::move(object);
  auto response = call(std::move(*request));
  if (!response.ok()) return tl::unexpected(error_of(response));
  return std::move(response.body);
}

}  // namespace berth::simulate
