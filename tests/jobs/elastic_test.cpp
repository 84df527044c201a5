// Elastic jobs whose size changed while they ran, without the gate.
#include "jobs/elastic.h"

#include "jobs/reconcile_support.h"

namespace berth::jobs::elastic_test {
namespace {

using namespace reconcile_support;

// The webhook refuses the change. If it comes past the webhook, an event says why the pods are gone.
TEST(Reconcile, AnElasticJobThatChangedItsSizeIsStoppedAndReportedSo) {
  const auto elastic = [](int parallelism) {
    return job("{metadata: {annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: {suspend: false, parallelism: " +
               std::to_string(parallelism) + ", completions: 8}}");
  };
  const auto reported = [&](int parallelism) {
    std::string reasons;
    JobFacts off = facts();
    off.gates.elastic_jobs = false;
    for (const auto& step :
         reconcile(batch_job(), ptr(elastic(parallelism)), {workload(kAdmittedStatus, elastic(3))}, off)) {
      if (const auto* event = std::get_if<JobEvent>(&step))
        reasons += (event->warning ? "Warning " : "Normal ") + event->reason + " ";
    }
    return reasons;
  };
  EXPECT_EQ(reported(3), "");
  EXPECT_EQ(reported(4), "Warning ElasticJobStopped Normal Stopped ");
  EXPECT_EQ(reported(2), "Warning ElasticJobStopped Normal Stopped ");
}

}  // namespace
}  // namespace berth::jobs::elastic_test
