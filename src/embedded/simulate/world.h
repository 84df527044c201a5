// A whole cluster in one thread on virtual time: the embedded API server, the production controller and the
// pretend cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/configuration.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/executor.h"
#include "base/json.h"
#include "engine/engine.h"
#include "jobs/devices/claim_charge.h"
#include "jobs/job_facts.h"
#include "jobs/kinds/job_kind.h"

namespace berth::apiserver {
class ApiServer;
}
namespace berth::controller {
class Controller;
struct ControllerOptions;
}  // namespace berth::controller
namespace berth::cluster {
struct ClusterOptions;
}

namespace berth::simulate {

struct WorldOptions {
  Time start{};
  std::string nodes, node_resources;  // same format as the flags of `berth up`; empty: no nodes, pods stay Pending
  std::vector<Json> node_manifests;   // Node objects to create in addition
  std::string devices_of_nodes;       // such as gpu.example.com=8, as for `berth up`; empty: none
  std::string scale_up;               // nodes that the autoscaler may add, in the format of `berth up`; empty: none
  Duration provisioning_delay = std::chrono::seconds(30);
  // false: no kubelet and no binder, the test writes nodes and pods; the Job controller still runs
  bool runs_nodes = true;
  bool job_controller = true;      // false: no Job controller, the test writes Jobs too
  bool apps_controllers = false;   // true: the controllers of Deployments, ReplicaSets and StatefulSets, too
  bool server_controllers = true;  // false: no garbage collector and no namespace controller
  bool controller = true;          // false: no controller of Berth (tests bring their own)
  bool webhooks = true;            // admission of Kueue's and Volcano's kinds and of Jobs
  engine::Options engine;          // feature gates of the controller
  jobs::JobGates jobs;             // feature gates for jobs
  jobs::devices::Rules devices;    // which devices count as what
  api::config::Volcano volcano;    // support of Volcano's kinds, for admission and for the controller
  api::config::DefaultLocalQueues default_local_queues;
  // Which jobs are managed, for admission and for the controller (the Configuration fields with these names).
  bool manage_jobs_without_queue_name = false;
  bool manage_jobs = true;
  bool manage_pods = false;  // plain pods and groups of pods wait for quota too
  bool manage_deployments = false;
  bool manage_stateful_sets = false;
  bool manage_leader_worker_sets = false;
  api::LabelSelector managed_namespaces = api::config::Configuration::default_managed_namespaces("kueue-system");
  std::vector<std::string> label_keys_to_copy, annotation_keys_to_copy;
  std::vector<jobs::kinds::KnownKind> kinds;  // described kinds of jobs
  bool operators = true;  // false: no pretend operators of those kinds that the server has definitions of
  std::vector<api::config::OwnerKind> owner_kinds;  // kinds that only own jobs
  // Kinds of jobs of other projects that the server has definitions of (see embedded/apiserver/crd/external_kinds.h).
  std::string external_kinds = "leaderworkersets";
  bool leader_worker_sets = true;  // false: no controller of LeaderWorkerSets
  bool vcjobs = true;              // false: no controller of Volcano Jobs (no PodGroups, no pods)
  // Makes a client between the controller and the server, for tests that look at its requests. The arguments outlive
  // the returned client. Empty: the controller uses the server directly.
  std::function<std::unique_ptr<api::RestClient>(api::RestClient& server, Executor& executor)> between;
  std::uint64_t seed = 1;

  // Takes the settings of a Configuration and feature gates (controller::controller_options).
  void configure(const controller::ControllerOptions& configured);
};

class World {
 public:
  // Installs the CRDs and starts everything. An error names the option that is wrong.
  static Result<std::unique_ptr<World>> make(const WorldOptions& options);
  ~World();

  VirtualExecutor& executor();
  api::RestClient& client();
  apiserver::ApiServer& server();
  controller::Controller& controller();  // only with WorldOptions::controller

  void run_for(Duration d);
  // Sends the request and runs the executor until the answer arrives; virtual time advances only if the server waits
  // for something. Code 0 when there is no answer within two minutes of virtual time.
  api::RestResponse call(api::RestRequest request);
  // The same, but without webhooks: the behaviour of the server alone.
  api::RestResponse call_past_webhooks(api::RestRequest request);

  // These find the resource by the kind and API version in the object. Each fails with the server's message.
  Result<Json> create(Json object);
  Result<Json> apply(Json object);  // creates, or merges into the existing object
  Result<Json> get(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name);
  // `kind` alone is enough when only one served group has it; its storage version is used then.
  Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind, std::string_view ns,
                                       std::string_view name) const;

 private:
  struct Impl;
  explicit World(std::unique_ptr<Impl> impl);
  api::RestResponse until_answered(std::optional<api::RestResponse>& answer);
  Result<void> create_kinds(const WorldOptions& options);  // the CRDs
  cluster::ClusterOptions cluster_options(const WorldOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::simulate
