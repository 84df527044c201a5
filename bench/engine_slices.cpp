// Elastic jobs (KEP-77) in the engine: 1,000 jobs that change their size, against as many new jobs that are admitted.
// One round is what the engine does about all of them; the objects are made, and written, outside of the measured time.
#include <benchmark/benchmark.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/support/slices.h"

namespace berth::engine {
namespace {

using api::kueue::Workload;

constexpr int kJobs = 1'000, kQueues = 30, kCohorts = 10;
constexpr int kSmall = 2, kLarge = 4;  // pods
constexpr Duration kPeriod = std::chrono::seconds(10);

std::string name_of(int job, int generation) { return "w" + std::to_string(job) + "-" + std::to_string(generation); }

class Fleet {
 public:
  // There is quota for all jobs twice: with their old size and with the new one.
  Fleet() {
    const std::string quota = std::to_string(2 * (kJobs / kQueues + 1) * kLarge);
    feed(NamespaceSeen{"ns", {}});
    feed(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    for (int q = 0; q < kQueues; ++q) {
      const std::string name = "cq" + std::to_string(q);
      feed(ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
          test::ClusterQueueBuilder(name).cpu({{"f", quota}}).cohort("co" + std::to_string(q % kCohorts)).build())});
      feed(LocalQueueSeen{
          std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q" + std::to_string(q), name))});
    }
    feed(Synced{});
    for (int job = 0; job < kJobs; ++job) now_holds_.push_back(nullptr);
  }

  // The job's next workload. `replaces`: it grows; otherwise it is new.
  void create(int job, int pods, bool replaces) {
    Workload w = test::WorkloadBuilder(name_of(job, generation_), "q" + std::to_string(job % kQueues))
                     .pods(pods, "1")
                     .created(now_);
    const std::string uid = "job-" + std::to_string(job);
    w = test::as_slice(std::move(w), replaces ? now_holds_[static_cast<std::size_t>(job)]->meta.name : "");
    w.meta.labels["kueue.x-k8s.io/job-uid"] = uid;
    w.meta.owners[0].uid = uid;
    w.meta.resource_version = std::to_string(++version_);
    pending_.emplace_back(WorkloadSeen{std::make_shared<const Workload>(std::move(w))});
  }
  void shrink(int job, int pods) {
    auto w = std::make_shared<Workload>(*now_holds_[static_cast<std::size_t>(job)]);
    w->pod_sets[0].count = pods;
    ++w->meta.generation;
    w->meta.resource_version = std::to_string(++version_);
    now_holds_[static_cast<std::size_t>(job)] = w;
    pending_.emplace_back(WorkloadSeen{w});
  }
  void forget_all() {
    for (auto& w : now_holds_) {
      if (w) feed(WorkloadGone{w->meta.ns, w->meta.name, w->meta.uid});
      w = nullptr;
    }
    settle();
  }
  void forget_finished() {
    for (const auto& w : std::exchange(finished_, {})) feed(WorkloadGone{w->meta.ns, w->meta.name, w->meta.uid});
    settle();
  }

  // What the engine hears of a round, and what it decides.
  void round() {
    for (const Event& event : std::exchange(pending_, {})) feed(event);
    settle();
    ++generation_;
    now_ += kPeriod;
  }

  std::uint64_t writes() const { return writes_; }
  int pods() const {
    int sum = 0;
    for (const auto& w : now_holds_) sum += w ? w->pod_sets[0].count : 0;
    return sum;
  }

 private:
  void settle() {
    std::uint64_t before = 0;
    do {
      before = writes_;
      perform(engine_.schedule(now_));
      while (!answers_.empty()) {
        const Event answer = std::move(answers_.front());
        answers_.pop_front();
        feed(answer);
      }
    } while (writes_ != before);
  }
  void feed(const Event& event) { perform(engine_.handle(now_, event)); }
  void perform(const Effects& effects) {
    for (const auto& effect : effects) {
      const auto* write = std::get_if<WriteWorkloadStatus>(&effect);
      if (write == nullptr) continue;
      ++writes_;
      auto written = std::make_shared<Workload>(*write->base);
      written->status = write->status;
      written->meta.resource_version = std::to_string(++version_);
      answers_.emplace_back(
          WriteSettled{write->write, WriteSettled::Outcome::kDone, written->meta.resource_version, ""});
      answers_.emplace_back(WorkloadSeen{written});
      const auto job = static_cast<std::size_t>(std::stoi(written->meta.name.substr(1)));
      if (api::is_true(written->status.conditions, api::kueue::kFinished)) {
        finished_.push_back(written);
      } else if (written->status.admission) {
        now_holds_[job] = written;
      }
    }
  }

  Engine engine_{Options{}};
  Time now_ = test::kEpoch;
  int version_ = 1'000'000, generation_ = 0;
  std::uint64_t writes_ = 0;
  std::vector<Event> pending_;
  std::deque<Event> answers_;
  std::vector<std::shared_ptr<const Workload>> now_holds_, finished_;  // now_holds_: by job
};

void report(benchmark::State& state, const Fleet& fleet, std::uint64_t before) {
  const auto changes = static_cast<double>(state.iterations()) * kJobs;
  state.SetItemsProcessed(state.iterations() * kJobs);
  state.counters["cpu_per_change"] =
      benchmark::Counter(changes, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["writes_per_change"] = static_cast<double>(fleet.writes() - before) / changes;
}

void admit_new_jobs(benchmark::State& state) {
  Fleet fleet;
  for (auto _ : state) {
    state.PauseTiming();
    fleet.forget_all();
    for (int job = 0; job < kJobs; ++job) fleet.create(job, kLarge, false);
    state.ResumeTiming();
    fleet.round();
    if (fleet.pods() != kJobs * kLarge) state.SkipWithError("not everything was admitted");
  }
  report(state, fleet, 0);
}
BENCHMARK(admit_new_jobs)->Unit(benchmark::kMillisecond);

// The measured rounds are those in which the jobs grow, or those in which they shrink.
void resize_jobs(benchmark::State& state, bool grow) {
  Fleet fleet;
  for (int job = 0; job < kJobs; ++job) fleet.create(job, grow ? kSmall : kLarge, false);
  fleet.round();
  std::uint64_t unmeasured = fleet.writes();
  const auto change = [&](bool grows) {
    for (int job = 0; job < kJobs; ++job) grows ? fleet.create(job, kLarge, true) : fleet.shrink(job, kSmall);
  };
  for (auto _ : state) {
    state.PauseTiming();
    change(grow);
    state.ResumeTiming();
    fleet.round();
    state.PauseTiming();
    if (fleet.pods() != kJobs * (grow ? kLarge : kSmall)) state.SkipWithError("not everything changed its size");
    const std::uint64_t before = fleet.writes();
    fleet.forget_finished();
    change(!grow);
    fleet.round();
    fleet.forget_finished();
    unmeasured += fleet.writes() - before;
    state.ResumeTiming();
  }
  report(state, fleet, unmeasured);
}
void grow_jobs(benchmark::State& state) { resize_jobs(state, true); }
void shrink_jobs(benchmark::State& state) { resize_jobs(state, false); }
BENCHMARK(grow_jobs)->Unit(benchmark::kMillisecond);
BENCHMARK(shrink_jobs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::engine
