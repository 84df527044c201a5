// Two `berth controller` processes on one API server: the leader is killed, paused and terminated while jobs run.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "e2e/controller.h"
#include "e2e/manifests.h"
#include "e2e/real_cluster.h"

namespace berth::e2e::replicas_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kQuota = 4;  // jobs at a time
// For a loaded machine under a sanitizer: time for everything besides the expiry of the lease.
constexpr std::chrono::seconds kSlack{15};

const std::string kQueue =
    "---\n{apiVersion: v1, kind: Namespace, metadata: {name: kueue-system}}\n" + queue_with_flavor("queue", kQuota);

std::string jobs(int first, int count) {
  std::string all;
  for (int i = first; i < first + count; ++i) {
    all += "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(i) +
           ", labels: {kueue.x-k8s.io/queue-name: queue}}, spec: {suspend: true, template: {metadata: "
           "{annotations: "
           "{berth.dev/run-for: 1s}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
           "resources: {requests: {cpu: "
           "1}}}]}}}}\n";
  }
  return all;
}

// All versions of all objects of a kind, as a watch shows them: one line each, with the resourceVersion, the name and
// the value of `path`.
class Recorder {
 public:
  Recorder(const Cluster& server, const std::string& kind, const std::string& path)
      : file_(server.dir() + "/" + kind + ".versions"),
        kubectl_({"/bin/sh", "-c",
                  "exec kubectl get " + kind + " --watch -o jsonpath='{.metadata.resourceVersion} {.metadata.name} " +
                      path + "{\"\\n\"}' > " + file_},
                 server.environment()) {}

  struct Line {
    long version = 0;
    std::string name, state;
  };
  std::vector<Line> stop() {
    kubectl_.signal(SIGTERM);
    kubectl_.wait();
    std::vector<Line> lines;
    std::ifstream in(file_);
    for (std::string text; std::getline(in, text);) {
      std::istringstream words(text);
      Line line;
      words >> line.version >> line.name;
      std::getline(words, line.state);
      lines.push_back(line);
    }
    return lines;
  }

 private:
  std::string file_;
  Process kubectl_;
};

class Replicas : public OnBoth {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (IsSkipped()) return;
    cluster = make_cluster_without_controller(GetParam());
    const Cluster& server = *cluster;
    server.must({"apply", "-f", "-"}, kQueue);
    workloads = std::make_unique<Recorder>(
        server, "workloads.v1beta2.kueue.x-k8s.io",
        "{.metadata.ownerReferences[0].name} {.status.conditions[?(@.status==\"True\")].type}");
    ended = std::make_unique<Recorder>(server, "jobs", "{.status.conditions[?(@.status==\"True\")].type}");
    for (auto& controller : controllers) controller = std::make_unique<ControllerProcess>(server);
    for (auto& controller : controllers)
      EXPECT_TRUE(controller->wait_until_ready()) << controller->process().out() << controller->process().err();
  }

  void submit(int count) {
    cluster->must({"create", "-f", "-"}, jobs(submitted, count));
    submitted += count;
  }

  std::unique_ptr<ControllerProcess>& leader() {
    auto found = controllers.end();
    eventually([&] {
      found = std::ranges::find_if(controllers, [](const auto& c) { return c->leads(); });
      return found != controllers.end();
    });
    if (found == controllers.end()) throw std::runtime_error("no controller leads: " + controllers[0]->process().err());
    return *found;
  }
  ControllerProcess& other(const std::unique_ptr<ControllerProcess>& one) {
    return *(one == controllers[0] ? controllers[1] : controllers[0]);
  }

  void expect_taken_over(ControllerProcess& by, Clock::time_point since) {
    EXPECT_TRUE(by.wait_until_leading()) << by.process().err();
    EXPECT_LT(Clock::now() - since, kLease + kSlack);
  }

  // All jobs finish, each of them ran once, and the number of admitted jobs never exceeded the quota.
  void expect_all_is_well() {
    EXPECT_TRUE(eventually([&] {
      const std::string done =
          cluster->must({"get", "jobs", "-o", "jsonpath={range .items[?(@.status.succeeded==1)]}x{end}"});
      return static_cast<int>(done.size()) == submitted;
    })) << cluster->must({"get", "jobs,workloads", "-A"});
    EXPECT_EQ(static_cast<int>(cluster->must({"get", "pods", "-o", "jsonpath={range .items[*]}x{end}"}).size()),
              submitted);
    audit();
  }

  void audit() {
    std::vector<std::tuple<long, bool, Recorder::Line>> history;  // in the order of the API server's versions
    for (const auto& line : ended->stop()) history.emplace_back(line.version, true, line);
    for (const auto& line : workloads->stop()) history.emplace_back(line.version, false, line);
    std::ranges::sort(history, {}, [](const auto& entry) { return std::get<0>(entry); });
    std::set<std::string> over, holding;
    for (const auto& [version, is_job, line] : history) {
      const auto says = [&line](const char* word) { return line.state.find(word) != std::string::npos; };
      std::string job = line.name;
      if (is_job) {
        if (says("Complete")) over.insert(job);
      } else {
        std::istringstream(line.state) >> job;
        if (says("QuotaReserved") && !says("Finished")) {
          holding.insert(job);
        } else {
          holding.erase(job);
        }
      }
      const auto hold = std::ranges::count_if(holding, [&](const auto& name) { return !over.contains(name); });
      EXPECT_LE(hold, kQuota) << "at version " << version;
    }
    EXPECT_EQ(static_cast<int>(over.size()), submitted) << "the history is complete";
  }

  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<Recorder> workloads, ended;
  std::array<std::unique_ptr<ControllerProcess>, 2> controllers;
  int submitted = 0;
};

INSTANTIATE_TEST_SUITE_P(Clusters, Replicas, both(), name_of);

TEST_P(Replicas, TheLeaderIsKilledThreeTimes) {
  submit(20);
  for (int i = 0; i < 3; ++i) {
    auto& first = leader();
    submit(10);
    first->process().signal(SIGKILL);
    const auto killed = Clock::now();
    const Finished finished = first->process().wait();
    EXPECT_EQ(finished.exit_code, 128 + SIGKILL) << finished.err;
    expect_taken_over(other(first), killed);
    first = std::make_unique<ControllerProcess>(*cluster);
    EXPECT_TRUE(first->wait_until_ready()) << first->process().err();
  }
  expect_all_is_well();
}

TEST_P(Replicas, ALeaderThatStoodStillEndsAndWritesNothing) {
  submit(20);
  auto& first = leader();
  submit(10);
  first->process().signal(SIGSTOP);
  expect_taken_over(other(first), Clock::now());
  submit(10);
  first->process().signal(SIGCONT);
  const Finished finished = first->process().wait();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err.rfind("berth: the lease kueue-system/c1f6bfd2.kueue.x-k8s.io is lost: ", 0), 0u)
      << finished.err;
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  expect_all_is_well();
}

TEST_P(Replicas, ALeaderThatIsAskedToGoHandsOverAtOnce) {
  submit(12);
  auto& first = leader();
  const auto asked = Clock::now();
  first->process().signal(SIGTERM);
  const Finished finished = first->process().wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_LT(Clock::now() - asked, std::chrono::seconds(25));
  EXPECT_TRUE(other(first).wait_until_leading());
  expect_all_is_well();
}

}  // namespace
}  // namespace berth::e2e::replicas_test
