// Simulated users who submit Deployments, StatefulSets and LeaderWorkerSets, with and without a queue, and scale,
// change, delete and orphan them at any time. Names are used again.
#pragma once

#include <cstdint>
#include <string>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/lab_names.h"

namespace berth::simulation {

class OwnerPeople {
 public:
  OwnerPeople(api::RestClient& client, std::uint64_t seed) : random_(seed * 37 + 11), hands_(client, random_) {}

  // Does one random action. Errors are ignored: a user's command may fail.
  void act();
  // Deletes all owners and all pods. Call it repeatedly, because requests are asynchronous.
  void clear_away();
  std::uint64_t owners() const { return owners_; }  // that somebody tried to create

 private:
  const api::GroupVersionResource& some_kind();
  void join_queue(Json& owner);
  Json pod_template(const std::string& app);
  Json owner(const char* kind, const std::string& name);
  void submit_deployment();
  void submit_stateful_set();
  void submit_leader_worker_set();
  void scale();
  void change_template();
  void change_labels();
  void remove();
  void fail_pod();
  void remove_replica_set();

  simulate::Random random_;
  Hands hands_;
  std::uint64_t owners_ = 0;
};

}  // namespace berth::simulation
