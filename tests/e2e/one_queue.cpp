#include "e2e/one_queue.h"

#include "e2e/manifests.h"

namespace berth::e2e {

std::map<On, std::unique_ptr<Cluster>> OneQueue::clusters_;

void OneQueue::SetUp() {
  OnBoth::SetUp();
  if (IsSkipped() || clusters_.contains(GetParam())) return;
  clusters_[GetParam()] = make_cluster(GetParam(), "1x1x2");
  must({"apply", "-f", "-"}, queue_with_flavor("team", 4));
}

void OneQueue::TearDown() {
  if (IsSkipped()) return;
  must({"delete", "deployments,statefulsets", "--all", "--cascade=foreground", "--timeout=100s"});
  must({"delete", "pods", "--all", "--timeout=100s"});
  EXPECT_TRUE(is_used("0")) << everything();
}

std::string OneQueue::of(const std::string& kind, const std::string& name, const std::string& path) {
  const Finished got = kubectl({"get", kind, name, "-o", "jsonpath={" + path + "}"});
  return got.exit_code == 0 ? got.out : "";
}

bool OneQueue::becomes(const std::string& kind, const std::string& name, const std::string& path,
                       const std::string& value) {
  return eventually([&] { return of(kind, name, path) == value; });
}

std::string OneQueue::everything() {
  return must({"get", "clusterqueues,workloads,deployments,statefulsets,pods,events", "-A", "-o", "yaml"});
}

}  // namespace berth::e2e
