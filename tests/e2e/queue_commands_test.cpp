// berth create, list, stop, resume and delete as users type them, also as a plugin of kubectl.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "e2e/server.h"

namespace berth::e2e::queue_commands_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string job(const std::string& name, const std::string& cpu) {
  return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {metadata: "
         "{annotations: {berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
         "resources: {requests: {cpu: \"" +
         cpu + "\"}}}]}}}}";
}

class QueueCommands : public OnBoth {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (!IsSkipped()) cluster_ = make_cluster(GetParam(), "1x1x2");
  }
  Finished berth(std::vector<std::string> words, const std::string& input = "") const {
    words.insert(words.begin(), BERTH_PROGRAM);
    return run(words, cluster_->environment(), input);
  }
  // The output of a command that must succeed.
  std::string said(const std::vector<std::string>& words, const std::string& input = "") const {
    const Finished finished = berth(words, input);
    EXPECT_EQ(finished.exit_code, 0) << words[0] << ": " << finished.out << finished.err;
    return finished.out;
  }
  std::string workload_of(const std::string& job) const {
    return said({"list", "wl", "--for", "job/" + job, "-o", "jsonpath={.items[0].metadata.name}"});
  }
  // A queue of 4 cpus with an admitted job and one that waits.
  void fill() {
    said({"create", "rf", "default"});
    said({"create", "cq", "team", "--nominal-quota", "default:cpu=4"});
    said({"create", "lq", "q", "-c", "team"});
    cluster_->must({"create", "-f", "-"}, job("runs", "3"));
    ASSERT_TRUE(eventually([&] { return has(said({"list", "wl"}), "ADMITTED"); }));
    cluster_->must({"create", "-f", "-"}, job("waits", "3"));
    ASSERT_TRUE(
        eventually([&] { return has(said({"list", "wl", "--status", "pending", "-o", "wide"}), "insufficient"); }));
  }

