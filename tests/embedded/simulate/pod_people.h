// Simulated users who submit single pods and groups of pods, and change and delete them half done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/lab_names.h"

namespace berth::simulation {

class PodPeople {
 public:
  PodPeople(api::RestClient& client, std::uint64_t seed) : random_(seed * 31 + 5), hands_(client, random_) {}

  std::vector<Json> estate();  // the objects to start with
  // Does one random action. Errors are ignored: a user's command may fail.
  void act();
  // Resumes queues and activates workloads. Call it repeatedly, because requests are asynchronous.
  void calm_down();
  std::uint64_t pods() const { return pods_; }

 private:
  Json pod(const std::string& name, std::uint64_t cpu);
  void submit_pod();
  void submit_group();
  void replace_some();
  void edit_pod();
  Json other_claims(bool gated);
  void edit_workload();
  void edit_queue();

  simulate::Random random_;
  Hands hands_;
  std::uint64_t pods_ = 0, groups_ = 0;
};

}  // namespace berth::simulation
