// Encoding and decoding of large objects.
//   cmake --preset bench && ninja -C build/bench bench_api && build/bench/bench/bench_api
#include <benchmark/benchmark.h>

#include "api/kueue/topology_assignment.h"

namespace berth::api::kueue {
namespace {

// Nodes in pools of 200, sorted by name.
TopologyAssignment assignment(std::int64_t nodes) {
  TopologyAssignment out;
  out.levels = {"kubernetes.io/hostname"};
  for (std::int64_t i = 0; i < nodes; ++i)
    out.domains.push_back(
        {{"gke-prod-training-pool-" + std::to_string(1000 + i / 200) + "-" + std::to_string(100 + i % 200)}, 8});
  return out;
}

void encode_assignment(benchmark::State& state) {
  const TopologyAssignment value = assignment(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(encode_topology_assignment(value));
  state.counters["bytes"] = static_cast<double>(to_string(encode_topology_assignment(value)).size());
}
BENCHMARK(encode_assignment)->Arg(16)->Arg(1000)->Arg(150'000);

void decode_assignment(benchmark::State& state) {
  const Json value = encode_topology_assignment(assignment(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(decode_topology_assignment(value));
}
BENCHMARK(decode_assignment)->Arg(16)->Arg(1000)->Arg(150'000);

}  // namespace
}  // namespace berth::api::kueue
