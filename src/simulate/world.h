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
#include "jobs/job_facts.h"

namespace berth::apiserver {
class ApiServer;
}
namespace berth::controller {
class Controller;
struct ControllerOptions;
}

namespace berth::simulate {

struct WorldOptions {
  Time start{};
  std::string nodes, node_resources;  // as berth up takes them; empty: no cluster, pods stay Pending
  std::vector<Json> node_manifests;   // Node objects to make besides
  std::string scale_up;               // what the autoscaler may add, as berth up takes it; empty: nothing
  Duration provisioning_delay = std::chrono::seconds(30);
  bool machines = true;               // false: nodes and pods are what others make of them, only Jobs live
  bool job_controller = true;         // false: Jobs are what others make of them, too
  bool server_controllers = true;     // false: nobody collects garbage or empties namespaces
  bool controller = true;             // false: nobody decides (tests bring their own)
  bool webhooks = true;               // admission of Kueue's and Volcano's kinds and of Jobs
  engine::Options engine;             // the controller's feature gates
  jobs::JobGates jobs;                // and those of jobs
  api::config::Volcano volcano;       // what is done about Volcano's kinds, at the doors and by the controller
  // Which jobs are managed, at the doors and by the controller (Configuration: the fields of these names).
  bool manage_jobs_without_queue_name = false;
  api::LabelSelector managed_namespaces = api::config::Configuration::default_managed_namespaces("kueue-system");
  std::vector<std::string> label_keys_to_copy;
  bool vcjobs = true;                 // false: nobody makes groups and pods for Volcano's jobs
  // What the controller speaks through instead of the server itself: for tests of what it asks. The arguments outlive
  // what is returned. Empty: nothing stands between them.
  std::function<std::unique_ptr<api::RestClient>(api::RestClient& server, Executor& executor)> between;
  std::uint64_t seed = 1;

  // Takes over what a Configuration and feature gates say (controller::controller_options).
  void configure(const controller::ControllerOptions& configured);
};

class World {
 public:
  // With Kueue's CRDs installed and everything running. Errors name the option that is wrong.
  static Result<std::unique_ptr<World>> make(const WorldOptions& options);
  ~World();

  VirtualExecutor& executor();
  api::RestClient& client();
  apiserver::ApiServer& server();
  controller::Controller& controller();  // only with WorldOptions::controller

  void run_for(Duration d);
  // Sends the request and lets time stand until it is answered (or moves it when the server waits for
  // something).
  api::RestResponse call(api::RestRequest request);
  // The same, but no webhook looks at this request: what the server alone makes of it.
  api::RestResponse call_past_webhooks(api::RestRequest request);

  // By kind and API version as the object names them. Each fails with the server's message.
  Result<Json> create(Json object);
  Result<Json> apply(Json object);  // creates, or merges into what is there
  Result<Json> get(std::string_view api_version, std::string_view kind, std::string_view ns,
                   std::string_view name);
  // `kind` alone, when only one served group has it: in the version it is stored in.
  Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind,
                                       std::string_view ns, std::string_view name) const;

 private:
  struct Impl;
  explicit World(std::unique_ptr<Impl> impl);
  api::RestResponse until_answered(std::optional<api::RestResponse>& answer);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::simulate
