#include "embedded/simulate/elastic_chaos.h"

#include <memory>
#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/elastic_audit.h"
#include "embedded/simulate/hands.h"

namespace berth::simulation {
namespace {

constexpr Duration kElasticCalm = std::chrono::minutes(20);
constexpr Duration kElasticCalmStep = std::chrono::minutes(2);
constexpr Duration kBetweenElasticAudits = std::chrono::seconds(2);

class ElasticChaos {
 public:
  explicit ElasticChaos(const ElasticChaosOptions& options) : options_(options), random_(options.seed * 31 + 7) {}

  ElasticChaosResult run() {
    if (set_up()) {
      storm_->begin();
      act_again();
      look_again();
      storm_->play_until(options_.events);
      calm();
      result_.replaced = audit_.replaced();
      for (const auto& workload : list_all(*world_, "kueue.x-k8s.io/v1beta2", "Workload")) {
        for (const auto& eviction : array_at(workload, {"status", "schedulingStats", "evictions"}))
          result_.evictions += static_cast<std::uint64_t>(int_at(eviction, {"count"}));
      }
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  bool set_up() {
    simulate::WorldOptions world = storm_world(options_.seed);
    world.nodes = "1x1x4";
    world.node_resources = "cpu=64,memory=256Gi";
    world_ = make_world(world, result_.broken);
    if (!world_) return false;
    storm_ = std::make_unique<Storm>(*world_, options_.seed);
    hands_ = std::make_unique<Hands>(world_->client(), random_);
    return storm_->populate(estate());
  }

  static Json queue(const std::string& name, const std::string& quota) {
    return yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
                "}, spec: {namespaceSelector: {}, cohortName: all, preemption: {withinClusterQueue: "
                "LowerPriority, reclaimWithinCohort: Any}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: "
                "f, resources: [{name: cpu, nominalQuota: " +
                quota + "}]}]}]}}");
  }

  static std::vector<Json> estate() {
    std::vector<Json> objects{
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}"),
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 9}")};
    for (const char* name : {"x", "y"}) {
      objects.push_back(queue(name, "6"));
      objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " +
                             std::string(name) + ", namespace: default}, spec: {clusterQueue: " + name + "}}"));
    }
    return objects;
  }

  void act_again() {
    world_->executor().after(Duration(static_cast<Duration::rep>(random_.below(4'000'000))), [this] {
      if (storm_->is_calm()) return;
      act();
      act_again();
    });
  }

  void act() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return submit();
      case 2:
        return random_.chance(300) ? hands_->remove_some(random_.chance(500) ? api::kJobs : api::kWorkloads) : stop();
      default:
        return scale();
    }
  }

  void submit() {
    ++result_.jobs;
    const bool elastic = random_.chance(700);
    const std::string pods = number(elastic ? random_.below(5) : 1 + random_.below(4));
    Json job = yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j" + number(result_.jobs) +
                    ", labels: {kueue.x-k8s.io/queue-name: " + pick(random_, {"x", "y"}) +
                    "}}, spec: {suspend: true, parallelism: " + pods + ", completions: " + (elastic ? "30" : pods) +
                    ", template: {metadata: {annotations: {berth.dev/run-for: " +
                    (elastic ? "24h" : number(5 + random_.below(60)) + "s") +
                    "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "
                    "1}}}]}}}}");
    if (pods == "0") ensure_path(job, {"spec", "completions"}) = 30;
    if (elastic) ensure_path(job, {"metadata", "annotations", "kueue.x-k8s.io/elastic-job"}) = "true";
    if (random_.chance(200)) ensure_path(job, {"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = "high";
    hands_->create(api::kJobs, "default", std::move(job));
  }

  void scale() {
    hands_->patch_some(api::kJobs, "", [this](const Json& job) {
      if (string_at(job, {"metadata", "annotations", "kueue.x-k8s.io/elastic-job"}) != "true") return Json();
      const auto size = static_cast<std::int64_t>(random_.below(8));
      audit_.asked(api::object_key(job), size);
      ++result_.sizes;
      return Json(JsonObject{{"spec", JsonObject{{"parallelism", size}}}});
    });
  }

  void stop() {
    hands_->patch_some(api::kClusterQueues, "", [this](const Json&) {
      return Json(
          JsonObject{{"spec", JsonObject{{"stopPolicy", pick(random_, {"None", "Hold", "HoldAndDrain", "None"})}}}});
    });
  }

  ElasticAudit::Moment moment() {
    const auto& list = world_->server().objects().list;
    return {list(api::kJobs, ""), list(api::kWorkloads, ""), list(api::kPods, "")};
  }

  void look_again() {
    world_->executor().after(kBetweenElasticAudits, [this] {
      for (const auto& sentence : audit_.look(moment())) storm_->complain(sentence);
      look_again();
    });
  }

  // Faults end, and there is quota for every size.
  void calm() {
    storm_->calm();
    const Time end = world_->executor().now() + kElasticCalm;
    do {
      hands_->patch_all(api::kClusterQueues, "", [](const Json& each) {
        Json wide = queue(std::string(string_at(each, {"metadata", "name"})), "1000");
        ensure_path(wide, {"spec", "stopPolicy"}) = "None";
        return Json(JsonObject{{"spec", *find_path(wide, {"spec"})}});
      });
      storm_->run_for(kElasticCalmStep);
    } while (world_->executor().now() < end && storm_->healthy());
    if (!storm_->healthy()) return;
    for (const auto& sentence : audit_.look_at_rest(moment())) storm_->complain(sentence);
  }

  ElasticChaosOptions options_;
  simulate::Random random_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<Storm> storm_;
  std::unique_ptr<Hands> hands_;
  ElasticAudit audit_;
  ElasticChaosResult result_;
};

}  // namespace

ElasticChaosResult run_elastic_chaos(const ElasticChaosOptions& options) { return ElasticChaos(options).run(); }

}  // namespace berth::simulation
