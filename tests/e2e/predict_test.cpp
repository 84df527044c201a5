// berth predict on `berth up`: jobs of known length go one after the other, and start when that was said.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/time.h"
#include "e2e/server.h"

namespace berth::e2e::predict_test {
namespace {

using std::chrono::seconds;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr int kJobs = 5;  // one fits at a time
constexpr int kRunFor = 3;

std::string jobs() {
  std::string out;
  for (int i = 0; i < kJobs; ++i)
    out += "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(i) +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {metadata: "
           "{annotations: {berth.dev/run-for: " +
           std::to_string(kRunFor) +
           "s}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}}}\n";
  return out;
}

class Predict : public testing::Test {
 protected:
  Finished berth(std::vector<std::string> words) {
    words.insert(words.begin(), BERTH_PROGRAM);
    return run(words, server.environment());
  }
  std::string said(const std::vector<std::string>& words) {
    const Finished finished = berth(words);
    EXPECT_EQ(finished.exit_code, 0) << words[0] << ": " << finished.out << finished.err;
    return finished.out;
  }
  std::string failed(const std::vector<std::string>& words) {
    const Finished finished = berth(words);
    EXPECT_EQ(finished.exit_code, 1) << finished.out;
    return finished.err;
  }
  std::string workload_of(const std::string& job) {
    return said({"list", "wl", "--for", "job/" + job, "-o", "jsonpath={.items[0].metadata.name}"});
  }
  std::size_t finished() {
    const std::string all = said({"list", "wl", "--status", "finished", "-o", "name"});
    return static_cast<std::size_t>(std::ranges::count(all, '\n'));
  }
  std::string started(const std::string& workload) {
    return server.must({"get", "workload", workload, "-o",
                        "jsonpath={.status.conditions[?(@.type==\"Admitted\")].lastTransitionTime}"});
  }
  Server server{{"--nodes", "1x1x2"}};
};

TEST_F(Predict, StartsAreForeseenAndCounted) {
  said({"create", "rf", "default"});
  said({"create", "cq", "team", "--nominal-quota", "default:cpu=4"});
  said({"create", "lq", "q", "-c", "team"});
  server.must({"create", "-f", "-"}, jobs());
  // Two that finished are a history.
  ASSERT_TRUE(eventually([&] { return finished() >= 2; }));
  const std::string pending = said({"list", "wl", "--status", "pending", "-o", "jsonpath={.items[-1:].metadata.name}"});
  ASSERT_FALSE(pending.empty());
  const std::string queue = said({"predict", "clusterqueue", "team"});
  EXPECT_TRUE(has(queue, "WORKLOAD") && has(queue, pending)) << queue;
  EXPECT_TRUE(has(said({"predict", "localqueue", "q"}), pending));
  const std::string text = said({"predict", "workload", pending});
  EXPECT_TRUE(has(text, "Workload default/" + pending + ": ")) << text;
  EXPECT_TRUE(has(text, "rests on ")) << text;
  const auto document = parse_json(said({"predict", "workload", pending, "-o", "json"}));
  ASSERT_TRUE(document);
  const auto p50 = parse_time(string_at(*document, {"start", "p50"}));
  const auto p90 = parse_time(string_at(*document, {"start", "p90"}));
  ASSERT_TRUE(p50 && p90) << to_string(*document);
  EXPECT_LE(*p50, *p90);

  EXPECT_TRUE(has(failed({"predict", "workload", "nobody"}),
                  "workload default/nobody has no prediction: it does not exist, or it has finished"));
  EXPECT_TRUE(has(failed({"predict", "clusterqueue", "none"}), "\"none\" not found"));
  EXPECT_TRUE(has(failed({"predict", "job", "none"}), "job/none does not exist in namespace default"));
  EXPECT_TRUE(has(failed({"explain", "clusterqueue", "none"}), "\"none\" not found"));
  EXPECT_TRUE(has(failed({"what-if", "--without", "clusterqueue/none"}), "ClusterQueue none does not exist"));
  EXPECT_EQ(said({"__complete", "predict", "workload", pending}), pending + "\n");

  // The pods of a loaded machine take longer than they should, so the limits are wide.
  ASSERT_TRUE(eventually([&] { return finished() == kJobs; }));
  const auto start = parse_time(started(pending));
  ASSERT_TRUE(start) << started(pending);
  EXPECT_GE(*start, *p50 - seconds(kRunFor));
  EXPECT_LE(*start, *p90 + seconds(4 * kRunFor));

  server.stop();
  const std::string journal = server.dir() + "/data/journal";
  const std::string then = format_time(*start - seconds(1));
  const std::string report = said({"predict", "--calibration", "--journal", journal});
  EXPECT_TRUE(has(report, " predictions at ") && has(report, "started by p90: ")) << report;
  const auto counts = parse_json(said({"predict", "--calibration", "--journal", journal, "-o", "json"}));
  ASSERT_TRUE(counts);
  EXPECT_GE(int_at(*counts, {"moments"}), kJobs - 2);
  EXPECT_GT(int_at(*counts, {"predictions"}), int_at(*counts, {"without"}));
  EXPECT_GT(int_at(*counts, {"byP90"}), 0) << to_string(*counts);
  EXPECT_TRUE(has(said({"predict", "workload", pending, "--journal", journal, "--at", then}), pending));
  EXPECT_TRUE(
      has(failed({"predict", "workload", pending, "--journal", journal, "--at", "2100-01-01T00:00:00Z"}), " ends at "));
}

}  // namespace
}  // namespace berth::e2e::predict_test
