// Volcano's queues and jobs with kubectl on `berth up`: what users see, and the messages of refused requests.
#include <gtest/gtest.h>

#include <string>

#include "e2e/server.h"
#include "source_dir.h"

namespace berth::e2e::volcano_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string queue(const std::string& name, const std::string& spec) {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: " + spec + "\n";
}

class Volcano : public testing::Test {
 protected:
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return server_.must(arguments, input);
  }
  std::string queue_says(const std::string& name, const std::string& path) {
    return must({"get", "queues.scheduling.volcano.sh", name, "--ignore-not-found", "-o", "jsonpath={" + path + "}"});
  }
  bool eventually_says(const std::string& name, const std::string& path, const std::string& what) {
    return eventually([&] { return queue_says(name, path) == what; });
  }
  std::string refused(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Finished finished = server_.kubectl(arguments, input);
    EXPECT_NE(finished.exit_code, 0) << finished.out;
    return finished.err;
  }
  std::string command(const std::string& action, const std::string& queue) {
    return "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {generateName: order-}\naction: " + action +
           "\ntarget: {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: " + queue + ", uid: \"\"}\n";
  }

  Server server_{{"--nodes", "1x1x4", "--node-resources", "cpu=4,memory=16Gi"}};
};

TEST_F(Volcano, QueuesAndJobsAreServed) {
  ASSERT_TRUE(eventually_says("root", ".status.state", "Open"));
  ASSERT_TRUE(eventually_says("default", ".status.state", "Open"));
  must({"apply", "-f", source_path("config/samples/volcano-queues.yaml")});
  ASSERT_TRUE(eventually_says("q1", ".status.state", "Open"));
  const std::string queues = must({"get", "queue"});
  EXPECT_TRUE(has(queues, "NAME")) << queues;
  EXPECT_TRUE(has(queues, "PARENT")) << queues;
  EXPECT_EQ(queue_says("tenant-a", ".spec.parent"), "root") << "the controller writes it";

  const std::string job =
      must({"create", "-f", source_path("config/samples/volcano-job.yaml"), "-o", "jsonpath={.metadata.name}"});
  ASSERT_TRUE(
      eventually([&] { return must({"get", "vcjob", job, "-o", "jsonpath={.status.state.phase}"}) == "Running"; }));
  EXPECT_TRUE(eventually_says("tenant-a", ".status.allocated.cpu", "4"));
  EXPECT_EQ(queue_says("q1", ".status.allocated.pods"), "2");
  EXPECT_EQ(queue_says("q2", ".status.allocated.pods"), "");
  const std::string both = must({"get", "vcjob,podgroup"});
  EXPECT_TRUE(has(both, "job.batch.volcano.sh/" + job)) << both;
  EXPECT_TRUE(has(both, "podgroup.scheduling.volcano.sh/" + job + "-")) << both;
  EXPECT_TRUE(has(both, "Running")) << both;
  EXPECT_TRUE(eventually([&] { return has(must({"get", "events"}), "podgroup/" + job); }));

  must({"delete", "vcjob", job});
  EXPECT_TRUE(eventually_says("tenant-a", ".status.allocated.cpu", ""));
}

TEST_F(Volcano, WhatIsRefusedSaysWhy) {
  must({"apply", "-f", "-"}, queue("solo", "{capability: {cpu: 4}}"));
  ASSERT_TRUE(eventually_says("solo", ".status.state", "Open"));
  must({"apply", "-f", "-"},
       "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
       "spec: {queue: solo, minMember: 1, minResources: {cpu: 1}}\n");
  ASSERT_TRUE(eventually([&] { return must({"get", "pg", "g", "-o", "jsonpath={.status.phase}"}) == "Inqueue"; }));
  std::string why = refused({"apply", "-f", "-"}, queue("child", "{parent: solo}"));
  EXPECT_TRUE(has(why, "queue solo cannot become the parent of queue child while")) << why;
  why = refused({"apply", "-f", "-"}, queue("child", "{parent: nobody}"));
  EXPECT_TRUE(has(why, "there is no queue nobody")) << why;
  why = refused({"delete", "queue", "default"});
  EXPECT_TRUE(has(why, "queue default cannot be deleted")) << why;

  must({"create", "-f", "-"}, command("CloseQueue", "solo"));
  ASSERT_TRUE(eventually_says("solo", ".status.state", "Closing"));
  // a closing queue can still be edited
  must({"patch", "queue", "solo", "--type=merge", "-p", R"({"spec":{"weight":2}})"});
  why = refused({"apply", "-f", "-"},
                "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: late}\n"
                "spec: {queue: solo, minMember: 1}\n");
  EXPECT_TRUE(has(why, "queue solo is Closing: open it first")) << why;
  must({"delete", "pg", "g"});
  ASSERT_TRUE(eventually_says("solo", ".status.state", "Closed"));
  must({"create", "-f", "-"}, command("OpenQueue", "solo"));
  ASSERT_TRUE(eventually_says("solo", ".status.state", "Open"));
  ASSERT_TRUE(eventually_says("solo", ".status.allocated.pods", ""));
  must({"apply", "-f", "-"}, queue("child", "{parent: solo}"));
}

}  // namespace
}  // namespace berth::e2e::volcano_test
