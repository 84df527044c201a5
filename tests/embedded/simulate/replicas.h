// Several controllers on one API server, one of which leads, and an audit of each change of a workload's quota.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/amount.h"
#include "controller/controller.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/world.h"
#include "kube/informer.h"
#include "kube/leader_election.h"

namespace berth::simulation {

// One process: a controller and a leader elector, each with its own connection.
class Replica {
 public:
  Replica(simulate::World& world, std::uint64_t seed, simulate::FaultRates rates, simulate::FaultRates lease_rates);
  ~Replica();  // like SIGKILL: both connections are cut first

  bool leads() const { return controller_.leading() && !lost_; }
  bool lost() const { return lost_; }  // it knows that it lost the lease: a real process would exit
  // The controller's writes that reached the server, without Events and without the lease.
  std::uint64_t writes() const { return writes_; }
  // The process dies at its n-th write from now on (Events count): if `before`, the write is not carried out, else it
  // is. Calls `died` once at that moment; the caller must then destroy the replica.
  void die_at_write(std::uint64_t n, bool before, std::function<void()> died);
  void stand_still() { executor_.stand_still(); }
  void go_on() { executor_.go_on(); }
  void cut_off(bool off);
  controller::Controller& controller() { return controller_; }

 private:
  // Counts the writes that reach the server.
  class Counted final : public api::RestClient {
   public:
    Counted(api::RestClient& inner, std::uint64_t& writes) : inner_(inner), writes_(writes) {}
    void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
    std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                            std::function<void(const api::WatchEvent&)> on_event,
                                            std::function<void()> on_end) override;

   private:
    api::RestClient& inner_;
    std::uint64_t& writes_;
  };

  simulate::StandingExecutor executor_;
  simulate::FaultRates rates_, lease_rates_;
  std::uint64_t writes_ = 0;
  Counted counted_;
  simulate::FaultyClient client_, lease_client_;
  std::uint64_t lives_for_ = 0;  // number of writes until it dies, Events included; 0: no death is planned
  bool before_ = false, lost_ = false;
  std::function<void()> died_;
  controller::Controller controller_;
  kube::LeaderElector elector_;
};

// Watches all changes of workloads in the order of the API server. A workload holds quota if its quota is reserved
// and its Job has not ended. (The controller learns of the Job's end before the workload's status shows it.)
class QuotaAudit {
 public:
  // `nominal`: the nominal cpu quota of each cluster queue. The queues must not borrow.
  QuotaAudit(simulate::World& world, std::map<std::string, Amount> nominal);

  const std::vector<std::string>& complaints() const { return complaints_; }
  std::uint64_t admissions() const { return admissions_; }

 private:
  void look(const JsonPtr& old, const JsonPtr& now);
  Amount used(std::string_view queue) const;

  simulate::World& world_;
  std::map<std::string, Amount> nominal_;
  std::map<std::string, api::kueue::Workload> holders_;  // workloads that hold quota, by the uid of their Job
  std::uint64_t admissions_ = 0;
  std::vector<std::string> complaints_;
  kube::Informer workloads_, jobs_;
};

}  // namespace berth::simulation
