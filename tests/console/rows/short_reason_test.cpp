#include "console/rows/short_reason.h"

#include <gtest/gtest.h>

#include <string>

#include "console/rows/workload_row.h"

namespace berth::console::short_reason_test {
namespace {

const std::string kShort =
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more "
    "needed";

TEST(ShortReason, LeavesOutAmountsAndNames) {
  EXPECT_EQ(short_reason("WaitingForQuota", kShort), "quota: nvidia.com/gpu in h100");
  EXPECT_EQ(short_reason("ExceedsMaxQuota",
                         "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f, previously "
                         "considered podsets requests (0) + current podset request (12) > maximum capacity (8)"),
            "more than the quota: cpu in f");
  EXPECT_EQ(short_reason("TopologyPlacementFailed",
                         "couldn't assign flavors to pod set main: topology \"room\" allows to fit only 2 out of 4 "
                         "pod(s). Total nodes: 4; excluded: resource \"cpu\": 3"),
            "topology: room");
}

TEST(ShortReason, OfAnEqualWorkloadIsWhatThatOneLacked) {
  EXPECT_EQ(short_reason(
                "WaitingForQuota",
                "Bypassed scheduling evaluation because an equivalent workload recently failed: ns/first: " + kShort),
            "quota: nvidia.com/gpu in h100");
}

TEST(ShortReason, NeverGoesBeforeWhatIsShortNow) {
  EXPECT_EQ(short_reason("WaitingForQuota", kShort + ". It can never fit: no rack has place for its pods"),
            "can never fit");
}

TEST(ShortReason, OfQueues) {
  EXPECT_EQ(short_reason("Misconfigured", "LocalQueue mian doesn't exist; its namespace has main"),
            "local queue does not exist");
  EXPECT_EQ(short_reason("Misconfigured", "ClusterQueue tema doesn't exist"), "cluster queue does not exist");
  EXPECT_EQ(short_reason("Suspended", "ClusterQueue team is inactive"), "queue stopped");
  EXPECT_EQ(short_reason("Suspended", "ClusterQueue team is inactive: references missing ResourceFlavor(s): a"),
            "missing flavor");
}

TEST(ShortReason, OfAnythingElseIsItsReasonInWords) {
  EXPECT_EQ(short_reason("MaximumExecutionTimeExceeded", "x"), "maximum execution time exceeded");
  EXPECT_EQ(short_reason("", ""), "not considered yet");
}

// A row has the beginning of a long message only; the words are of the whole.
TEST(ShortReason, OfALongMessageIsOfAllOfIt) {
  const std::string message = kShort + std::string(400, 'x') + " It can never fit: y";
  const auto row =
      workload_row(JsonObject{{"metadata", JsonObject{{"name", "w"}, {"namespace", "ns"}}},
                              {"status", JsonObject{{"conditions", JsonArray{JsonObject{{"type", "QuotaReserved"},
                                                                                        {"status", "False"},
                                                                                        {"reason", "WaitingForQuota"},
                                                                                        {"message", message}}}}}}});
  ASSERT_TRUE(row);
  EXPECT_NE(row->json.find("\"why\":\"can never fit\""), std::string::npos) << row->json;
}

}  // namespace
}  // namespace berth::console::short_reason_test
