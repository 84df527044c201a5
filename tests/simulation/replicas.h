// Several controllers on one API server, of which one leads; and an eye on every single change that the API
// server shows of quota.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/amount.h"
#include "controller/controller.h"
#include "kube/informer.h"
#include "kube/leader_election.h"
#include "simulate/faults.h"
#include "simulate/standing_executor.h"
#include "simulate/world.h"

namespace berth::simulation {

// One process: controller and elector, each with a connection of its own.
class Replica {
 public:
  Replica(simulate::World& world, std::uint64_t seed, simulate::FaultRates rates,
          simulate::FaultRates lease_rates);
  ~Replica();  // kill -9

  bool leads() const { return controller_.leading() && !lost_; }
  bool lost() const { return lost_; }  // it had the lease and knows that it has it no more: the process ends
  std::uint64_t writes() const { return writes_; }  // that reached the server, events left out
  // Kills within the n-th write from now on: before it is carried out, or after; `died` is called then, once.
  void die_at_write(std::uint64_t n, bool before, std::function<void()> died);
  void stand_still() { executor_.stand_still(); }
  void go_on() { executor_.go_on(); }
  void cut_off(bool off);
  controller::Controller& controller() { return controller_; }

 private:
  // What reaches the server.
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
  std::uint64_t lives_for_ = 0;  // writes, events among them; 0: for ever
  bool before_ = false, lost_ = false;
  std::function<void()> died_;
  controller::Controller controller_;
  kube::LeaderElector elector_;
};

// Looks at every version of every workload, in the order in which the API server made them. Who holds quota:
// has it reserved, and its Job has not ended. (That it has ended is known before the workload says so.)
class QuotaAudit {
 public:
  // `nominal`: cpu of each cluster queue, which may not borrow.
  QuotaAudit(simulate::World& world, std::map<std::string, Amount> nominal);

  const std::vector<std::string>& complaints() const { return complaints_; }
  std::uint64_t admissions() const { return admissions_; }

 private:
  void look(const JsonPtr& old, const JsonPtr& now);
  Amount used(std::string_view queue) const;

  simulate::World& world_;
  std::map<std::string, Amount> nominal_;
  std::map<std::string, api::kueue::Workload> holders_;  // by uid of their Job
  std::uint64_t admissions_ = 0;
  std::vector<std::string> complaints_;
  kube::Informer workloads_, jobs_;
};

}  // namespace berth::simulation
