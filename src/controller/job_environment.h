// What the controllers of jobs and of pods know about the rest of the cluster.
#pragma once

#include "controller/decoded_workloads.h"
#include "controller/managed_objects.h"
#include "controller/metrics_feed.h"
#include "controller/shell.h"
#include "jobs/job_facts.h"

namespace berth::controller {

struct JobEnvironment {
  Shell& shell;
  DecodedWorkloads& workloads;
  const ManagedObjects& managed;
  MetricsFeed& metrics;
  jobs::JobFacts facts;  // those that all jobs have in common
};

}  // namespace berth::controller
