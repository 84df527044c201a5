#include "api/volcano/types.h"

#include <gtest/gtest.h>

namespace berth::api::volcano::types_test {
namespace {

Json json(std::string_view text) { return *parse_json(text); }

TEST(VolcanoQueue, MissingFieldsTakeTheirDefaults) {
  const auto q = decode_queue(json(R"({"metadata":{"name":"q"}})"));
  ASSERT_TRUE(q);
  EXPECT_EQ(q->meta.name, "q");
  EXPECT_EQ(q->weight, 1);
  EXPECT_TRUE(q->reclaimable);
  EXPECT_EQ(q->dequeue_strategy, DequeueStrategy::kTraverse);
  EXPECT_EQ(q->status, QueueStatus());
}

TEST(VolcanoQueue, ReadsEveryFieldAndWritesItsStatus) {
  const auto q = decode_queue(json(
      R"({"metadata":{"name":"q","annotations":{"a":"b"}},"spec":{"parent":"p","weight":3,"priority":7,"reclaimable":false,)"
      R"("dequeueStrategy":"fifo","capability":{"cpu":4},"deserved":{"cpu":"1500m"},"guarantee":{"resource":{"cpu":"1"}}},)"
      R"("status":{"state":"Closing","allocated":{"cpu":"2","pods":"3"},"pending":1,"inqueue":2}})"));
  ASSERT_TRUE(q) << q.error().message;
  EXPECT_EQ(q->parent, "p");
  EXPECT_EQ(q->weight, 3);
  EXPECT_EQ(q->priority, 7);
  EXPECT_FALSE(q->reclaimable);
  EXPECT_EQ(q->dequeue_strategy, DequeueStrategy::kFifo);
  EXPECT_EQ(q->capability.at("cpu").to_string(), "4");
  EXPECT_EQ(q->deserved.at("cpu").to_string(), "1500m");
  EXPECT_EQ(q->guarantee.at("cpu").to_string(), "1");
  EXPECT_EQ(q->status.state, QueueState::kClosing);
  EXPECT_EQ(q->status.inqueue, 2);
  EXPECT_EQ(canonical_json(encode_queue_status(q->status)),
            R"({"allocated":{"cpu":"2","pods":"3"},"inqueue":2,"pending":1,"state":"Closing"})");
  EXPECT_EQ(to_string(encode_queue_status({})), "{}");
}

TEST(VolcanoAmounts, AreNotNegative) {
  const auto q = decode_queue(
      json(R"({"spec":{"capability":{"cpu":-4},"deserved":{"cpu":"-1"},"guarantee":{"resource":{"cpu":"-1"}}}})"));
  ASSERT_TRUE(q) << q.error().message;
  EXPECT_EQ(q->capability.at("cpu").to_string(), "0");
  EXPECT_EQ(q->deserved.at("cpu").to_string(), "0");
  EXPECT_EQ(q->guarantee.at("cpu").to_string(), "0");
  EXPECT_EQ(decode_pod_group(json(R"({"spec":{"minResources":{"cpu":"-100"}}})"))->min_resources->at("cpu").to_string(),
            "0");
}

TEST(VolcanoQueue, ErrorsNameObjectAndField) {
  EXPECT_EQ(decode_queue(json(R"({"metadata":{"name":"q"},"status":{"state":"Ajar"}})")).error().message,
            "Queue q: status.state: unsupported value \"Ajar\"");
  const auto bad = decode_queue(json(R"({"metadata":{"name":"q"},"spec":{"deserved":{"cpu":"z"}}})"));
  EXPECT_TRUE(bad.error().message.starts_with("Queue q: spec.deserved: cpu: quantities must")) << bad.error().message;
}

TEST(VolcanoPodGroup, IsReadAndItsStatusWritten) {
  const auto plain = decode_pod_group(json(R"({"metadata":{"name":"g","namespace":"n"}})"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->queue, "default");
  EXPECT_FALSE(plain->min_resources);  // absent is not the same as empty
  EXPECT_TRUE(decode_pod_group(json(R"({"spec":{"minResources":{}}})"))->min_resources);

  constexpr std::string_view kStatus =
      R"({"conditions":[{"lastTransitionTime":"2026-11-21T09:30:00Z","message":"m","reason":"r","status":"True","transitionID":"x",)"
      R"("type":"Unschedulable"}],"failed":1,"phase":"Inqueue","running":2,"succeeded":3})";
  const auto g = decode_pod_group(json(
      R"({"metadata":{"name":"g","namespace":"n"},"spec":{"minMember":2,"minTaskMember":{"w":2},"minResources":{"cpu":"2"},)"
      R"("queue":"q","priorityClassName":"high","networkTopology":{"mode":"soft","highestTierAllowed":1}},"status":)" +
      std::string(kStatus) + "}"));
  ASSERT_TRUE(g) << g.error().message;
  EXPECT_EQ(g->min_member, 2);
  EXPECT_EQ(g->min_task_member.at("w"), 2);
  EXPECT_EQ(g->min_resources->at("cpu").to_string(), "2");
  EXPECT_EQ(g->network_topology->mode, TopologyMode::kSoft);
  EXPECT_EQ(g->network_topology->highest_tier_allowed, 1);
  EXPECT_EQ(canonical_json(encode_pod_group_status(g->status)), kStatus);
}

TEST(VolcanoCommand, IsRead) {
  const auto c = decode_command(json(
      R"({"metadata":{"name":"c","namespace":"n"},"action":"CloseQueue","target":{"apiVersion":"scheduling.volcano.sh/v1beta1",)"
      R"("kind":"Queue","name":"q","uid":"u","controller":true},"reason":"r"})"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->action, "CloseQueue");
  EXPECT_EQ(c->target.name, "q");
  EXPECT_TRUE(c->target.controller);
}

TEST(VolcanoJob, IsReadAndItsStatusWritten) {
  constexpr std::string_view kStatus =
      R"({"minAvailable":3,"pending":1,"retryCount":2,"running":2,"state":{"lastTransitionTime":"2026-11-21T09:30:00Z","phase":"Running"}})";
  const auto j = decode_job(json(
      R"({"metadata":{"name":"j","namespace":"n"},"spec":{"minAvailable":3,"queue":"q","tasks":[{"replicas":2,"minAvailable":1,)"
      R"("template":{"spec":{}}},{"name":"worker","replicas":4}]},"status":)" +
      std::string(kStatus) + "}"));
  ASSERT_TRUE(j) << j.error().message;
  EXPECT_EQ(j->max_retry, 3);
  ASSERT_EQ(j->tasks.size(), 2u);
  EXPECT_EQ(j->tasks[0].name, "default0");
  EXPECT_EQ(j->tasks[0].min_available, 1);
  EXPECT_FALSE(j->tasks[1].min_available);
  EXPECT_NE(j->tasks[1].template_, nullptr);
  EXPECT_EQ(j->status.phase, JobPhase::kRunning);
  EXPECT_EQ(canonical_json(encode_job_status(j->status)), kStatus);
}

}  // namespace
}  // namespace berth::api::volcano::types_test
