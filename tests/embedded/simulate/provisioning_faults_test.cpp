// Admission checks that create ProvisioningRequests, on a faulty connection, with a controller that restarts at
// random moments and an autoscaler that changes its answers: every job ends, and no request is left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/world.h"
#include "support/sanitized.h"

namespace berth::simulation::provisioning_faults_test {
namespace {

using std::chrono::seconds;

constexpr int kSeeds = 10 / testing_support::kFewer;
constexpr int kJobs = 4;
constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kAutoscaling = "autoscaling.x-k8s.io/v1";

simulate::FaultRates rates() {
  simulate::FaultRates out;
  out.refused = 60;
  out.unknown_outcome = 40;
  out.conflict = 40;
  out.slow = 100;
  out.watch_ends = 20;
  out.watch_expires = 10;
  out.late = 60;
  out.repeated = 30;
  return out;
}

constexpr std::string_view kQueue = R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: conf}
spec:
  provisioningClassName: manual.example.com
  retryStrategy: {backoffLimitCount: 2, backoffBaseSeconds: 2, backoffMaxSeconds: 4}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: chk}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: conf}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]}]
  admissionChecksStrategy: {admissionChecks: [{name: chk}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: default}, spec: {clusterQueue: cq}}
)";

std::string job(int number) {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(number) +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: "
         "{spec: "
         "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}";
}

bool is(const Json& object, std::string_view type) {
  for (const auto& condition : array_at(object, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == type) return string_at(condition, {"status"}) == "True";
  }
  return false;
}

std::string name_of(const Json& object) { return std::string(string_at(object, {"metadata", "name"})); }

class Play {
 public:
  explicit Play(std::uint64_t seed) : random_(seed) {
    simulate::WorldOptions options;
    options.controller = false;
    options.runs_nodes = false;
    options.seed = seed;
    world_ = std::move(*simulate::World::make(options));
    faulty_ = std::make_unique<simulate::FaultyClient>(world_->client(), world_->executor(), seed, rates());
    restart();
    auto documents = parse_yaml(kQueue).value();
    for (int i = 0; i < kJobs; ++i) documents.push_back(parse_yaml(job(i)).value().front());
    for (auto& document : documents) EXPECT_TRUE(world_->create(std::move(document)));
  }

  ~Play() { controller_.reset(); }

  void live(int for_seconds) {
    for (int i = 0; i < for_seconds; ++i) {
      world_->run_for(seconds(1));
      for (const auto& request : list(kAutoscaling, "ProvisioningRequest")) answer(request);
      for (const auto& workload : list(kKueue, "Workload")) {
        if (!bool_at(workload, {"spec", "active"}, true) && random_.chance(100))
          patch(kKueue, "Workload", name_of(workload), "", "{spec: {active: true}}");
      }
      end_pods(20);
      if (random_.chance(10)) {
        patch(kKueue, "ProvisioningRequestConfig", "conf", "",
              "{spec: {parameters: {p: '" + std::to_string(random_.below(3)) + "'}}}");
      }
      if (random_.chance(20)) restart();
      look();
    }
  }

  // From now on there are no faults, the autoscaler answers Provisioned, also to what it has accepted before, and
  // inactive workloads are activated.
  void calm(int for_seconds) {
    faulty_->set_rates({});
    for (int i = 0; i < for_seconds; ++i) {
      world_->run_for(seconds(1));
      for (const auto& request : list(kAutoscaling, "ProvisioningRequest")) {
        const auto& answers = array_at(request, {"status", "conditions"});
        if (answers.empty() || (answers.size() == 1 && is(request, "Accepted"))) report(request, "Provisioned");
      }
      for (const auto& workload : list(kKueue, "Workload")) {
        if (!bool_at(workload, {"spec", "active"}, true) && !is(workload, "QuotaReserved"))
          patch(kKueue, "Workload", name_of(workload), "", "{spec: {active: true}}");
      }
      end_pods(300);
      look();
    }
  }

  std::vector<Json> list(std::string_view api_version, std::string_view kind) {
    auto request = world_->request_for(api_version, kind, "default", {}).value();
    request.verb = api::Verb::kList;
    const auto response = world_->call(std::move(request));
    const auto& items = array_at(response.body, {"items"});
    return {items.begin(), items.end()};
  }

  int most_requests = 0;  // the most requests that one workload had at the same time
  int reported = 0;       // number of the autoscaler's answers

 private:
  void restart() {
    controller_.reset();
    controller_ =
        std::make_unique<controller::Controller>(*faulty_, world_->executor(), controller::ControllerOptions{});
    controller_->lead();
    controller_->start();
  }

  void patch(std::string_view api_version, std::string_view kind, std::string_view name, std::string_view subresource,
             std::string_view body) {
    auto request = world_->request_for(api_version, kind, "default", name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = subresource;
    request.body = parse_yaml(body).value().front();
    world_->call(std::move(request));
  }

  void report(const Json& request, std::string_view type) {
    ++reported;
    JsonArray conditions = array_at(request, {"status", "conditions"});
    conditions.push_back(JsonObject{{"type", type},
                                    {"status", "True"},
                                    {"reason", "R"},
                                    {"message", "m"},
                                    {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    patch(kAutoscaling, "ProvisioningRequest", name_of(request), "status",
          to_string(JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}}));
  }

  void answer(const Json& request) {
    static constexpr std::string_view kAnswers[] = {"Provisioned", "Failed", "Accepted", "BookingExpired"};
    const bool provisioned = is(request, "Provisioned");
    if (!random_.chance(provisioned ? 30 : 150)) return;
    const std::string_view type =
        provisioned ? (random_.chance(500) ? "CapacityRevoked" : "BookingExpired") : kAnswers[random_.below(4)];
    if (!is(request, type)) report(request, type);
  }

  void end_pods(int per_mille) {
    for (const auto& pod : list("v1", "Pod")) {
      if (string_at(pod, {"status", "phase"}) == "Pending" && random_.chance(per_mille))
        patch("v1", "Pod", name_of(pod), "status", "{status: {phase: Succeeded}}");
    }
  }

  // What must hold at any moment.
  void look() {
    std::map<std::string, int> of_workload;
    for (const auto& request : list(kAutoscaling, "ProvisioningRequest")) {
      const auto& owner = array_at(request, {"metadata", "ownerReferences"})[0];
      most_requests = std::max(most_requests, ++of_workload[std::string(string_at(owner, {"name"}))]);
    }
    for (const auto& workload : list(kKueue, "Workload")) {
      const auto& checks = array_at(workload, {"status", "admissionChecks"});
      const bool runs = is(workload, "Admitted") && !is(workload, "Evicted") && !is(workload, "Finished");
      if (!runs || checks.empty()) continue;
      EXPECT_NE(string_at(checks[0], {"state"}), "Pending") << to_string(*find(workload, "status"));
    }
  }

  simulate::Random random_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<simulate::FaultyClient> faulty_;
  std::unique_ptr<controller::Controller> controller_;
};

TEST(ProvisioningUnderFaults, EveryJobEndsAndNothingIsLeftBehind) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play run(seed);
    run.live(300);
    run.calm(120);
    for (const auto& one : run.list("batch/v1", "Job")) EXPECT_TRUE(is(one, "Complete")) << to_string(one);
    EXPECT_TRUE(run.list(kAutoscaling, "ProvisioningRequest").empty());
    EXPECT_TRUE(run.list("v1", "PodTemplate").empty());
    EXPECT_EQ(run.most_requests, 1) << "one request of a workload at a time";
    EXPECT_GT(run.reported, 4);
  }
}

}  // namespace
}  // namespace berth::simulation::provisioning_faults_test
