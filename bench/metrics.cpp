// A scrape of the controller's metrics: the gauges are brought up to date and the text is made. 1,000 cluster queues
// with a local queue each; the argument is the number of workloads that wait.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "api/meta.h"
#include "base/yaml.h"
#include "controller/metrics.h"
#include "engine/engine.h"
#include "engine/support/build.h"

namespace berth::controller {
namespace {

constexpr int kQueues = 1'000;
const Time kStart = parse_time("2026-11-21T09:00:00Z").value();

class Cluster {
 public:
  explicit Cluster(int workloads) {
    namespace test = engine::test;
    engine_.handle(kStart, engine::NamespaceSeen{"ns", {}});
    engine_.handle(kStart,
                   engine::ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    for (int q = 0; q < kQueues; ++q) {
      const std::string name = "cq" + std::to_string(q), local = "q" + std::to_string(q);
      engine_.handle(
          kStart,
          engine::ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
              test::ClusterQueueBuilder(name).cpu({{"f", "1"}}).cohort("co" + std::to_string(q % 10)).build())});
      engine_.handle(kStart, engine::LocalQueueSeen{
                                 std::make_shared<const api::kueue::LocalQueue>(test::local_queue(local, name))});
      objects_[name] =
          std::make_shared<const Json>(JsonObject{{"metadata", JsonObject{{"name", name}}},
                                                  {"spec", JsonObject{{"cohortName", "co" + std::to_string(q % 10)}}}});
      objects_[local] =
          std::make_shared<const Json>(JsonObject{{"metadata", JsonObject{{"name", local}, {"namespace", "ns"}}},
                                                  {"spec", JsonObject{{"clusterQueue", name}}}});
      live(name, local);
    }
    for (int w = 0; w < workloads; ++w) {
      auto workload = test::WorkloadBuilder("w" + std::to_string(w), "q" + std::to_string(w % kQueues))
                          .pods(2, "1")
                          .created(kStart + std::chrono::milliseconds(w));
      engine_.handle(kStart, engine::WorkloadSeen{std::make_shared<const api::kueue::Workload>(std::move(workload))});
    }
    engine_.handle(kStart, engine::Synced{});
    engine_.schedule(kStart);
  }

  void all_queues_changed() {
    for (int q = 0; q < kQueues; ++q) {
      metrics_.cluster_queue_changed("cq" + std::to_string(q));
      metrics_.local_queue_changed("ns", "q" + std::to_string(q));
    }
  }

  std::string scrape() {
    metrics_.refresh(engine_, [this](const api::GroupVersionResource&, std::string_view, std::string_view name) {
      const auto at = objects_.find(name);
      return at == objects_.end() ? JsonPtr() : at->second;
    });
    return registry_.text();
  }

 private:
  // A workload of the queue was admitted and finished, so that counters and histograms have series.
  void live(const std::string& cluster_queue, const std::string& local_queue) {
    api::kueue::Workload before;
    before.meta.ns = "ns";
    before.meta.uid = cluster_queue;
    before.queue_name = local_queue;
    before.meta.creation = kStart;
    api::kueue::Workload after = before;
    after.status.admission = api::kueue::Admission{cluster_queue, {}};
    for (const std::string_view type : {api::kueue::kQuotaReserved, api::kueue::kAdmitted}) {
      api::Condition condition;
      condition.type = type;
      condition.status = true;
      condition.last_transition = kStart;
      api::set_condition(after.status.conditions, condition);
    }
    metrics_.workloads().changed(
        before, after,
        {[](std::string_view) { return true; }, [](std::string_view, std::string_view) { return true; }});
  }

  Metrics registry_;
  ControllerMetrics metrics_{registry_, {.cluster_queue_resources = true}};
  engine::Engine engine_{engine::Options()};
  std::map<std::string, JsonPtr, std::less<>> objects_;
};

// Nothing but the counts changed since the last scrape.
void scrape_of_quiet_queues(benchmark::State& state) {
  Cluster cluster(static_cast<int>(state.range(0)));
  cluster.all_queues_changed();
  std::size_t bytes = cluster.scrape().size();
  for (auto _ : state) bytes = cluster.scrape().size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(scrape_of_quiet_queues)->Arg(1'000)->Arg(50'000)->Unit(benchmark::kMillisecond);

// The status of every queue changed.
void scrape_of_busy_queues(benchmark::State& state) {
  Cluster cluster(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    cluster.all_queues_changed();
    benchmark::DoNotOptimize(cluster.scrape());
  }
}
BENCHMARK(scrape_of_busy_queues)->Arg(1'000)->Arg(50'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::controller
