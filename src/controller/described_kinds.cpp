#include "controller/described_kinds.h"

#include <algorithm>
#include <utility>

#include "api/config/frameworks.h"
#include "api/meta.h"
#include "api/status.h"
#include "base/log.h"
#include "base/planted.h"
#include "jobs/compose.h"
#include "jobs/workload_name.h"

namespace berth::controller {
namespace {

// A kind that is not served for so long was uninstalled: its jobs are gone.
constexpr Duration kUninstalledAfter = std::chrono::minutes(1);
// The documents of a server follow its definitions after a while: a kind that can be listed and is not in them yet.
constexpr Duration kDocumentsLag = std::chrono::seconds(5);
constexpr int kMostLags = 3;

using Fit = jobs::kinds::Fit;

std::vector<jobs::kinds::JobKindPtr> managed_kinds(const ControllerOptions& options) {
  std::vector<jobs::kinds::JobKindPtr> out;
  for (const auto& kind : options.kinds) {
    if (kind.managed) out.push_back(kind.description);
  }
  return out;
}

void report(const jobs::kinds::JobKindSpec& kind, const Fit& fit) {
  const std::string name = kind.kind + " of " + kind.api_version();
  if (fit.state == Fit::State::kOtherVersion) {
    std::string versions;
    for (const auto& version : fit.notes) versions.append(versions.empty() ? "" : ", ").append(version);
    log::warn("a kind of job is not managed: the cluster serves it in other versions only",
              {{"kind", name}, {"served", versions}, {"described_in", kind.origin}});
  }
  const bool in_part = fit.state == Fit::State::kInPart;
  if (!in_part && fit.state != Fit::State::kMisfit) return;
  for (const auto& mistake : fit.notes) {
    log::warn(in_part ? "a description does not quite fit the installed kind of job"
                      : "a kind of job is not managed: its description does not fit what is installed",
              {{"kind", name}, {"mistake", mistake}});
  }
}

}  // namespace

struct DescribedKinds::Kind {
  Kind(const JobEnvironment& environment, const api::kueue::ObjectGetter& get, jobs::kinds::JobKindPtr kind,
       kube::Informer& cache)
      : spec(std::move(kind)), jobs(cache), adapter(spec, get), controller(adapter, environment, jobs, rules()) {}

  // Other controllers leave orphans of this kind to this one, and this one leaves all others to them.
  JobController::Rules rules() {
    return {[this](const Json& job) { return !jobs::kinds::is_skipped(*spec, job); },
            [this](const api::kueue::Workload& workload) { return !controls(workload) && !had(workload); }};
  }

  bool controls(const api::kueue::Workload& workload) const {
    return std::ranges::any_of(workload.meta.owners, [this](const auto& owner) {
      return owner.controller && owner.kind == spec->kind && owner.api_version == spec->api_version();
    });
  }

  bool had(const api::kueue::Workload& workload) const {
    const auto uid = workload.meta.labels.find(std::string(jobs::kJobUidLabel));
    const auto name = jobs::job_in_name(spec->kind, workload.meta.name);
    return name && uid != workload.meta.labels.end() &&
           jobs::workload_name(spec->resource.group, spec->kind, *name, uid->second) == workload.meta.name;
  }

