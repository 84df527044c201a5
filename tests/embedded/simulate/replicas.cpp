#include "embedded/simulate/replicas.h"

#include <optional>
#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "engine/schedule/scheduler.h"

namespace berth::simulation {
namespace {

const api::GroupVersionResource kWorkloads{std::string(api::kueue::kGroup), std::string(api::kueue::kVersion),
                                           "workloads"};

controller::ControllerOptions controller_options(std::uint64_t seed) {
  controller::ControllerOptions options;
  options.seed = seed;
  return options;
}

kube::LeaderElectionOptions election_options(std::uint64_t seed) {
  kube::LeaderElectionOptions options;
  options.identity = "replica-" + std::to_string(seed);
  options.seed = seed;
  return options;
}

simulate::FaultRates unreachable() {
  simulate::FaultRates rates;
  rates.refused = 1000;
  rates.late = 1000;
  rates.max_delay = std::chrono::minutes(1);
  return rates;
}

bool holds_admission(const api::kueue::Workload& w) {
  return w.status.admission && api::is_true(w.status.conditions, api::kueue::kQuotaReserved) &&
         !api::is_true(w.status.conditions, api::kueue::kFinished);
}

std::optional<api::kueue::Workload> holder(const JsonPtr& object) {
  if (!object) return std::nullopt;
  auto workload = api::kueue::decode_workload(*object);
  if (!workload || !holds_admission(*workload)) return std::nullopt;
  return std::move(*workload);
}

bool ended(const Json& job) {
  for (const auto& condition : array_at(job, {"status", "conditions"})) {
    const auto type = string_at(condition, {"type"});
    if ((type == "Complete" || type == "Failed") && string_at(condition, {"status"}) == "True") return true;
  }
  return false;
}

}  // namespace

Replica::Replica(simulate::World& world, std::uint64_t seed, simulate::FaultRates rates,
                 simulate::FaultRates lease_rates)
    : executor_(world.executor()),
      rates_(rates),
      lease_rates_(lease_rates),
      counted_(world.client(), writes_),
      client_(counted_, executor_, seed * 31 + 1, rates),
      lease_client_(world.client(), executor_, seed * 31 + 2, lease_rates),
      controller_(client_, executor_, controller_options(seed)),
      elector_(lease_client_, executor_, election_options(seed),
               {[this] { controller_.lead([this] { return elector_.leads_until(); }); },
                [this](const std::string&) { lost_ = true; }}) {
  client_.on_write([this](std::uint64_t) {
    if (lives_for_ == 0 || --lives_for_ > 0) return true;
    died_();
    return !before_;
  });
  controller_.on_synced([this] { elector_.start(); });
  controller_.start();
}

void Replica::Counted::call(api::RestRequest request, std::function<void(api::RestResponse)> done) {
  const bool reads = request.verb == api::Verb::kGet || request.verb == api::Verb::kList;
  if (!reads && request.resource.resource != "events") ++writes_;
  inner_.call(std::move(request), std::move(done));
}

std::unique_ptr<api::WatchHandle> Replica::Counted::watch(api::RestRequest request,
                                                          std::function<void(const api::WatchEvent&)> on_event,
                                                          std::function<void()> on_end) {
  return inner_.watch(std::move(request), std::move(on_event), std::move(on_end));
}

Replica::~Replica() {
  client_.cut();
  lease_client_.cut();
}

void Replica::die_at_write(std::uint64_t n, bool before, std::function<void()> died) {
  lives_for_ = n;
  before_ = before;
  died_ = std::move(died);
}

void Replica::cut_off(bool off) {
  client_.set_rates(off ? unreachable() : rates_);
  lease_client_.set_rates(off ? unreachable() : lease_rates_);
}

QuotaAudit::QuotaAudit(simulate::World& world, std::map<std::string, Amount> nominal)
    : world_(world),
      nominal_(std::move(nominal)),
      workloads_(world.client(), world.executor(), kWorkloads),
      jobs_(world.client(), world.executor(), api::kJobs) {
  workloads_.on_change([this](const JsonPtr& old, const JsonPtr& now) { look(old, now); });
  jobs_.on_change([this](const JsonPtr& old, const JsonPtr& now) {
    if (!now || ended(*now)) holders_.erase(std::string(string_at(now ? *now : *old, {"metadata", "uid"})));
  });
  workloads_.start();
  jobs_.start();
}

Amount QuotaAudit::used(std::string_view queue) const {
  Amount sum;
  for (const auto& [job, workload] : holders_) {
    if (workload.status.admission->cluster_queue != queue) continue;
    for (const auto& held : engine::holding_amounts(*workload.status.admission, {})) sum += held.amount;
  }
  return sum;
}

void QuotaAudit::look(const JsonPtr& old, const JsonPtr& now) {
  const auto before = holder(old), after = holder(now);
  const auto complain = [&](const std::string& what) {
    complaints_.push_back(format_time(world_.executor().now()) + " " +
                          std::string(string_at(now ? *now : *old, {"metadata", "name"})) + ": " + what);
  };
  if (before) holders_.erase(before->meta.owners.front().uid);
  if (!after) return;
  if (before && before->status.admission != after->status.admission)
    complain("admitted anew without having given its quota back");
  if (!before) ++admissions_;
  const api::OwnerReference& owner = after->meta.owners.front();
  const JsonPtr job = jobs_.get(api::object_key(after->meta.ns, owner.name));
  if (!job || ended(*job)) return;
  holders_.insert_or_assign(owner.uid, *after);
  const std::string& queue = after->status.admission->cluster_queue;
  if (used(queue) > nominal_[queue])
    complain(queue + " has given away " + format_amount("cpu", used(queue)) + " of " +
             format_amount("cpu", nominal_[queue]));
}

}  // namespace berth::simulation
