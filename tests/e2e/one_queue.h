// The fixture of tests that look on as pods wait in a queue: one cluster of each kind, with the queue "team" of 4 cpus.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "e2e/server.h"

namespace berth::e2e {

// One cluster of each kind for all tests of a suite. Each test leaves the queue empty.
class OneQueue : public OnBoth {
 protected:
  static void TearDownTestSuite() { clusters_.clear(); }
  void SetUp() override;
  void TearDown() override;

  static std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return clusters_.at(GetParam())->must(arguments, input);
  }
  static Finished kubectl(const std::vector<std::string>& arguments, const std::string& input = "") {
    return clusters_.at(GetParam())->kubectl(arguments, input);
  }
  // The value at a path of an object; "" when there is no such object.
  static std::string of(const std::string& kind, const std::string& name, const std::string& path);
  static std::string uid(const std::string& pod) { return of("pod", pod, ".metadata.uid"); }
  static std::string gates(const std::string& pod) { return of("pod", pod, ".spec.schedulingGates[*].name"); }
  static std::string condition(const std::string& workload, const std::string& type, const std::string& member) {
    return of("workload", workload, ".status.conditions[?(@.type==\"" + type + "\")]." + member);
  }
  // The queue and all that waits in it, for messages.
  static std::string everything();

  // These wait until it is so; false: it did not happen in time.
  static bool becomes(const std::string& kind, const std::string& name, const std::string& path,
                      const std::string& value);
  static bool runs(const std::string& pod) { return becomes("pod", pod, ".status.phase", "Running"); }
  // The ClusterQueue shows so much cpu in use.
  static bool is_used(const std::string& cpu) {
    return becomes("clusterqueue", "team", ".status.flavorsReservation[0].resources[0].total", cpu);
  }
  // So many workloads wait in the ClusterQueue.
  static bool is_waiting(const std::string& count) {
    return becomes("clusterqueue", "team", ".status.pendingWorkloads", count);
  }

 private:
  static std::map<On, std::unique_ptr<Cluster>> clusters_;
};

}  // namespace berth::e2e