  std::unique_ptr<Cluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(Clusters, QueueCommands, both(), name_of);

TEST_P(QueueCommands, ListAndStop) {
  fill();
  EXPECT_TRUE(eventually([&] {
    const std::string pending = said({"list", "workload", "-c", "team", "--status", "pending"});
    return has(pending, "waits") && has(pending, "PENDING   1 ") && !has(pending, "runs");
  })) << said({"list", "workload"});
  EXPECT_TRUE(has(said({"list", "lq", "-A"}), "default     q      team           1                   1"));
  EXPECT_TRUE(has(berth({"list", "wl", "-n", "kube-system"}).err, "No resources found in kube-system namespace."));
  EXPECT_FALSE(has(said({"list", "cq"}), "\033")) << "colour is for terminals";

  EXPECT_EQ(said({"stop", "cq", "team", "--dry-run=server"}),
            "clusterqueue.kueue.x-k8s.io/team stopped (server dry run)\n");
  EXPECT_EQ(said({"stop", "cq", "team"}), "clusterqueue.kueue.x-k8s.io/team stopped\n");
  EXPECT_TRUE(eventually([&] { return has(said({"list", "cq", "--active", "false"}), "team"); }));
  EXPECT_TRUE(eventually([&] { return has(said({"list", "lq", "--active", "false"}), "team"); }));
  EXPECT_FALSE(has(said({"list", "lq", "--active", "true"}), "team"));
  EXPECT_EQ(berth({"list", "lq", "--active", "maybe"}).exit_code, 2);
  const std::string wide = cluster_->must({"get", "clusterqueue", "team", "-o", "wide"});
  EXPECT_TRUE(has(wide, "ACTIVE") && has(wide, "Stopped")) << wide;
  EXPECT_TRUE(has(cluster_->must({"get", "localqueue", "q", "-o", "wide"}), "REASON"));
  EXPECT_TRUE(eventually([&] { return !has(said({"list", "wl"}), "ADMITTED"); })) << "the queue is drained";
  EXPECT_EQ(said({"resume", "cq", "team"}), "clusterqueue.kueue.x-k8s.io/team resumed\n");
  EXPECT_TRUE(eventually([&] { return has(said({"list", "wl"}), "ADMITTED"); }));
}

// kubectl gets the same objects, and names that one prints are names for the other.
TEST_P(QueueCommands, GoTogetherWithKubectl) {
  fill();
  EXPECT_EQ(said({"list", "wl", "-o", "name"}), cluster_->must({"get", "workloads", "-o", "name"}));
  EXPECT_EQ(said({"get", "cq", "team", "-o", "jsonpath={.spec.queueingStrategy}"}), "BestEffortFIFO");
  said({"patch", "lq", "q", "--type=merge", "-p", "{\"metadata\":{\"labels\":{\"team\":\"a\"}}}"});
  EXPECT_TRUE(has(said({"list", "lq", "-l", "team=a"}), "team"));
  EXPECT_TRUE(has(said({"describe", "wl", workload_of("runs")}), "Admitted"));
  const std::string plugin = cluster_->dir() + "/kubectl-berth";
  std::filesystem::create_symlink(BERTH_PROGRAM, plugin);
  const Finished listed =
      run({"env", "PATH=" + cluster_->dir() + ":/usr/local/bin:/usr/bin:/bin", "kubectl", "berth", "list", "cq"},
          cluster_->environment());
  EXPECT_TRUE(has(listed.out, "team")) << listed.out << listed.err;
  EXPECT_TRUE(has(run({plugin, "list", "wl", "--help"}, {}).out, "Usage: kubectl berth list workload"));
}

TEST_P(QueueCommands, DeleteAWorkloadWithItsJobAndPods) {
  need_garbage_collector();
  fill();
  const std::string name = workload_of("runs");
  ASSERT_TRUE(eventually([&] { return has(said({"list", "pods", "--for", "job/runs"}), "Running"); }));
  EXPECT_TRUE(has(said({"delete", "wl", name}, "n\n"), "Deletion is canceled"));
  const Finished unanswered = berth({"delete", "wl", name});
  EXPECT_EQ(unanswered.exit_code, 1);
  EXPECT_TRUE(has(unanswered.err, "--yes")) << unanswered.err;
  EXPECT_EQ(cluster_->must({"get", "job", "runs", "-o", "name"}), "job.batch/runs\n");

  EXPECT_TRUE(has(said({"delete", "wl", name}, "y\n"), "jobs.batch/runs deleted"));
  EXPECT_TRUE(eventually([&] {
    return cluster_->must({"get", "pods", "-l", "job-name=runs", "-o", "name"}).empty() &&
           !has(said({"list", "wl", "-o", "name"}), name);
  }));
  EXPECT_TRUE(eventually([&] { return has(said({"list", "wl"}), "ADMITTED"); })) << "the other job is admitted";
  EXPECT_TRUE(has(said({"delete", "wl", "--all", "--yes"}), "jobs.batch/waits deleted"));
  EXPECT_TRUE(eventually([&] { return cluster_->must({"get", "pods", "-o", "name"}).empty(); }));
  EXPECT_EQ(said({"delete", "cq", "team", "--timeout", "60s"}), "clusterqueue.kueue.x-k8s.io \"team\" deleted\n");
  EXPECT_EQ(berth({"delete", "cq", "team"}).exit_code, 1);
}

TEST_P(QueueCommands, SayWhatIsWrong) {
  EXPECT_TRUE(has(berth({"create", "cq", "x", "--nominal-quota", "a:cpu=x"}).err, "--nominal-quota \"a:cpu=x\""));
  EXPECT_EQ(berth({"create", "cq", "x", "--nominal-quota", "a:cpu=x"}).exit_code, 2);
  EXPECT_EQ(berth({"list", "cq", "--context", "nowhere"}).exit_code, 1);
  EXPECT_TRUE(has(berth({"create", "lq", "x", "-c", "none"}).err, "clusterqueues.kueue.x-k8s.io \"none\" not found"));
  EXPECT_TRUE(has(berth({"list", "pods", "--for", "jbo/x"}).err, "does not have a resource type \"jbo\""));
  EXPECT_EQ(said({"__complete", "stop", "cq", "--dry-run", "c"}), "client\n");
  said({"create", "rf", "spot"});
  EXPECT_EQ(said({"__complete", "delete", "rf", "s"}), "spot\n");
}

// The change that the explanation names is tried, then made: the job gets its quota.
TEST_P(QueueCommands, ExplainAndTryBeforeItIsDone) {
  fill();
  const std::string why = said({"explain", "job", "waits"});
  EXPECT_TRUE(has(why, "first in the queue")) << why;
  EXPECT_TRUE(has(why, "Raise the nominalQuota of ClusterQueue team: cpu of flavor default from 4 to 6.")) << why;
  EXPECT_TRUE(has(why, "End or preempt workload default/" + workload_of("runs"))) << why;
  EXPECT_TRUE(has(said({"explain", "workload", workload_of("runs")}), "Admitted workload")) << "of an admitted one";
  EXPECT_TRUE(has(said({"explain", "cq", "team"}), workload_of("waits")));
  EXPECT_EQ(said({"explain", "job", "waits", "-o", "jsonpath={.changes[0].quotas[0].to}"}), "6");

  const auto queue = [](const std::string& cpus) {
    return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team}, spec: {namespaceSelector: "
           "{}, "
           "resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, "
           "nominalQuota: " +
           cpus + "}]}]}]}}";
  };
  const std::string file = cluster_->write_file("queue.yaml", queue("6"));
  const std::string would = said({"what-if", "-f", file});
  EXPECT_TRUE(has(would, "default/" + workload_of("waits"))) << would;
  EXPECT_TRUE(has(would, "default/cpu 3 -> 6")) << would;
  EXPECT_TRUE(has(said({"list", "wl", "--status", "pending"}), workload_of("waits"))) << "nothing was changed";
  const Finished refused = berth({"what-if", "-f", cluster_->write_file("wrong.yaml", queue("-1"))});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(has(refused.err, "must be greater than or equal to 0")) << refused.err;
  const std::string without = said({"what-if", "--without", "job/runs"});
  EXPECT_TRUE(has(without, "default/" + workload_of("waits"))) << without;
  EXPECT_TRUE(
      has(berth({"what-if", "--without", "node/none"}).err, "--without \"node/none\": Node none does not exist"));
  EXPECT_EQ(berth({"what-if"}).exit_code, 2);
  EXPECT_EQ(berth({"what-if", "--drain", "foo"}).exit_code, 2);
  EXPECT_EQ(berth({"what-if", "--drain", "no=such"}).exit_code, 1);
  EXPECT_EQ(berth({"explain", "workload", "nobody"}).exit_code, 1);

  cluster_->must(
      {"patch", "clusterqueue", "team", "--type=json", "-p",
       R"([{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":"6"}])"});
  EXPECT_TRUE(eventually([&] {
    return !has(said({"list", "wl", "--status", "admitted"}), "No") &&
           has(said({"explain", "job", "waits"}), "Admitted workload");
  }));
}

}  // namespace
}  // namespace berth::e2e::queue_commands_test
