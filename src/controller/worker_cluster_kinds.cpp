// The jobs on a worker cluster, each kind by itself: one that cannot be listed takes no other with it.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "controller/worker_cluster.h"
#include "multikueue/names.h"

namespace berth::controller {
namespace {

// A kind that is not served for so long was uninstalled there: its jobs are gone.
constexpr Duration kUninstalledAfter = std::chrono::minutes(1);

std::string workload_key_of(const multikueue::SeenJob& job) { return api::object_key(job.meta.ns, job.workload); }

}  // namespace

WorkerCluster::Jobs::Jobs(Kind& of, api::RestClient& client, Executor& executor, kube::InformerOptions options)
    : kind(of),
      asked(executor.now()),
      cache(client, executor, of.rules->resource, std::move(options),
            [rules = of.rules](const Json& job) { return multikueue::seen_job(*rules, job); }) {}

void WorkerCluster::need(const multikueue::RemoteKind& kind) {
  if (find_kind(kind) != nullptr) return;
  needed_.push_back({.rules = &kind});
  if (link_ && !link_->jobs.empty()) watch_jobs(needed_.back());
}

void WorkerCluster::watch_jobs(Kind& kind) {
  kube::InformerOptions options = shell_.informer_options(false);
  options.label_selector = std::string(multikueue::kOriginLabel) + "=" + origin_;
  options.gone_after = kUninstalledAfter;
  link_->jobs.push_back(std::make_unique<Jobs>(kind, *link_->client, shell_.executor, std::move(options)));
  Jobs& jobs = *link_->jobs.back();
  jobs.cache.on_change([this, at = link_->jobs.size() - 1](const std::string&, const auto& old, const auto& now) {
    job_changed(at, old, now);
  });
  jobs.cache.informer().on_synced(link_->lifetime.guard([this, &jobs] {
    jobs_came(jobs);
    if (!connected_) look_whether_complete();
  }));
  jobs.cache.informer().on_list(
      link_->lifetime.guard([this, &jobs](const api::RestResponse& response) { listed_jobs(jobs, response); }));
  jobs.cache.informer().start();
  if (link_->jobs.size() > 1) ask_about(jobs);
}

void WorkerCluster::ask_about(Jobs& jobs) {
  ask_for_rights(
      *link_->client, rights_for(*jobs.kind.rules), link_->lifetime.guard([this, &jobs](const MissingRights& missing) {
        if (!missing.text.empty())
          shell_.executor.after(kAskForRightsAgain, link_->lifetime.guard([this, &jobs] { ask_about(jobs); }));
        if (std::exchange(jobs.kind.missing, missing) != missing) report_kinds();
      }));
}

void WorkerCluster::report_kinds() {
  // Not here: a handler may end the link, and who calls goes away with it.
  shell_.executor.post(link_->lifetime.guard([this] {
    if (!connected_) return;
    say(true, active());
    handlers_.kind_known();
  }));
}

// Without the first kind the cluster is of no use; without another one it is for jobs of others.
void WorkerCluster::listed_jobs(Jobs& jobs, const api::RestResponse& response) {
  if (&jobs == link_->jobs.front().get()) return listed(response);
  if (!response.ok()) return jobs_failed(jobs, response);
  if (jobs.cache.informer().synced()) jobs_came(jobs);  // otherwise on_synced follows
}

void WorkerCluster::jobs_came(Jobs& jobs) {
  Kind& kind = jobs.kind;
  kind.was_there = true;
  kind.unknown_since.reset();
  kind.why.clear();
  if (std::exchange(jobs.state, Jobs::State::kThere) != Jobs::State::kThere) report_kinds();
}

void WorkerCluster::jobs_failed(Jobs& jobs, const api::RestResponse& response) {
  Kind& kind = jobs.kind;
  const Time now = shell_.executor.now();
  if (!kind.unknown_since) kind.unknown_since = now;
  const bool is_first = kind.why.empty();
  if (is_first) kind.why = cut_text(api::failure_text(response), kMostOfWorkersText);
  const Duration wait = std::max(shell_.options.multikueue.dispatch.lost_timeout, kUninstalledAfter);
  if (response.code == 404 && jobs.cache.all().empty() && now - *kind.unknown_since >= wait) kind.was_there = false;
  auto state = Jobs::State::kUnknown;
  const bool refused = response.code == 404 || response.code == 403;
  if (!kind.was_there && (refused || jobs.state == Jobs::State::kNotThere)) state = Jobs::State::kNotThere;
  if (std::exchange(jobs.state, state) == state && !is_first) return;
  log::info("a worker cluster does not show the jobs of a kind",
            {{"cluster", name_}, {"kind", kind.rules->kind}, {"why", kind.why}});
  report_kinds();
}

// For the condition of a cluster that is connected.
std::string WorkerCluster::about_kinds() const {
  std::string out;
  for (const auto& jobs : link_->jobs) {
    const Kind& kind = jobs->kind;
    if (kind.was_there && kind.unknown_since && !kind.why.empty())
      out += ", but jobs of the kind " + kind.rules->kind + " are not shown since " + format_time(*kind.unknown_since) +
             ": " + kind.why;
    if (kind.missing.text.empty()) continue;
    out += kind.missing.needed ? ", but not for jobs of the kind " + kind.rules->kind
                               : ", but changes of jobs of the kind " + kind.rules->kind + " are not written there";
    out += ": the account of the kubeconfig may not do there: " + kind.missing.text;
  }
  return out;
}

const WorkerCluster::Kind* WorkerCluster::find_kind(const multikueue::RemoteKind& kind) const {
  const auto it = std::ranges::find(needed_, &kind, &Kind::rules);
  return it == needed_.end() ? nullptr : &*it;
}

const WorkerCluster::Jobs* WorkerCluster::jobs_of_kind(const multikueue::RemoteKind& kind) const {
  if (!link_) return nullptr;
  const auto it = std::ranges::find(link_->jobs, &kind, [](const auto& jobs) { return jobs->kind.rules; });
  return it == link_->jobs.end() ? nullptr : it->get();
}

bool WorkerCluster::knows(const multikueue::RemoteKind& kind) const {
  const Jobs* jobs = jobs_of_kind(kind);
  return connected_ && jobs != nullptr && jobs->state != Jobs::State::kUnknown;
}

bool WorkerCluster::has(const multikueue::RemoteKind& kind) const {
  const Jobs* jobs = jobs_of_kind(kind);
  return jobs != nullptr && jobs->state == Jobs::State::kThere;
}

bool WorkerCluster::takes(const multikueue::RemoteKind& kind) const {
  const Kind* known = find_kind(kind);
  return !missing_.needed && (known == nullptr || !known->missing.needed);
}

bool WorkerCluster::lets_change(const multikueue::RemoteKind& kind) const {
  const Kind* known = find_kind(kind);
  return known == nullptr || !known->missing.wished;
}

Time WorkerCluster::unknown_since(const multikueue::RemoteKind& kind) const {
  if (const Kind* known = find_kind(kind); known != nullptr && known->unknown_since) return *known->unknown_since;
  const Jobs* jobs = connected_ ? jobs_of_kind(kind) : nullptr;
  return jobs == nullptr ? lost_since_ : jobs->asked;
}

void WorkerCluster::job_changed(std::size_t kind, const JobPtr& old, const JobPtr& now) {
  count(old, now);
  if (old && (!now || workload_key_of(*old) != workload_key_of(*now))) {
    if (const auto it = link_->jobs_of.find(workload_key_of(*old)); it != link_->jobs_of.end()) {
      it->second.erase({kind, api::object_key(old->meta)});
      if (it->second.empty()) link_->jobs_of.erase(it);
    }
    if (connected_) handlers_.changed(workload_key_of(*old));
  }
  if (!now) return;
  link_->jobs_of[workload_key_of(*now)].insert({kind, api::object_key(now->meta)});
  if (connected_) handlers_.changed(workload_key_of(*now));
}

}  // namespace berth::controller
