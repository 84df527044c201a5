// What recording costs: the calls of an engine that admits, runs and finishes workloads, as records, as chunks, and
// the engine itself for comparison.
#include <benchmark/benchmark.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/support/build.h"
#include "journal/frames.h"
#include "journal/record.h"

namespace berth::journal {
namespace {

namespace test = engine::test;
using api::kueue::Workload;

constexpr int kQueues = 20;
constexpr int kWorkloads = 2'000;
constexpr std::size_t kChunk = 128u << 10;
constexpr Time kStart{std::chrono::seconds(1'800'000'000)};

struct Call {
  Time now{};
  std::optional<engine::Event> event;  // none: a round
  engine::Effects effects;
};

// The calls while kWorkloads workloads come, are admitted, written, seen, run and finish.
std::vector<Call> calls_of_a_life() {
  std::vector<Call> calls;
  engine::Engine engine{engine::Options()};
  Time now = kStart;
  std::deque<engine::Event> answers;
  int version = 1'000;
  const auto feed = [&](engine::Event event) {
    auto effects = engine.handle(now, event);
    calls.push_back({now, std::move(event), std::move(effects)});
  };
  const auto round = [&] {
    auto effects = engine.schedule(now);
    for (const auto& effect : effects) {
      const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect);
      if (write == nullptr) continue;
      auto written = std::make_shared<Workload>(*write->base);
      written->status = write->status;
      written->meta.resource_version = std::to_string(++version);
      answers.push_back(
          engine::WriteSettled{write->write, engine::WriteSettled::Outcome::kDone, written->meta.resource_version, ""});
      answers.push_back(engine::WorkloadSeen{written});
      if (!api::is_true(written->status.conditions, api::kueue::kAdmitted)) continue;
      api::kueue::JobReport report;
      report.finished = api::kueue::JobReport::Outcome{"Succeeded", "done"};
      report.workload_version = written->meta.resource_version;
      answers.push_back(engine::JobReported{written->meta.ns, written->meta.name, report});
    }
    calls.push_back({now, std::nullopt, std::move(effects)});
  };
  feed(engine::NamespaceSeen{"ns", {}});
  feed(engine::ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
  for (int q = 0; q < kQueues; ++q) {
    const std::string name = "cq" + std::to_string(q);
    feed(engine::ClusterQueueSeen{
        std::make_shared<const api::kueue::ClusterQueue>(test::ClusterQueueBuilder(name).cpu({{"f", "20"}}).build())});
    feed(engine::LocalQueueSeen{
        std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q" + std::to_string(q), name))});
  }
  feed(engine::Synced{});
  const JsonPtr pod_template = test::pod_template(R"({"cpu":"1"})");
  for (int i = 0; i < kWorkloads || !answers.empty(); ++i) {
    now += std::chrono::milliseconds(5);
    if (i < kWorkloads) {
      Workload w =
          test::WorkloadBuilder("w" + std::to_string(i), "q" + std::to_string(i % kQueues)).created(now).build();
      w.pod_sets[0].template_ = pod_template;
      w.meta.resource_version = std::to_string(++version);
      feed(engine::WorkloadSeen{std::make_shared<const Workload>(std::move(w))});
    }
    for (auto left = answers.size(); left > 0; --left) {
      feed(std::move(answers.front()));
      answers.pop_front();
    }
    round();
  }
  return calls;
}

const std::vector<Call>& calls() {
  static const auto kCalls = calls_of_a_life();
  return kCalls;
}

void per_call(benchmark::State& state) {
  state.counters["calls"] = static_cast<double>(calls().size());
  state.counters["per_call"] = benchmark::Counter(
      static_cast<double>(calls().size()), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void engine_alone(benchmark::State& state) {
  for (auto _ : state) {
    engine::Engine engine{engine::Options()};
    for (const auto& call : calls())
      benchmark::DoNotOptimize(call.event ? engine.handle(call.now, *call.event) : engine.schedule(call.now));
  }
  per_call(state);
}
BENCHMARK(engine_alone)->Unit(benchmark::kMillisecond);

// `compress`: also the chunks, which production code makes in another thread.
void record(benchmark::State& state, bool compress) {
  std::size_t raw = 0, stored = 0;
  for (auto _ : state) {
    RecordEncoder encoder(kStart);
    ChunkWriter chunks;
    std::string buffer;
    raw = stored = 0;
    for (const auto& call : calls()) {
      call.event ? encoder.event(buffer, call.now, *call.event, call.effects)
                 : encoder.round(buffer, call.now, call.effects);
      if (buffer.size() < kChunk) continue;
      raw += buffer.size();
      if (compress) stored += chunks.chunk(buffer, stored)->size();
      buffer.clear();
    }
  }
  per_call(state);
  state.counters["bytes_per_call"] = static_cast<double>(raw) / static_cast<double>(calls().size());
  if (compress) state.counters["stored_per_call"] = static_cast<double>(stored) / static_cast<double>(calls().size());
}
BENCHMARK_CAPTURE(record, encode, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(record, encode_and_compress, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::journal
