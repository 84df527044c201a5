// Simulated users who submit jobs of described kinds, suspend and resume them by hand, edit their statuses, and delete
// them and their pods at any time. Names are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/lab_names.h"
#include "jobs/kinds/job_kind.h"

namespace berth::simulation {

class KindPeople {
 public:
  // Takes the jobs from config/samples/kinds.
  KindPeople(api::RestClient& client, std::uint64_t seed);

  std::vector<Json> estate();  // the objects to start with
  // Does one random action. Errors are ignored: a user's command may fail.
  void act();
  // Resumes queues and activates workloads. Call it repeatedly, because requests are asynchronous.
  void calm_down();
  // Deletes all jobs. Call it repeatedly.
  void clear_away();
  std::uint64_t jobs() const { return jobs_; }  // that somebody tried to create

 private:
  struct Sample {
    jobs::kinds::JobKindPtr kind;
    Json job;
  };
  const jobs::kinds::JobKindSpec& some_kind();
  void submit();
  void flip_suspend();
  void edit_status();
  void change_labels();
  void remove();
  void edit_workload();
  void edit_queue();

  simulate::Random random_;
  Hands hands_;
  std::vector<Sample> samples_;
  std::vector<Json> needed_;  // that jobs refer to
  std::uint64_t jobs_ = 0;
};

}  // namespace berth::simulation
