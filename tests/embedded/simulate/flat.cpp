#include "embedded/simulate/flat.h"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "base/metrics.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "controller/metrics.h"
#include "embedded/simulate/world.h"

namespace berth::simulation {
namespace {

using simulate::World;

constexpr int kWorkloadsAtOnce = 2'000;  // workloads of a round that exist at the same time
constexpr Duration kUntilAdmitted = std::chrono::minutes(2);
// Long enough for the events of a round to expire and for all other timers to run.
constexpr Duration kUntilForgotten = std::chrono::hours(3);

std::size_t heap_in_use() {
#ifdef BERTH_SANITIZED
  return 0;
#else
  return ::mallinfo2().uordblks;
#endif
}

class Life {
 public:
  explicit Life(const FlatOptions& options) : options_(options) {
    simulate::WorldOptions world;
    world.start = parse_time("2026-11-21T09:00:00Z").value();
    world.controller = false;
    world.runs_nodes = false;
    world_ = World::make(world).value();
    controller::ControllerOptions controller;
    controller.metrics = &metrics_;
    controller_ = std::make_unique<controller::Controller>(world_->client(), world_->executor(), controller);
    controller_->lead();
    controller_->start();
    world_->run_for(std::chrono::seconds(5));
  }

  FlatRound round(int number) {
    const int queues = options_.queues / options_.rounds, workloads = options_.workloads / options_.rounds;
    name_ = "r" + std::to_string(number);
    make_queues(queues);
    FlatRound out;
    for (int from = 0; from < workloads; from += kWorkloadsAtOnce)
      out.admitted += live(from, std::min(workloads, from + kWorkloadsAtOnce), queues);
    scrape();
    remove_queues(queues);
    world_->run_for(kUntilForgotten);
    scrape();
    out.left = count("ClusterQueue") + count("LocalQueue") + count("ResourceFlavor") + count("Workload");
    out.series = static_cast<std::size_t>(std::ranges::count(text_, '\n'));
    out.names = controller_->engine().names_kept();
    text_ = std::string();
    out.heap = heap_in_use();
    return out;
  }

 private:
  void make(const std::string& yaml) {
    const auto made = world_->create(parse_yaml(yaml).value().front());
    if (!made) throw std::runtime_error(made.error().message + ": " + yaml);
  }
  std::string queue(int i) const { return name_ + "-q" + std::to_string(i); }

  // A namespace, a cohort, and queues with a flavor and a resource of their own.
  void make_queues(int queues) {
    make("{apiVersion: v1, kind: Namespace, metadata: {name: " + name_ + "}}");
    make("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: " + name_ + "}}");
    for (int i = 0; i < queues; ++i) {
      const std::string own = queue(i);
      make("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + own + "}}");
      make("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + own +
           "}, spec: {namespaceSelector: {}, "
           "cohortName: " +
           name_ + ", resourceGroups: [{coveredResources: [cpu, example.com/" + own + "], flavors: [{name: " + own +
           ", resources: [{name: cpu, nominalQuota: 100000}, {name: example.com/" + own +
           ", nominalQuota: 100000}]}]}]}}");
      make("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + own + ", namespace: " + name_ +
           "}, spec: {clusterQueue: " + own + "}}");
    }
  }

  std::string workload_of(int i, int queues) const {
    const std::string own = queue(i % queues), number = std::to_string(i);
    return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w" + number +
           ", namespace: " + name_ + "}, spec: {queueName: " + own +
           ", podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: "
           "[{name: c, image: i, resources: {requests: {cpu: " +
           std::to_string(1 + i % 7) + "m, example.com/" + own + ": '1'}}}]}}}]}}";
  }

  // Creates the workloads, waits for their admission, finishes and deletes them. Returns how many were admitted.
  int live(int from, int to, int queues) {
    for (int i = from; i < to; ++i) make(workload_of(i, queues));
    world_->run_for(kUntilAdmitted);
    int admitted = 0;
    for (int i = from; i < to; ++i) {
      const std::string name = "w" + std::to_string(i);
      const auto workload = world_->get("kueue.x-k8s.io/v1beta2", "Workload", name_, name);
      if (!workload) continue;
      Json conditions = *find_path(*workload, {"status", "conditions"});
      for (const Json& condition : conditions.as_array()) {
        if (string_at(condition, {"type"}) == "Admitted" && string_at(condition, {"status"}) == "True") ++admitted;
      }
      conditions.as_array().push_back(JsonObject{{"type", "Finished"},
                                                 {"status", "True"},
                                                 {"reason", "Succeeded"},
                                                 {"message", "done"},
                                                 {"lastTransitionTime", format_time(world_->executor().now())}});
      change(api::Verb::kPatch, "Workload", name_, name, "status",
             JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}});
    }
    world_->run_for(std::chrono::seconds(30));
    scrape();
    for (int i = from; i < to; ++i) change(api::Verb::kDelete, "Workload", name_, "w" + std::to_string(i));
    world_->run_for(std::chrono::seconds(30));
    return admitted;
  }

  void remove_queues(int queues) {
    for (int i = 0; i < queues; ++i) {
      change(api::Verb::kDelete, "LocalQueue", name_, queue(i));
      change(api::Verb::kDelete, "ClusterQueue", "", queue(i));
    }
    world_->run_for(std::chrono::seconds(30));
    for (int i = 0; i < queues; ++i) change(api::Verb::kDelete, "ResourceFlavor", "", queue(i));
    change(api::Verb::kDelete, "Cohort", "", name_);
    auto request = world_->request_for("v1", "Namespace", "", name_).value();
    request.verb = api::Verb::kDelete;
    world_->call(std::move(request));
  }

  void change(api::Verb verb, const std::string& kind, const std::string& ns, const std::string& name,
              const std::string& subresource = "", Json body = nullptr) {
    auto request = world_->request_for("kueue.x-k8s.io/v1beta2", kind, ns, name).value();
    request.verb = verb;
    request.subresource = subresource;
    request.patch_type = api::PatchType::kMerge;
    request.body = std::move(body);
    const auto answer = world_->call(std::move(request));
    if (!answer.ok()) throw std::runtime_error(kind + " " + name + ": " + to_string(answer.body));
  }

  int count(const std::string& kind) {
    auto request = world_->request_for("kueue.x-k8s.io/v1beta2", kind, "", "").value();
    request.ns.clear();
    request.verb = api::Verb::kList;
    return static_cast<int>(array_at(world_->call(std::move(request)).body, {"items"}).size());
  }

  void scrape() {
    controller_->refresh_metrics();
    text_ = registry_.text();
  }

  const FlatOptions options_;
  Metrics registry_;
  controller::ControllerMetrics metrics_{registry_, {.role = "leader", .cluster_queue_resources = true}};
  std::unique_ptr<World> world_;
  std::unique_ptr<controller::Controller> controller_;
  std::string name_, text_;
};

}  // namespace

std::vector<FlatRound> run_flat(const FlatOptions& options, const std::function<void(int, const FlatRound&)>& report) {
  Life life(options);
  std::vector<FlatRound> rounds;
  rounds.reserve(static_cast<std::size_t>(options.rounds));
  for (int i = 0; i < options.rounds; ++i) {
    rounds.push_back(life.round(i));
    if (report) report(i, rounds.back());
  }
  return rounds;
}

}  // namespace berth::simulation
