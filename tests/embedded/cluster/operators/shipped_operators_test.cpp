// The pretend operators of the kinds that ship: what they write is what Berth reads of the jobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "base/embedded.h"
#include "embedded/cluster/pretend_cluster.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/read/shipped.h"
#include "source_dir.h"

namespace berth::cluster::shipped_operators_test {
namespace {

using namespace testing_support;
using jobs::kinds::DescribedJob;
using jobs::kinds::JobKindPtr;
using jobs::kinds::shipped_job_kinds;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

ClusterOptions one_node() {
  ClusterOptions options;
  options.nodes = "1";
  options.node_resources = "cpu=64,memory=256Gi";
  options.kinds = shipped_job_kinds();
  return options;
}

class ShippedOperators : public testing::TestWithParam<JobKindPtr> {
 protected:
  ShippedOperators()
      : cluster(one_node()), described(kind, [this](const auto& resource, auto ns, auto object) {
          return find_object(resource, ns, object);
        }) {
    for (const auto& file : embedded::external_crds()) {
      auto request = cluster.request(api::Verb::kCreate, {"apiextensions.k8s.io", "v1", "customresourcedefinitions"});
      request.ns.clear();
      request.body = yaml(file.content);
      cluster.expect_ok(cluster.call(std::move(request)));
    }
    cluster.pass(40);  // until the caches have retried
  }
  JsonPtr find_object(const api::GroupVersionResource& resource, std::string_view ns, std::string_view object) {
    auto request = cluster.request(api::Verb::kGet, resource, object);
    request.ns = ns;
    auto response = cluster.call(std::move(request));
    return response.ok() ? std::make_shared<const Json>(std::move(response.body)) : nullptr;
  }

  // The sample of the kind, suspended, and what it needs.
  void submit(std::string_view exit_code = "0") {
    std::string text = text_of(source_path("config/samples/kinds/" + lower(kind->kind) + ".yaml"));
    const std::string_view before = "berth.dev/run-for: 30s";
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
      const std::size_t indent = at - text.rfind('\n', at) - 1;
      const std::string more =
          "\n" + std::string(indent, ' ') + "berth.dev/exit-code: '" + std::string(exit_code) + "'";
      text.insert(at += before.size(), more);
    }
    auto documents = parse_yaml(text);
    ASSERT_TRUE(documents && !documents->empty());
    Json job = std::move(documents->back());
    documents->pop_back();
    for (Json& needed : *documents) {
      ASSERT_EQ(string_at(needed, {"kind"}), "ClusterTrainingRuntime");
      auto request =
          cluster.request(api::Verb::kCreate, {"trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes"});
      request.ns.clear();
      request.body = std::move(needed);
      cluster.expect_ok(cluster.call(std::move(request)));
    }
    name = string_at(job, {"metadata", "name"});
    jobs::kinds::ensure_at(job, kind->suspend) = true;
    for (const auto& pod_set : described.pod_sets(job)) pods_wanted += pod_set.count;
    ASSERT_GT(pods_wanted, 0u);
    cluster.create(kind->resource, std::move(job));
    cluster.pass(2);
  }
  Json job() { return cluster.get(kind->resource, name); }
  void suspend(bool value) {
    Json now = job();
    jobs::kinds::ensure_at(now, kind->suspend) = value;
    auto request = cluster.request(api::Verb::kUpdate, kind->resource, name);
    request.body = std::move(now);
    cluster.expect_ok(cluster.call(std::move(request)));
    cluster.pass(2);
  }
  std::size_t running() {
    const auto all = cluster.list(kPods);
    return std::ranges::count_if(all, [](const Json& pod) { return string_at(pod, {"status", "phase"}) == "Running"; });
  }
  // Definitions of Kubeflow have a column with the type of the last condition, whatever its status.
  bool shows_an_end() {
    const Json now = job();
    const JsonArray& conditions = array_at(now, {"status", "conditions"});
    if (conditions.empty() || !kind->resource.group.ends_with("kubeflow.org")) return false;
    const auto type = string_at(conditions.back(), {"type"});
    return type == "Failed" || type == "Complete" || type == "Succeeded";
  }
  std::size_t pods() { return cluster.list(kPods).size(); }

  const JobKindPtr kind = GetParam();
  Cluster cluster;
  DescribedJob described;
  std::string name;
  std::size_t pods_wanted = 0;
};

TEST_P(ShippedOperators, AJobWaitsRunsIsStoppedAndEnds) {
  submit();
  EXPECT_EQ(pods(), 0u);
  EXPECT_FALSE(described.active(job()));
  EXPECT_FALSE(described.pods_ready(job()));
  EXPECT_FALSE(described.finished(job()));

  suspend(false);
  EXPECT_FALSE(shows_an_end()) << to_string(job());
  EXPECT_EQ(pods(), pods_wanted);
  EXPECT_TRUE(described.active(job()));
  EXPECT_TRUE(described.pods_ready(job())) << to_string(job());
  EXPECT_FALSE(described.finished(job()));

  suspend(true);
  EXPECT_EQ(pods(), 0u);
  EXPECT_FALSE(described.active(job())) << to_string(job());
  EXPECT_FALSE(described.pods_ready(job()));
  EXPECT_TRUE(described.reclaimable(job()).empty());

  suspend(false);
  const std::string before = to_string(job());
  cluster.pass(3);
  EXPECT_EQ(to_string(job()), before) << "a job that does not change is not written";
  cluster.pass(60);
  EXPECT_EQ(described.finished(job()).has_value(), !kind->pretend.serves) << to_string(job());
  EXPECT_EQ(running(), kind->pretend.serves ? pods_wanted : 0u);
  if (kind->pretend.serves) return;
  EXPECT_TRUE(described.finished(job())->succeeded);
  EXPECT_TRUE(described.check_status(job()));
}

TEST_P(ShippedOperators, AJobFailsWithAPod) {
  if (kind->pretend.serves) return;
  submit("3");
  suspend(false);
  cluster.pass(60);
  const auto outcome = described.finished(job());
  ASSERT_TRUE(outcome) << to_string(job());
  EXPECT_FALSE(outcome->succeeded);
  EXPECT_FALSE(outcome->message.empty());
  EXPECT_EQ(running(), 0u);
  const std::string before = to_string(job());
  cluster.pass(60);
  EXPECT_EQ(to_string(job()), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ShippedOperators, testing::ValuesIn(shipped_job_kinds()),
                         [](const auto& one) { return one.param->kind; });

}  // namespace
}  // namespace berth::cluster::shipped_operators_test
