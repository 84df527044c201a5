// Cost of Volcano's queues in a forest of 10,000 queues with 4 levels: admission (goal: creating a queue takes at
// most 200 us), and feeding the resulting events to the engine.
#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "api/volcano/defaulting.h"
#include "api/volcano/validation.h"
#include "volcano/admission.h"
#include "volcano/quota_tree.h"

namespace berth::volcano {
namespace {

constexpr int kQueues = 10'000;

Json queue_json(const std::string& name, const std::string& parent, int amount) {
  const std::string cpu = std::to_string(amount), memory = std::to_string(amount) + "Gi";
  const JsonObject amounts{{"cpu", cpu}, {"memory", memory}, {"nvidia.com/gpu", cpu}};
  JsonObject spec{{"capability", amounts},
                  {"deserved", amounts},
                  {"guarantee", JsonObject{{"resource", amounts}}},
                  {"dequeueStrategy", "traverse"}};
  if (!parent.empty()) spec["parent"] = parent;
  return JsonObject{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                    {"kind", "Queue"},
                    {"metadata", JsonObject{{"name", name}}},
                    {"spec", std::move(spec)}};
}

// Each queue has `width` children while queues are left, down to 4 levels.
template <typename Forest>
void grow(Forest& forest, int width) {
  std::vector<std::string> level{""};
  int made = 0, amount = 1'000'000;
  for (int depth = 0; depth < 4; ++depth, amount /= 2 * width) {
    std::vector<std::string> next;
    for (const std::string& parent : level) {
      for (int i = 0; i < width && made < kQueues; ++i, ++made) {
        const std::string name = "q" + std::to_string(made);
        forest.set(std::make_shared<const api::volcano::Queue>(
            *api::volcano::decode_queue(queue_json(name, parent, std::max(amount, 1)))));
        next.push_back(name);
      }
    }
    level = std::move(next);
  }
}

void create(benchmark::State& state, const std::string& parent, int width) {
  QueueForest forest;
  grow(forest, width);
  const Admission admission(forest, {}, [](std::string_view) { return std::size_t{0}; });
  for (auto _ : state) {
    Json object = queue_json("new", parent, 1);
    api::volcano::default_queue(object);
    auto errors = api::volcano::validate_queue(object, nullptr);
    auto queue = std::make_shared<const api::volcano::Queue>(*api::volcano::decode_queue(object));
    if (errors.empty()) errors = admission.create(*queue);
    if (!errors.empty()) state.SkipWithError("refused");
    forest.set(std::move(queue));
    state.PauseTiming();
    forest.remove("new");
    state.ResumeTiming();
  }
}

// Ten children each: the new queue is the eleventh child of its parent, at the fourth level.
void BM_CreateQueueInATree(benchmark::State& state) { create(state, "q200", 10); }
BENCHMARK(BM_CreateQueueInATree);

// The new queue's parent has thousands of children.
void BM_CreateQueueAmongManySiblings(benchmark::State& state) { create(state, "q0", 9'000); }
BENCHMARK(BM_CreateQueueAmongManySiblings);

// Sets a resource that no descendant names: all descendants are checked. The most expensive change.
void BM_ChangeTheTopmostQueue(benchmark::State& state) {
  QueueForest forest;
  grow(forest, 10);
  const Admission admission(forest, {}, [](std::string_view) { return std::size_t{0}; });
  const auto& old = *forest.find("q0")->object;
  api::volcano::Queue queue = old;
  queue.capability["example.com/fpga"] = *Quantity::parse("1");
  for (auto _ : state) benchmark::DoNotOptimize(admission.update(queue, old));
}
BENCHMARK(BM_ChangeTheTopmostQueue);

// Adds a new leaf to the quota tree and removes it: affects the leaf and its parent.
void BM_CompileALeaf(benchmark::State& state) {
  QuotaTree tree;
  grow(tree, 10);
  const auto leaf =
      std::make_shared<const api::volcano::Queue>(*api::volcano::decode_queue(queue_json("new", "q200", 1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(tree.set(leaf));
    benchmark::DoNotOptimize(tree.remove("new"));
  }
}
BENCHMARK(BM_CompileALeaf);

// The same, with the engine handling the events and making decisions: waiting workloads may be affected.
void BM_TellTheEngineOfALeaf(benchmark::State& state) {
  const Time now{std::chrono::seconds(1'800'000'000)};
  QuotaTree tree;
  engine::Engine engine{engine::Options()};
  const auto feed = [&](const QuotaTree::Events& events) {
    for (const auto& event : events) benchmark::DoNotOptimize(engine.handle(now, event));
  };
  feed(tree.start());
  struct Fed {
    QuotaTree& tree;
    const std::function<void(const QuotaTree::Events&)> feed;
    void set(QueuePtr queue) { feed(tree.set(std::move(queue))); }
  } fed{tree, feed};
  grow(fed, 10);
  feed({engine::Synced{}});
  benchmark::DoNotOptimize(engine.schedule(now));
  const auto leaf =
      std::make_shared<const api::volcano::Queue>(*api::volcano::decode_queue(queue_json("new", "q200", 1)));
  for (auto _ : state) {
    feed(tree.set(leaf));
    benchmark::DoNotOptimize(engine.schedule(now));
    feed(tree.remove("new"));
    benchmark::DoNotOptimize(engine.schedule(now));
  }
}
BENCHMARK(BM_TellTheEngineOfALeaf);

// Closing a top-level queue holds the thousand queues below it; opening it releases them.
void BM_CloseATopmostQueue(benchmark::State& state) {
  QuotaTree tree;
  grow(tree, 10);
  api::volcano::Queue queue = *tree.forest().find("q0")->object;
  for (auto _ : state) {
    queue.status.state = queue.status.state == api::volcano::QueueState::kClosed ? api::volcano::QueueState::kOpen
                                                                                 : api::volcano::QueueState::kClosed;
    benchmark::DoNotOptimize(tree.set(std::make_shared<const api::volcano::Queue>(queue)));
  }
}
BENCHMARK(BM_CloseATopmostQueue);

}  // namespace
}  // namespace berth::volcano
