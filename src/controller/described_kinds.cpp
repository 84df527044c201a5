#include "controller/described_kinds.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "api/status.h"
#include "base/log.h"
#include "jobs/compose.h"
#include "jobs/workload_name.h"

namespace berth::controller {
namespace {

// A kind that is not served for so long was uninstalled: its jobs are gone.
constexpr Duration kUninstalledAfter = std::chrono::minutes(1);

}  // namespace

struct DescribedKinds::Kind {
  Kind(const Context& context, jobs::kinds::JobKindPtr kind, kube::Informer& cache)
      : spec(std::move(kind)), jobs(cache), adapter(spec, context.get), controller(adapter, make(context)) {}

  // Other controllers leave orphans of this kind to this one, and this one leaves all others to them.
  JobController::Context make(const Context& context) {
    JobController::Context made = context.job_context(jobs, *spec);
    made.of_others = [this](const api::kueue::Workload& workload) { return !controls(workload) && !had(workload); };
    return made;
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
};

DescribedKinds::DescribedKinds(Context context, const std::vector<jobs::kinds::JobKindPtr>& kinds,
                               const std::vector<api::GroupVersionResource>& owners)
    : context_(std::move(context)) {
  for (const auto& kind : kinds) {
    kinds_.push_back(std::make_unique<Kind>(context_, kind, cache_of(kind->resource)));
    Kind& made = *kinds_.back();
    made.jobs.on_change([&made](const JsonPtr& old, const JsonPtr& now) { made.controller.job_changed(old, now); });
    made.jobs.on_synced([this, &made] {
      if (leading_) made.controller.start();
    });
    for (const auto& resource : kind->lookups) {
      cache_of(resource).on_change([&made](const JsonPtr&, const JsonPtr&) { made.controller.facts_changed(); });
    }
  }
  for (const auto& owner : owners) cache_of(owner);
}

DescribedKinds::~DescribedKinds() = default;

kube::Informer& DescribedKinds::cache_of(const api::GroupVersionResource& resource) {
  auto& cache = caches_[resource];
  if (cache == nullptr) {
    unsettled_.insert(resource);
    auto options = context_.informer_options();
    options.gone_after = kUninstalledAfter;
    cache = std::make_unique<kube::Informer>(context_.client, context_.executor, resource, options);
    cache->on_list([this, resource](const api::RestResponse& response) { listed(resource, response); });
    cache->on_synced([this, resource] { settle(resource); });
  }
  return *cache;
}

// A failed list is tried again by itself. A kind that is not installed is no problem.
void DescribedKinds::listed(const api::GroupVersionResource& resource, const api::RestResponse& response) {
  const bool missing = response.code == 404, refused = response.code == 401 || response.code == 403;
  if (missing || refused) settle(resource);
  if (std::exchange(told_[resource], response.code) == response.code || response.ok()) return;
  const std::string name = resource.resource + "." + resource.group;
  if (missing) {
    log::debug("a kind of job is not installed here; it is managed once it is", {{"resource", name}});
  } else {
    log::warn(refused ? "a kind of job cannot be read and is ignored" : "a kind of job cannot be read; trying again",
              {{"resource", name}, {"code", response.code}, {"why", std::string(api::status_message(response))}});
  }
}

void DescribedKinds::settle(const api::GroupVersionResource& resource) {
  if (unsettled_.erase(resource) > 0 && unsettled_.empty()) context_.settled();
}

std::vector<std::string> DescribedKinds::missing() const {
  std::vector<std::string> out;
  for (const auto& resource : unsettled_) out.push_back(resource.resource);
  return out;
}

void DescribedKinds::read() {
  for (auto& [resource, cache] : caches_) cache->start();
}

void DescribedKinds::start() {
  leading_ = true;
  for (auto& kind : kinds_) {
    if (kind->jobs.synced()) kind->controller.start();
  }
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

}  // namespace berth::controller
