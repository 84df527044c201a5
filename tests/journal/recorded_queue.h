// Journals for tests: a directory, and an engine whose events and answers are recorded into it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/executor.h"
#include "engine/support/build.h"
#include "journal/file_sink.h"
#include "journal/journal.h"

namespace berth::journal::testing_support {

// The path of a directory that does not exist yet, and is gone at the end.
class Directory {
 public:
  Directory() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("berth-journal-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::remove_all(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// An engine with the ClusterQueue "cq" of 4 cpus and its LocalQueue "ns/q", and its journal.
class RecordedQueue {
 public:
  RecordedQueue(Time start, const std::string& directory, FileLimits files = {}, JournalLimits limits = {})
      : executor_(start), journal_(executor_, std::make_unique<FileSink>(directory, files), "1.2.3", limits) {
    namespace test = engine::test;
    journal_.begin({});
    journal_.checkpoint_done();
    feed(engine::NamespaceSeen{"ns", {}});
    feed(engine::ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    feed(engine::ClusterQueueSeen{
        std::make_shared<const api::kueue::ClusterQueue>(test::ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build())});
    feed(engine::LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
    feed(engine::Synced{});
  }

  void feed(const engine::Event& event) {
    const auto effects = engine_.handle(executor_.now(), event);
    journal_.handled(executor_.now(), event, effects);
  }
  // The workload gets the next version.
  void see(api::kueue::Workload workload) {
    workload.meta.resource_version = std::to_string(++version_);
    feed(engine::WorkloadSeen{std::make_shared<const api::kueue::Workload>(std::move(workload))});
  }
  // A decision. All writes succeed; `written` is called after each of them.
  void round(const std::function<void(const engine::WriteWorkloadStatus&)>& written = {}) {
    const auto effects = engine_.schedule(executor_.now());
    journal_.scheduled(executor_.now(), effects);
    for (const auto& effect : effects) {
      const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect);
      if (write == nullptr) continue;
      feed(engine::WriteSettled{write->write, engine::WriteSettled::Outcome::kDone, std::to_string(++version_), ""});
      if (written) written(*write);
    }
  }
  void submit(int number) {
    see(engine::test::WorkloadBuilder("w" + std::to_string(number), "q").pods(1, "1").created(now()).build());
    round();
  }
  void wait(Duration d) { executor_.run_until(executor_.now() + d); }
  void checkpoint() {
    const auto inputs = engine_.inputs();
    engine_ = engine::Engine(engine::Options());
    journal_.begin({});
    for (const auto& event : inputs) feed(event);
    journal_.checkpoint_done();
  }

  Time now() const { return executor_.now(); }
  Journal& journal() { return journal_; }
  engine::Engine& engine() { return engine_; }

 private:
  VirtualExecutor executor_;
  Journal journal_;
  engine::Engine engine_{engine::Options()};
  int version_ = 100;
};

}  // namespace berth::journal::testing_support