  jobs::kinds::JobKindPtr spec;
  kube::Informer& jobs;
  jobs::kinds::DescribedJob adapter;
  JobController controller;
  bool runs = false;  // the controller is started
  int lags = 0;       // rounds of checks in a row that did not know the kind although it could be listed
};

DescribedKinds::DescribedKinds(const JobEnvironment& environment, api::kueue::ObjectGetter get,
                               std::function<void()> settled)
    : environment_(environment),
      shell_(environment.shell),
      get_(std::move(get)),
      settled_(std::move(settled)),
      checks_(shell_.client, shell_.executor,
              shell_.options.compare_kinds ? managed_kinds(shell_.options) : std::vector<jobs::kinds::JobKindPtr>()) {
  checks_.on_fit([](const jobs::kinds::JobKindSpec& kind, const Fit& fit) { report(kind, fit); });
  checks_.on_round([this] { checked(); });
  for (const auto& kind : managed_kinds(shell_.options)) {
    kinds_.push_back(std::make_unique<Kind>(environment_, get_, kind, cache_of(kind->resource)));
    Kind& made = *kinds_.back();
    made.jobs.on_change([&made](const JsonPtr& old, const JsonPtr& now) { made.controller.job_changed(old, now); });
    for (const auto& lookup : kind->lookups) {
      cache_of(lookup.resource).on_change([&made, owned = lookup.owned](const JsonPtr& old, const JsonPtr& now) {
        owned ? made.controller.child_changed(now ? *now : *old) : made.controller.facts_changed();
      });
    }
  }
  for (const auto& owner : shell_.options.external_kinds) cache_of(owner.resource);
}

kube::Informer& DescribedKinds::cache_of(const api::GroupVersionResource& resource) {
  auto& cache = caches_[resource];
  if (cache == nullptr) {
    unsettled_.insert(resource);
    auto options = shell_.informer_options();
    options.gone_after = kUninstalledAfter;
    // In another version its jobs may go on: they keep their quota.
    options.may_be_gone = [this, resource] {
      const Kind* kind = kind_of(resource);
      const auto state = kind == nullptr ? Fit::State::kAbsent : checks_.of(*kind->spec).state;
      const bool moved = state == Fit::State::kOtherVersion && planted(Planted::kMovedKind);
      return state == Fit::State::kAbsent || state == Fit::State::kUnknown || moved;
    };
    cache = std::make_unique<kube::Informer>(shell_.client, shell_.executor, resource, options);
    cache->on_list([this, resource](const api::RestResponse& response) { listed(resource, response); });
    cache->on_synced([this, resource] {
      settle(resource);
      if (Kind* kind = kind_of(resource)) manage(*kind);
    });
  }
  return *cache;
}

// A failed list is tried again by itself. A kind that is not installed is no problem.
void DescribedKinds::listed(const api::GroupVersionResource& resource, const api::RestResponse& response) {
  const bool missing = response.code == 404, refused = response.code == 401 || response.code == 403;
  if (missing || refused) settle(resource);
  const bool same = std::exchange(reported_[resource], response.code) == response.code;
  if (Kind* kind = kind_of(resource)) {
    if (!same || (missing && checks_.of(*kind->spec).usable())) checks_.ask_again();
    manage(*kind);
  }
  if (same || response.ok()) return;
  const std::string name = resource.resource + "." + resource.group;
  if (missing) {
    log::debug("a kind of job is not installed here; it is managed once it is", {{"resource", name}});
  } else {
    log::warn(refused ? "a kind of job cannot be read and is ignored" : "a kind of job cannot be read; trying again",
              {{"resource", name}, {"code", response.code}, {"why", std::string(api::status_message(response))}});
  }
}

void DescribedKinds::settle(const api::GroupVersionResource& resource) {
  if (unsettled_.erase(resource) > 0 && unsettled_.empty()) settled_();
}

std::vector<std::string> DescribedKinds::missing() const {
  std::vector<std::string> out;
  for (const auto& resource : unsettled_) out.push_back(resource.resource);
  return out;
}

DescribedKinds::Kind* DescribedKinds::kind_of(const api::GroupVersionResource& resource) const {
  const auto it = std::ranges::find_if(kinds_, [&](const auto& kind) { return kind->spec->resource == resource; });
  return it == kinds_.end() ? nullptr : it->get();
}

bool DescribedKinds::listed_now(const Kind& kind) const {
  const auto reported = reported_.find(kind.spec->resource);
  return reported == reported_.end() || (reported->second >= 200 && reported->second < 300);
}

// A kind that was uninstalled goes on: the workloads of its jobs end.
void DescribedKinds::manage(Kind& kind) {
  if (!leading_ || !kind.jobs.synced() || (shell_.options.compare_kinds && !checks_.known(*kind.spec))) return;
  const Fit fit = checks_.of(*kind.spec);
  const bool lagged = listed_now(kind) && fit.state != Fit::State::kMisfit && kind.lags >= kMostLags;
  if (!kind.runs && (fit.usable() || lagged)) {
    kind.runs = true;
    kind.controller.start();
  } else if (kind.runs && (fit.state == Fit::State::kMisfit || (fit.state == Fit::State::kOtherVersion &&
                                                                !listed_now(kind) && !planted(Planted::kMovedKind)))) {
    kind.runs = planted(Planted::kForgottenKind);
    kind.controller.stop();
  }
}

void DescribedKinds::checked() {
  bool lags = false;
  for (auto& kind : kinds_) {
    const bool puzzle = kind->jobs.synced() && listed_now(*kind) && !checks_.of(*kind->spec).usable() &&
                        checks_.of(*kind->spec).state != Fit::State::kMisfit;
    kind->lags = puzzle ? kind->lags + 1 : 0;
    lags = lags || (puzzle && kind->lags < kMostLags);
    manage(*kind);
  }
  if (!lags) return;
  shell_.executor.after(kDocumentsLag, lifetime_.guard([this] { checks_.ask_again(); }));
}

DescribedKinds::~DescribedKinds() = default;

void DescribedKinds::read() {
  checks_.start();
  for (auto& [resource, cache] : caches_) cache->start();
}

void DescribedKinds::start() {
  leading_ = true;
  for (auto& kind : kinds_) manage(*kind);
}

void DescribedKinds::workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  for (auto& kind : kinds_) kind->controller.workload_changed(old, now);
}

void DescribedKinds::workload_gone(const std::string& key) {
  for (auto& kind : kinds_) kind->controller.workload_gone(key);
}

void DescribedKinds::facts_changed() {
  for (auto& kind : kinds_) kind->controller.facts_changed();
}

JsonPtr DescribedKinds::find(const api::GroupVersionResource& resource, std::string_view ns,
                             std::string_view name) const {
  const auto it = caches_.find(resource);
  return it == caches_.end() ? nullptr : it->second->get(api::object_key(ns, name));
}

std::optional<bool> DescribedKinds::admitted(const api::GroupVersionResource& resource, const Json& job) const {
  for (const auto& kind : kinds_) {
    if (kind->spec->resource == resource) return kind->controller.admitted(job);
  }
  return std::nullopt;
}

bool DescribedKinds::had(const api::kueue::Workload& workload) const {
  return std::ranges::any_of(kinds_, [&](const auto& kind) { return kind->had(workload); });
}

bool DescribedKinds::named(const api::kueue::Workload& workload) const {
  return std::ranges::any_of(kinds_, [&](const auto& kind) { return kind->controller.names(workload); });
}

std::vector<DispatchedKind> DescribedKinds::dispatched(kube::Informer& batch_jobs) const {
  const jobs::JobGates& gates = shell_.options.jobs;
  std::vector<DispatchedKind> out{dispatched_batch_job(batch_jobs)};
  for (const auto& kind : kinds_) {
    const jobs::kinds::JobKindSpec& spec = *kind->spec;
    if (!spec.dispatch || (!gates.multikueue_own_kinds && !api::config::is_framework(spec.framework))) continue;
    out.push_back(dispatched_kind(spec, kind->adapter, kind->jobs, gates.multikueue_spec_sync));
  }
  return out;
}

}  // namespace berth::controller
