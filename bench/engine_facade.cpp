// The engine behind its facade: workloads are seen, admitted, written and finished, without an API server.
#include <benchmark/benchmark.h>

#include <deque>
#include <string>

#include "engine/engine.h"
#include "engine/explain/predict.h"
#include "engine/explain/what_if.h"
#include "engine/support/build.h"

namespace berth::engine {
namespace {

using api::kueue::Workload;

constexpr int kCohorts = 10;

// Confirms each write like a server without faults, stops the jobs of evicted workloads, and finishes admitted ones.
// run() returns the number of finished workloads.
class Server {
 public:
  explicit Server(int queues) {
    feed(NamespaceSeen{"ns", {}});
    feed(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    for (int q = 0; q < queues; ++q) {
      const std::string name = "cq" + std::to_string(q);
      feed(ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
          test::ClusterQueueBuilder(name).cpu({{"f", "20"}}).cohort("co" + std::to_string(q % kCohorts)).build())});
      feed(LocalQueueSeen{
          std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q" + std::to_string(q), name))});
    }
    feed(Synced{});
  }

  const Engine& engine() const { return engine_; }

  void create(int number, int queues) {
    Workload w = test::WorkloadBuilder("w" + std::to_string(number), "q" + std::to_string(number % queues))
                     .pods(1 + number % 3, "1")
                     .created(now_ + std::chrono::milliseconds(number));
    w.meta.resource_version = std::to_string(++version_);
    feed(WorkloadSeen{std::make_shared<const Workload>(std::move(w))});
  }

  // Writes everything, but finishes nothing.
  void write() {
    for (bool moved = true; moved; now_ += std::chrono::seconds(1)) {
      perform(engine_.schedule(now_));
      moved = !answers_.empty();
      while (!answers_.empty()) {
        feed(answers_.front());
        answers_.pop_front();
      }
    }
    admitted_.clear();
  }

  Time now() const { return now_; }

  // One scheduling pass whose effects are dropped.
  void look() { engine_.schedule(now_); }

  int run() {
    int finished = 0;
    while (true) {
      perform(engine_.schedule(now_));
      if (answers_.empty()) return finished;
      while (!answers_.empty()) {
        feed(answers_.front());
        answers_.pop_front();
      }
      for (const auto& [name, version] : std::exchange(admitted_, {})) {
        api::kueue::JobReport report;
        report.finished = api::kueue::JobReport::Outcome{"Succeeded", "done"};
        report.workload_version = version;
        feed(JobReported{"ns", name, std::move(report)});
        ++finished;
      }
      now_ += std::chrono::seconds(1);
    }
  }

 private:
  static JobReported stopped(const Workload& workload) {
    api::kueue::JobReport report;
    report.stopped = true;
    report.workload_version = workload.meta.resource_version;
    return {workload.meta.ns, workload.meta.name, std::move(report)};
  }
  void feed(const Event& event) { perform(engine_.handle(now_, event)); }
  void perform(const Effects& effects) {
    for (const auto& effect : effects) {
      const auto* write = std::get_if<WriteWorkloadStatus>(&effect);
      if (write == nullptr) continue;
      auto written = std::make_shared<Workload>(*write->base);
      written->status = write->status;
      written->meta.resource_version = std::to_string(++version_);
      if (written->status.admission && !write->base->status.admission)
        admitted_.emplace_back(written->meta.name, written->meta.resource_version);
      answers_.push_back(WriteSettled{write->write, WriteSettled::Outcome::kDone, written->meta.resource_version, ""});
      answers_.push_back(WorkloadSeen{written});
      const auto evicted = [](const Workload& w) {
        return w.status.admission && api::is_true(w.status.conditions, api::kueue::kEvicted);
      };
      if (evicted(*written) && !evicted(*write->base)) answers_.push_back(stopped(*written));
    }
  }

  Engine engine_{Options{}};
  Time now_ = test::kEpoch;
  int version_ = 1'000'000;
  std::deque<Event> answers_;
  std::vector<std::pair<std::string, std::string>> admitted_;
};

// items_per_second: workloads per second, from creation to finish.
void whole_lives(benchmark::State& state) {
  const int queues = static_cast<int>(state.range(0)), workloads = static_cast<int>(state.range(1));
  std::int64_t lives = 0;
  for (auto _ : state) {
    Server server(queues);
    for (int i = 0; i < workloads; ++i) server.create(i, queues);
    lives += server.run();
  }
  state.SetItemsProcessed(lives);
}
BENCHMARK(whole_lives)->Args({30, 2'000})->Args({30, 15'000})->Args({1'000, 50'000})->Unit(benchmark::kMillisecond);

// Requests of the visibility API for one queue with 50,000 pending workloads.
Server& crowd() {
  static Server server = [] {
    Server made(1);
    for (int i = 0; i < 50'000; ++i) made.create(i, 1);
    made.look();
    return made;
  }();
  return server;
}

void pending_page(benchmark::State& state) {
  const Engine& engine = crowd().engine();
  std::size_t offset = 0;
  for (auto _ : state) {
    const auto page = engine.pending_in_cluster_queue("cq0", offset, 1'000);
    if (!page || page->empty()) state.SkipWithError("nobody waits");
    offset = (offset + 7'919) % 49'000;
  }
}
BENCHMARK(pending_page)->Unit(benchmark::kMicrosecond);

// 1,000 queues in 10 cohorts, each full, 50,000 workloads wait.
Server& city() {
  static Server server = [] {
    Server made(1'000);
    for (int i = 0; i < 60'000; ++i) made.create(i, 1'000);
    made.write();
    return made;
  }();
  return server;
}

void copy_of_engine(benchmark::State& state) {
  const Engine& engine = city().engine();
  for (auto _ : state) benchmark::DoNotOptimize(engine.copy());
}
BENCHMARK(copy_of_engine)->Unit(benchmark::kMillisecond);

// The explanation of the first workload that waits in a queue, with all searches of changes.
void explain_waiting(benchmark::State& state) {
  const Server& server = city();
  int number = 20'999;
  for (auto _ : state) {
    const auto explanation = server.engine().explain(server.now(), "ns", "w" + std::to_string(number));
    if (!explanation || explanation->changes.empty()) {
      const std::string what = "nothing to say of w" + std::to_string(number) +
                               (explanation ? ", " + explanation->state + ": " + explanation->summary : "");
      return state.SkipWithError(what.c_str());
    }
    number = 20'000 + (number + 7'919) % 1'000;
  }
}
BENCHMARK(explain_waiting)->Unit(benchmark::kMillisecond);

// The same of a workload with many before it in its queue.
void explain_far_behind(benchmark::State& state) {
  const Server& server = city();
  int number = 50'999;
  for (auto _ : state) {
    const auto explanation = server.engine().explain(server.now(), "ns", "w" + std::to_string(number));
    if (!explanation || explanation->position.value_or(0) < 9) return state.SkipWithError("it is not far behind");
    number = 50'000 + (number + 7'919) % 1'000;
  }
}
BENCHMARK(explain_far_behind)->Unit(benchmark::kMillisecond);

// What would follow if one queue got twice its quota.
void what_if_more_quota(benchmark::State& state) {
  const Server& server = city();
  const std::vector<Event> changes{ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
      test::ClusterQueueBuilder("cq7").cpu({{"f", "40"}}).cohort("co7").build())}};
  for (auto _ : state) {
    const WhatIf answer = what_if(server.engine(), server.now(), changes);
    if (answer.admitted.empty() || !answer.complete) return state.SkipWithError("nothing follows");
  }
}
BENCHMARK(what_if_more_quota)->Unit(benchmark::kMillisecond);

// When the first workload that waits in a queue starts, in one future: what runs in its cohort takes an hour each.
void predict_start(benchmark::State& state) {
  const Server& server = city();
  RunHistory history;
  Workload done = test::WorkloadBuilder("done", "q0").pods(1, "1");
  done.status.conditions.push_back({"Admitted", true, false, "Admitted", "", test::at(0), 1});
  done.status.conditions.push_back({"Finished", true, false, "Succeeded", "", test::at(3600), 1});
  history.see(done);
  int number = 20'999;
  for (auto _ : state) {
    const auto answers = predict(server.engine(), history, server.now(), {"ns/w" + std::to_string(number)});
    if (!answers.front().p50) return state.SkipWithError(summary(answers.front()).c_str());
    number = 20'000 + (number + 7'919) % 1'000;
  }
}
BENCHMARK(predict_start)->Unit(benchmark::kMillisecond);

void pending_position(benchmark::State& state) {
  const Engine& engine = crowd().engine();
  int number = 49'999;
  for (auto _ : state) {
    if (!engine.pending_position("ns", "w" + std::to_string(number))) state.SkipWithError("it does not wait");
    number = 1'000 + (number + 7'919) % 49'000;
  }
}
BENCHMARK(pending_position);

}  // namespace
}  // namespace berth::engine
