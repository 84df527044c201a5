// The names of workloads tell their jobs.
#include "jobs/workload_name.h"

#include <gtest/gtest.h>

namespace berth::jobs::workload_name_test {
namespace {

TEST(WorkloadName, ReportsTheJob) {
  EXPECT_EQ(job_in_name("Job", workload_name("batch", "Job", "a-job", "u")), "a-job");
  for (const char* other : {"job-a", "job-a-12x45", "job--12345", "jobset-a-12345", "w1", "", "job-12345"})
    EXPECT_EQ(job_in_name("Job", other), std::nullopt) << other;
}

TEST(WorkloadName, IsStableAndAtMost253Characters) {
  const std::string name = workload_name("batch", "Job", std::string(300, 'a'), "u");
  EXPECT_EQ(name.size(), 253u);
  EXPECT_EQ(name, workload_name("batch", "Job", std::string(300, 'a'), "u"));
  EXPECT_NE(name, workload_name("batch", "Job", std::string(300, 'a'), "v"));
  EXPECT_TRUE(workload_name("batch", "Job", "one", "u").starts_with("job-one-"));
}

// ShortWorkloadNames of Kueue 0.17: names may be values of labels.
TEST(WorkloadName, MayBeShort) {
  const std::string name = workload_name("batch", "Job", std::string(300, 'a'), "u", true);
  EXPECT_EQ(name.size(), 63u);
  EXPECT_EQ(name.substr(57), workload_name("batch", "Job", std::string(300, 'a'), "u").substr(247)) << "the same hash";
  EXPECT_EQ(workload_name("batch", "Job", "one", "u", true), workload_name("batch", "Job", "one", "u"));
}

}  // namespace
}  // namespace berth::jobs::workload_name_test
