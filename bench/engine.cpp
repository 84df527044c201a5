// Speed of decisions without an API server.
//   cmake --preset bench && ninja -C build/bench bench_engine && build/bench/bench/bench_engine
#include <benchmark/benchmark.h>

#include "engine/schedule/hall.h"
#include "engine/schedule/house.h"

namespace berth::engine {
namespace {

constexpr int kQueues = 1000, kCohorts = 10, kPending = 50000;

std::string queue_name(int i) { return "cq" + std::to_string(i); }

// 1,000 queues in 10 cohorts; the nominal quota of each queue is enough for `own` jobs of one cpu.
void add_queues(World& world, int own, bool by_usage = false) {
  world.flavor("default");
  for (int i = 0; i < kQueues; ++i) {
    QueueSpec queue(queue_name(i));
    queue.in("cohort" + std::to_string(i % kCohorts))
        .flavor("default", {{"cpu", std::to_string(own)}, {"memory", std::to_string(own) + "Gi"}});
    queue.object.admission_by_usage = by_usage;
    world.queue(queue);
  }
}

Pending pending_job(int i) {
  static constexpr std::int32_t kSizes[] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 5};  // pods
  JobSpec job{.queue = queue_name(i % kQueues), .count = kSizes[i / kQueues % 10]};
  job.requests = {{"cpu", "1"}, {"memory", "1Gi"}};
  job.priority = i / kQueues % 3;
  Pending pending = World::pending(job, i);
  pending.local_queue = "ns/" + job.queue;
  return pending;
}

// All jobs fit: one decision is one admission. With fair sharing, the heads of a cohort's 100 queues are ordered by
// share.
void admit_all(benchmark::State& state, bool fair_sharing, int tenants = 1, bool by_usage = false) {
  SchedulerOptions options;
  options.fair_sharing.enabled = fair_sharing;
  options.usage = {by_usage, std::chrono::hours(168), std::chrono::minutes(5), {}};
  std::vector<Pending> jobs;
  for (int i = 0; i < kPending; ++i) {
    jobs.push_back(pending_job(i));
    if (tenants > 1) jobs.back().local_queue += "-" + std::to_string(i / kQueues % tenants);
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto world = std::make_unique<World>(options);
    add_queues(*world, fair_sharing ? 50 : 100, by_usage);  // with fair sharing, half of the quota is borrowed
    for (int i = 0; by_usage && i < kQueues * tenants; ++i)
      world->scheduler.set_local_queue({jobs[i].local_queue, jobs[i].cluster_queue, {1, 1}, {}, {}});
    if (fair_sharing) {
      for (int i = 0; i < kCohorts; ++i)
        world->cohort("cohort" + std::to_string(i), "", {{"default", {{"cpu", "9000"}, {"memory", "9000Gi"}}}});
    }
    for (int i = 0; i < kPending; ++i) {
      world->scheduler.submit(world->scheduler.enter("uid-" + std::to_string(i), ""), jobs[i]);
    }
    state.ResumeTiming();
    Decisions decisions = world->scheduler.schedule(at_second(1));
    state.PauseTiming();
    if (decisions.size() != kPending) state.SkipWithError("not everything was admitted");
    decisions.clear();
    world.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPending);
}
void admit_all(benchmark::State& state) { admit_all(state, false); }
void admit_all_fairly(benchmark::State& state) { admit_all(state, true); }
// As admit_all, with the order by past usage: one local queue in each cluster queue.
void admit_all_with_usage(benchmark::State& state) { admit_all(state, false, 1, true); }
// Five local queues in each cluster queue; without and with the order by past usage (admission fair sharing).
void admit_all_of_tenants(benchmark::State& state) { admit_all(state, false, 5); }
void admit_all_by_usage(benchmark::State& state) { admit_all(state, false, 5, true); }
BENCHMARK(admit_all)->Unit(benchmark::kMillisecond);
BENCHMARK(admit_all_fairly)->Unit(benchmark::kMillisecond);
BENCHMARK(admit_all_with_usage)->Unit(benchmark::kMillisecond);
BENCHMARK(admit_all_of_tenants)->Unit(benchmark::kMillisecond);
BENCHMARK(admit_all_by_usage)->Unit(benchmark::kMillisecond);

// The whole life of a workload: submitted, admitted when quota becomes free, finished. There is quota for a tenth of
// the workloads at a time.
void churn(benchmark::State& state) {
  std::vector<Pending> jobs;
  for (int i = 0; i < kPending; ++i) jobs.push_back(pending_job(i));
  for (auto _ : state) {
    state.PauseTiming();
    auto world = std::make_unique<World>();
    add_queues(*world, 8);
    std::vector<WorkloadId> ids;
    for (int i = 0; i < kPending; ++i) ids.push_back(world->scheduler.enter("uid-" + std::to_string(i), ""));
    state.ResumeTiming();
    for (int i = 0; i < kPending; ++i) world->scheduler.submit(ids[i], jobs[i]);
    std::size_t admitted = 0;
    std::vector<WorkloadId> running;
    for (int pass = 0; admitted < kPending; ++pass) {
      running.clear();
      for (const Decision& decision : world->scheduler.schedule(at_second(pass))) {
        if (const auto* admit = std::get_if<Admit>(&decision)) running.push_back(admit->workload);
      }
      admitted += running.size();
      for (WorkloadId each : running) world->scheduler.release(each);
    }
    state.PauseTiming();
    world.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPending);
}
BENCHMARK(churn)->Unit(benchmark::kMillisecond);

// One job finishes, another one starts, and all others wait: the cost of one event when all quota is used.
void one_in_one_out(benchmark::State& state) {
  World world;
  add_queues(world, 8);
  std::vector<WorkloadId> running;
  auto pass = [&](std::int64_t second) {
    for (const Decision& decision : world.scheduler.schedule(at_second(second))) {
      if (const auto* admit = std::get_if<Admit>(&decision)) running.push_back(admit->workload);
    }
  };
  std::vector<Pending> jobs;
  for (int i = 0; i < kPending; ++i) {
    jobs.push_back(pending_job(i));
    world.scheduler.submit(world.scheduler.enter("uid-" + std::to_string(i), ""), jobs[i]);
  }
  pass(1);
  std::size_t next = 0;
  for (auto _ : state) {
    WorkloadId done = running[next++];
    world.scheduler.release(done);
    world.scheduler.submit(done, jobs[done.index()]);  // as a new workload
    pass(2);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(one_in_one_out);

// A workload of high priority, and `candidates` of low priority in its own queue and in borrowing queues.
void preempt(benchmark::State& state) {
  const auto candidates = static_cast<int>(state.range(0));
  const auto victims = static_cast<int>(state.range(1));
  World world;
  world.flavor("default");
  for (const char* name : {"own", "other"}) {
    world.queue(QueueSpec(name)
                    .in("team")
                    .flavor("default", {{"cpu", std::to_string(candidates / 4)}})
                    .within(api::kueue::WithinClusterQueue::kLowerPriority)
                    .reclaim(api::kueue::ReclaimWithinCohort::kAny));
  }
  world.cohort("team", "", {{"default", {{"cpu", std::to_string(candidates / 2)}}}});
  for (int i = 0; i < candidates; ++i) {
    Holding holding{
        i % 2 ? "own" : "other", i % 7, at_second(i), at_second(i), {{"default", "cpu", Amount::of(1000)}}, false};
    world.scheduler.hold(world.scheduler.enter("uid-" + std::to_string(i), ""), holding);
  }
  WorkloadId preemptor = world.scheduler.enter("preemptor", "");
  Pending pending = World::pending({.queue = "own", .count = victims, .priority = 100}, 1);
  std::optional<Scheduler> fresh;
  for (auto _ : state) {
    state.PauseTiming();
    fresh.emplace(world.scheduler.copy());
    state.ResumeTiming();
    fresh->submit(preemptor, pending);
    const Decisions decisions = fresh->schedule(at_second(1));
    if (decisions.size() != static_cast<std::size_t>(victims) + 1) state.SkipWithError("wrong number of victims");
  }
}
BENCHMARK(preempt)->Args({1000, 1})->Args({1000, 20})->Args({1000, 200})->Unit(benchmark::kMicrosecond);

// The search for victims alone: two queues with 100 candidates each share the quota of the preemptor's cohort. A
// preemptor that requests 100 would get as much as each of them has before, and more than one of them has after one
// victim: all 200 candidates are examined and refused.
void fair_victims(benchmark::State& state) {
  constexpr int kCandidates = 100;
  const auto victims = static_cast<std::size_t>(state.range(0) < kCandidates ? state.range(0) : 0);
  House house(FairSharing{true});
  house.ledger.set_cohort("pool", "", std::vector<QuotaEntry>{{kCpu, {Amount::of(2 * kCandidates)}}});
  const QuotaNodeId own = house.queue("own", "pool", 0);
  for (const char* name : {"one", "other"}) {
    const QuotaNodeId queue = house.queue(name, "pool", 0);
    for (int i = 0; i < kCandidates; ++i) house.runs(queue, 1, i % 7, i);
  }
  QueueConfig config;
  config.reclaim_within_cohort = api::kueue::ReclaimWithinCohort::kAny;
  const Preemptor preemptor{own, &config, 0, at_second(999)};
  const FlavorResourceAmount usage{kCpu, Amount::of(state.range(0))};
  for (auto _ : state) {
    const auto targets = house.preemption.targets(preemptor, {&kCpu, 1}, {&usage, 1});
    if (targets.size() != victims) state.SkipWithError("wrong number of victims");
  }
}
BENCHMARK(fair_victims)->Arg(1)->Arg(5)->Arg(50)->Arg(100)->Unit(benchmark::kMicrosecond);

struct Tree {
  Ledger ledger;
  std::vector<QuotaNodeId> queues;
  Tree() {
    std::vector<QuotaEntry> quotas;
    for (std::size_t i = 0; i < 6; ++i) quotas.push_back({FlavorResourceId(i), Quota{Amount::of(1000)}});
    for (int i = 0; i < kQueues; ++i) {
      queues.push_back(ledger.set_cluster_queue(queue_name(i), "cohort" + std::to_string(i % kCohorts), quotas));
    }
    ledger.take_reliefs();
  }
};

void claim_and_return(benchmark::State& state) {
  Tree tree;
  std::size_t i = 0;
  for (auto _ : state) {
    WorkloadId workload(i % 50000);
    tree.ledger.take(workload, tree.queues[i % kQueues],
                     {{FlavorResourceId(0), Amount::of(3)}, {FlavorResourceId(3), Amount::of(7)}});
    tree.ledger.give_back(workload);
    benchmark::DoNotOptimize(tree.ledger.take_reliefs());
    ++i;
  }
}
BENCHMARK(claim_and_return);

void available(benchmark::State& state) {
  Tree tree;
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(tree.ledger.available(tree.queues[i++ % kQueues], FlavorResourceId(1)));
}
BENCHMARK(available);

// A gang finds 1,000 full nodes, each with one workload that requests 30 resources: `gang` of these workloads must be
// preempted.
void preempt_for_places(benchmark::State& state) {
  constexpr int kRacks = 20, kNodes = 50, kResources = 30;
  const auto gang = static_cast<int>(state.range(0));
  Hall hall(kRacks, kNodes, "4");
  std::vector<QueueSpec::Limit> limits{{"cpu", "100000"}};
  JobSpec job{.name = "low", .queue = "q", .count = 1, .requests = {{"cpu", "4"}}};
  for (int i = 1; i < kResources; ++i) {
    limits.push_back({"example.com/r" + std::to_string(i), "100000"});
    job.requests[limits.back().resource] = "1";
  }
  for (int rack = 1; rack <= kRacks; ++rack) {
    for (int i = 1; i <= kNodes; ++i) hall.node(rack, i, "4", true, "f", kResources);
  }
  hall.queue(QueueSpec("q").flavor("f", limits).within(api::kueue::WithinClusterQueue::kLowerPriority));
  for (int i = 0; i < kRacks * kNodes; ++i) {
    job.name = "low" + std::to_string(i);
    hall.job(job);
  }
  if (hall.moves().size() != std::size_t{kRacks * kNodes}) return state.SkipWithError("the hall is not full");
  job.name = "high";
  job.count = gang;
  job.priority = 1;
  job.topology = unconstrained();
  const Pending pending = World::pending(job, 1);
  const WorkloadId high = hall.id("high");
  std::optional<Scheduler> fresh;
  for (auto _ : state) {
    state.PauseTiming();
    fresh.emplace(hall.scheduler.copy());  // it counts anew which pods fit where
    state.ResumeTiming();
    fresh->submit(high, pending);
    const Decisions decisions = fresh->schedule(at_second(9999));
    if (decisions.size() != static_cast<std::size_t>(gang) + 1) state.SkipWithError("not the expected victims");
  }
}
BENCHMARK(preempt_for_places)->Arg(1)->Arg(20)->Arg(200)->Unit(benchmark::kMicrosecond);

// One look at a workload that waits in vain: a queue has `flavors` flavors of two resources. Their cpu is full of 1,000
// workloads of low priority, their memory is used by one of high priority each. It has `pod_sets` pod sets of 8 pods;
// if `reducible`, at least one pod of each would do.
void look_in_vain(benchmark::State& state) {
  constexpr int kHolders = 1000;
  const auto flavors = static_cast<int>(state.range(0)), pod_sets = static_cast<int>(state.range(1));
  const std::string share = std::to_string(kHolders / flavors);
  World world;
  QueueSpec own("own"), other("other");
  for (QueueSpec* queue : {&own, &other}) {
    const std::string quota = queue == &own ? share : "0";
    for (int f = 0; f < flavors; ++f) queue->flavor("f" + std::to_string(f), {{"cpu", quota}, {"memory", quota}});
    queue->in("team").within(api::kueue::WithinClusterQueue::kLowerPriority);
    queue->reclaim(api::kueue::ReclaimWithinCohort::kLowerPriority);
    world.queue(*queue);
  }
  for (int i = 0; i < kHolders + flavors; ++i) {
    const std::string flavor = "f" + std::to_string(i % flavors);
    const bool memory = i >= kHolders;
    world.flavor(flavor);
    world.scheduler.hold(world.scheduler.enter("uid-" + std::to_string(i), ""),
                         {i / flavors % 2 ? "own" : "other",
                          memory ? 9 : 0,
                          at_second(i),
                          at_second(i),
                          {{flavor, memory ? "memory" : "cpu", Amount::of(memory ? kHolders / flavors : 1000)}},
                          false});
  }
  JobSpec job{.queue = "own", .count = 8, .requests = {{"cpu", "1"}, {"memory", "1"}}, .priority = 1};
  if (state.range(2) != 0) job.min_count = 1;
  Pending pending = World::pending(job, 1);
  pending.pod_sets.resize(static_cast<std::size_t>(pod_sets), pending.pod_sets.front());
  for (int i = 0; i < pod_sets; ++i) pending.pod_sets[static_cast<std::size_t>(i)].name = "set" + std::to_string(i);
  const WorkloadId workload = world.scheduler.enter("in-vain", "");
  world.scheduler.schedule(at_second(1));
  for (auto _ : state) {
    world.scheduler.submit(workload, pending);
    const Decisions decisions = world.scheduler.schedule(at_second(1));
    if (decisions.size() != 1 || !std::holds_alternative<Wait>(decisions[0])) state.SkipWithError("it does not wait");
    world.scheduler.withdraw(workload);
  }
}
BENCHMARK(look_in_vain)->ArgsProduct({{1, 4, 16, 64}, {1, 2, 8}, {0, 1}})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::engine
