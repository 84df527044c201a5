// Speed of placing gangs, changing nodes and trying preemptions in large topologies.
//   cmake --preset bench && ninja -C build/bench bench_topology && build/bench/bench/bench_topology
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>

#include "engine/topology/cluster.h"

namespace berth::engine {
namespace {

const Amounts kNode{{"cpu", "96"}, {"memory", "1Ti"}, {"ephemeral-storage", "4Ti"}, {"nvidia.com/gpu", "8"}};
const Amounts kWorker{{"cpu", "10"}, {"memory", "100Gi"}, {"nvidia.com/gpu", "1"}};

struct Size {
  int blocks, racks, nodes;  // racks per block, nodes per rack
  int total() const { return blocks * racks * nodes; }
};
constexpr Size k2500{5, 10, 50}, k100000{10, 100, 100}, k1000{2, 10, 50};

std::string node_name(int i) { return "pool-a-node-" + std::to_string(1'000'000 + i); }

api::Node make_node(const Size& size, int i, const Amounts& capacity) {
  const std::string block = "block-" + std::to_string(i / (size.racks * size.nodes));
  return Cluster::a_node(node_name(i),
                         {{"cloud/block", block},
                          {"cloud/rack", block + "-rack-" + std::to_string(i / size.nodes % size.racks)},
                          {"kubernetes.io/arch", "amd64"},
                          {"kubernetes.io/os", "linux"},
                          {"node.kubernetes.io/instance-type", "gpu-8"},
                          {"topology.kubernetes.io/zone", "z1"}},
                         capacity);
}

const std::vector<std::string> kHosts{"cloud/block", "cloud/rack", "kubernetes.io/hostname"};
const std::vector<std::string> kRacks{"cloud/block", "cloud/rack"};

std::unique_ptr<Cluster> furnished(const Size& size, const Amounts& node = kNode,
                                   const std::vector<std::string>& levels = kHosts) {
  auto cluster = std::make_unique<Cluster>();
  cluster->topology("t", levels);
  cluster->flavor("f", "t");
  for (int i = 0; i < size.total(); ++i) cluster->places.set_node(make_node(size, i, node));
  return cluster;
}

// Pods run on each third node, so that no two racks are equal.
void occupy(Cluster& cluster, const Size& size) {
  for (int i = 0; i < size.total(); i += 3) {
    const std::int32_t pods = 1 + i / 3 % 7;
    cluster.places.take_stated(WorkloadId(static_cast<std::size_t>(i + 2)), "ns/old" + std::to_string(i),
                               {{"f", cluster.amounts(kWorker), Cluster::assigned({{node_name(i), pods}})}});
  }
}

// Places a gang after a pod was added to or removed from some node.
void place(benchmark::State& state, const Size& size, const std::vector<Gang>& gangs) {
  auto cluster = furnished(size);
  occupy(*cluster, size);
  const std::vector<PlaceRequest> requests = cluster->requests(gangs);
  std::vector<api::kueue::PodPlacement> pods;
  for (int i = 0; i < 64; ++i) pods.push_back(Cluster::a_pod("p", node_name(i * 37 % size.total()), kWorker));
  std::size_t next = 0;
  for (auto _ : state) {
    cluster->places.set_pod(pods[next++ % pods.size()]);
    if (!cluster->places.place(requests).ok) state.SkipWithError("not placed");
  }
}

// Places and takes gangs in turn, and gives back the previous gang, so that each placement sees many changed nodes.
void take_in_turns(benchmark::State& state, Cluster& cluster, const std::vector<PlaceRequest>& requests) {
  std::size_t turn = 0;
  for (auto _ : state) {
    Placement placement = cluster.places.place(requests);
    if (!placement.ok) state.SkipWithError("not placed");
    cluster.places.take(WorkloadId(turn), turn ? "ns/a" : "ns/b", std::move(placement.pod_sets));
    turn = 1 - turn;
    cluster.places.give_back(WorkloadId(turn));
  }
}

void place_and_take(benchmark::State& state, const Size& size, const std::vector<Gang>& gangs) {
  auto cluster = furnished(size);
  occupy(*cluster, size);
  take_in_turns(state, *cluster, cluster->requests(gangs));
}

Gang workers(std::int32_t count) { return Gang{.count = count, .requests = kWorker}; }
std::vector<Gang> led(std::int32_t count, const std::string& level) {
  Gang leader{.count = 1, .requests = {{"cpu", "4"}, {"memory", "8Gi"}}};
  return {leader.preferred(level).in("g"), workers(count).preferred(level).in("g")};
}

#define BERTH_GANGS(how)                                                                                             \
  BENCHMARK_CAPTURE(how, 2500_nodes_workers, k2500, {workers(1024).preferred("cloud/rack")})                         \
      ->Unit(benchmark::kMicrosecond);                                                                               \
  BENCHMARK_CAPTURE(how, 2500_nodes_with_leader, k2500, led(1024, "cloud/rack"))->Unit(benchmark::kMicrosecond);     \
  BENCHMARK_CAPTURE(how, 2500_nodes_unconstrained, k2500, {workers(1024).unconstrained()})                           \
      ->Unit(benchmark::kMicrosecond);                                                                               \
  BENCHMARK_CAPTURE(how, 100000_nodes_workers, k100000, {workers(8192).preferred("cloud/rack")})                     \
      ->Unit(benchmark::kMicrosecond);                                                                               \
  BENCHMARK_CAPTURE(how, 100000_nodes_with_leader, k100000, led(8192, "cloud/rack"))->Unit(benchmark::kMicrosecond); \
  BENCHMARK_CAPTURE(how, 100000_nodes_unconstrained, k100000, {workers(1024).unconstrained()})                       \
      ->Unit(benchmark::kMicrosecond)
BERTH_GANGS(place);
BERTH_GANGS(place_and_take);

// 8,192 pods that prefer nodes of some racks.
Gang choosy(std::int32_t count) {
  Gang gang = workers(count).preferred("cloud/rack");
  for (int i = 0; i < 10; ++i) {
    const std::string block = "block-" + std::to_string(i);
    gang.likes("cloud/rack", block + "-rack-" + std::to_string(90 + i), 10 + i);
  }
  return gang;
}
BENCHMARK_CAPTURE(place, 100000_nodes_preferred_affinity, k100000, {choosy(8192)})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(place, 100000_nodes_preferred_affinity_unconstrained, k100000,
                  {workers(1024).unconstrained().likes("cloud/rack", "block-3-rack-50")})
    ->Unit(benchmark::kMicrosecond);

// A workload that is spread, beside 5,000 others of which 800 count: eight of ten blocks hold too many.
void place_spread(benchmark::State& state, bool preferred) {
  auto cluster = furnished(k100000);
  occupy(*cluster, k100000);
  for (std::size_t i = 0; i < 5000; ++i) {
    const api::StringMap labels{{"app", i % 5 == 0 && i < 4000 ? "a" : "b"},
                                {"kueue.x-k8s.io/job-uid", std::to_string(i)}};
    std::vector<StatedPlaces> stated{
        {"f", cluster->amounts(kWorker), Cluster::assigned({{node_name(static_cast<int>(i) * 20), 1}}), "main"}};
    cluster->places.take_stated(WorkloadId(1'000'000 + i), "ns/s" + std::to_string(i), stated,
                                std::make_shared<const api::StringMap>(labels));
  }
  const std::vector<Gang> gangs{
      workers(64).required("cloud/rack").spread("cloud/block", 101, preferred).spread("cloud/rack", 1, preferred)};
  const std::vector<PlaceRequest> requests = cluster->requests(gangs);
  int next = 0;
  for (auto _ : state) {
    cluster->places.set_pod(Cluster::a_pod("p", node_name(next++ * 37 % k100000.total()), kWorker));
    if (!cluster->places.place(requests).ok) state.SkipWithError("not placed");
  }
}
BENCHMARK_CAPTURE(place_spread, required, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(place_spread, preferred, true)->Unit(benchmark::kMicrosecond);

// 8,192 pods in racks, the lowest level; pods run on each third node.
void place_and_take_racks(benchmark::State& state) {
  auto cluster = furnished(k100000, kNode, kRacks);
  for (int i = 0; i < k100000.total(); i += 3)
    cluster->places.set_pod(Cluster::a_pod("p" + std::to_string(i), node_name(i), kWorker));
  const std::vector<Gang> gangs{workers(8192).preferred("cloud/rack")};
  take_in_turns(state, *cluster, cluster->requests(gangs));
}
BENCHMARK(place_and_take_racks)->Unit(benchmark::kMicrosecond);

// A pod on a node of a rack, the lowest level, comes or goes; then 64 pods are placed.
void place_in_racks(benchmark::State& state) {
  auto cluster = furnished(k100000, kNode, kRacks);
  const std::vector<Gang> gangs{workers(64).required("cloud/rack")};
  const std::vector<PlaceRequest> requests = cluster->requests(gangs);
  int next = 0;
  for (auto _ : state) {
    cluster->places.set_pod(Cluster::a_pod("p", node_name(next++ * 37 % k100000.total()), kWorker));
    if (!cluster->places.place(requests).ok) state.SkipWithError("not placed");
  }
}
BENCHMARK(place_in_racks)->Unit(benchmark::kMicrosecond);

// A shape of pod that was not requested before: all domains are counted.
void count_a_new_kind(benchmark::State& state) {
  auto cluster = furnished(k100000);
  occupy(*cluster, k100000);
  std::int64_t memory = 1;
  for (auto _ : state) {
    Gang gang = workers(8);
    gang.requests.push_back({"ephemeral-storage", std::to_string(++memory)});
    if (!cluster->place({gang.required("cloud/rack")}).ok) state.SkipWithError("not placed");
  }
}
BENCHMARK(count_a_new_kind)->Unit(benchmark::kMicrosecond);

// 1,000 full nodes; a gang of 200 pods, each as large as a node, with 30 resources. Removes victims until the gang
// fits, then tries to give back each of them.
void preempt(benchmark::State& state) {
  constexpr std::size_t kPods = 200;
  Amounts node, pod;
  for (int i = 0; i < 30; ++i) {
    const std::string resource = i == 0 ? "cpu" : "example.com/r" + std::to_string(i);
    node.push_back({resource, "10"});
    pod.push_back({resource, "8"});
  }
  auto cluster = furnished(k1000, node);
  for (int i = 0; i < k1000.total(); ++i) {
    cluster->places.take_stated(WorkloadId(static_cast<std::size_t>(i)), "ns/w" + std::to_string(i),
                                {{"f", cluster->amounts(pod), Cluster::assigned({{node_name(i), 1}})}});
  }
  const std::vector<Gang> gangs{Gang{.count = kPods, .requests = pod}.required("cloud/block")};
  const std::vector<PlaceRequest> requests = cluster->requests(gangs);
  for (auto _ : state) {
    Places::Trial trial(cluster->places);
    std::size_t victims = 0;
    do {
      trial.without(WorkloadId(victims++));
    } while (!cluster->places.place(requests).ok);
    if (victims != kPods) state.SkipWithError("not as many victims as expected");
    for (std::size_t i = victims - 1; i-- > 0;) {
      trial.again(WorkloadId(i));
      if (!cluster->places.place(requests).ok) trial.without(WorkloadId(i));
    }
  }
}
BENCHMARK(preempt)->Unit(benchmark::kMicrosecond);

// A node among 100,000 becomes NotReady or Ready again.
void node_change(benchmark::State& state) {
  auto cluster = furnished(k100000);
  occupy(*cluster, k100000);
  std::vector<api::Node> nodes;
  for (int i = 0; i < 1000; ++i) {
    api::Node node = make_node(k100000, i * 97, kNode);
    node.ready = false;
    nodes.push_back(node);
    node.ready = true;
    nodes.push_back(node);
  }
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(cluster->places.set_node(nodes[next++ % nodes.size()]));
}
BENCHMARK(node_change)->Unit(benchmark::kMicrosecond);

// The same, followed by a placement that depends on it.
void node_change_and_place(benchmark::State& state) {
  auto cluster = furnished(k100000);
  occupy(*cluster, k100000);
  api::Node node = make_node(k100000, 4711, kNode);
  const std::vector<Gang> gangs{workers(64).required("cloud/rack")};
  const std::vector<PlaceRequest> requests = cluster->requests(gangs);
  for (auto _ : state) {
    node.ready = !*node.ready;
    cluster->places.set_node(node);
    if (!cluster->places.place(requests).ok) state.SkipWithError("not placed");
  }
}
BENCHMARK(node_change_and_place)->Unit(benchmark::kMicrosecond);

// A node is removed and added again.
void node_leaves_and_joins(benchmark::State& state) {
  auto cluster = furnished(k100000);
  const api::Node node = make_node(k100000, 4711, kNode);
  for (auto _ : state) {
    cluster->places.remove_node(node.name);
    cluster->places.set_node(node);
  }
}
BENCHMARK(node_leaves_and_joins)->Unit(benchmark::kMicrosecond);

// Memory of 100,000 nodes, with the counts for one shape of pod.
void memory(benchmark::State& state) {
  for (auto _ : state) {
    malloc_trim(0);
    const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    auto cluster = furnished(k100000);
    cluster->place({workers(64).required("cloud/rack")});
    const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    state.counters["bytes_per_node"] = static_cast<double>(after - before) / k100000.total();
  }
}
BENCHMARK(memory)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace berth::engine
