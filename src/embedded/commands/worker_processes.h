// The worker clusters of berth up --workers: each is a process of its own that runs berth up.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/object_files.h"
#include "embedded/commands/up.h"

namespace berth::cli {

constexpr int kMostWorkers = 20;  // as many as a MultiKueueConfig may name

class WorkerProcesses {
 public:
  // Nothing runs yet.
  WorkerProcesses() = default;
  // Ends all of them and waits for that.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  // Starts worker1, worker2, ... and waits until they serve. `manager`: its options; their kubeconfigs are written
  // beside its own, and their state is kept below its data directory. Call once, before there is another thread. An
  // error names the worker that did not start; what it said is on standard error.
  Result<void> start(int count, const UpOptions& manager);

  // With these the manager finds them.
  std::vector<UpWorker> workers() const;
  // A line for each: its name, its kubeconfig and its process.
  std::string text() const;

 private:
  struct Worker {
    std::string name, path, kubeconfig;
    pid_t pid = 0;
    int output = -1;  // where it says that it serves
  };
  Result<void> wait_for(Worker& worker);

  std::vector<Worker> workers_;
};

// Adds the objects that make the workers known to a manager: a Secret in the namespace `ns` and a MultiKueueCluster for
// each, a MultiKueueConfig and an AdmissionCheck, both called "workers". Without workers there are none.
void add_objects_for(const std::vector<UpWorker>& workers, const std::string& ns, std::vector<ObjectToApply>& out);

}  // namespace berth::cli
