#include "multikueue/dispatch.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "api/kueue/check_state.h"

namespace berth::multikueue {
namespace {

using api::kueue::CheckState;
using Kind = Step::Kind;
using Clusters = std::vector<Cluster>;

bool ours(const Cluster& c) {
  return c.connected && c.copy != CopyState::kForeign && (c.copy != CopyState::kNone || c.job);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Pass {
 public:
  Pass(const Settings& settings, const Local& local, const Clusters& clusters, Time now)
      : settings_(settings), local_(local), clusters_(clusters), now_(now) {}

  std::vector<Step> run() {
    if (local_.deleted || local_.finished)
      remove_all();
    else if (const Cluster* ended = find_ended())
      end_with(*ended);
    else if (!local_.quota_reserved)
      remove_all();
    else if (local_.evicted)
      stop_all();
    else if (local_.check == CheckState::kPending)
      dispatch();
    else if (local_.check == CheckState::kReady)
      follow();
    return std::move(steps_);  // Retry and Rejected: the eviction that follows changes the row
  }

 private:
  void add(Kind kind, const Cluster& c, std::string message = {}) {
    steps_.push_back({.kind = kind, .cluster = c.name, .message = std::move(message)});
  }
  void set_check(CheckState state, std::string message) {
    message += ", Previously: \"" + std::string(api::kueue::name_of(local_.check)) + "\"";
    steps_.push_back({.kind = Kind::kSetCheck, .message = std::move(message), .check = state});
  }
  void requeue(Time at) { steps_.push_back({.kind = Kind::kRequeue, .at = at}); }

  void remove_all(const Cluster* but = nullptr) {
    for (const Cluster& c : clusters_)
      if (&c != but && ours(c)) add(Kind::kDeleteCopy, c);
  }

  const Cluster* chosen() const {
    const auto found = std::ranges::find(clusters_, local_.cluster_name, &Cluster::name);
    return local_.cluster_name.empty() || found == clusters_.end() ? nullptr : &*found;
  }

  // The chosen cluster served the kind when it was chosen: refusals may be a mistake that somebody undoes.
  bool is_lost(const Cluster& c) const { return !c.connected || (c.no_kind && c.name == local_.cluster_name); }

  // An end wins over everything, on whichever cluster it came; that of the chosen one first, then in order. While the
  // chosen one runs the job, one that was only asked cannot end it: an end elsewhere is that of a job that ran there.
  const Cluster* find_ended() const {
    const auto ended = [](const Cluster& c) { return c.connected && c.copy == CopyState::kFinished; };
    const Cluster* at = chosen();
    if (at && ended(*at)) return at;
    const bool runs = at && !is_lost(*at) && at->copy == CopyState::kAdmitted;
    const auto found = std::ranges::find_if(
        clusters_, [&](const Cluster& c) { return ended(c) && (!runs || (c.job && c.admitted_since != Time{})); });
    return found == clusters_.end() ? nullptr : &*found;
  }
  void end_with(const Cluster& c) {
    if (c.job) add(Kind::kSyncStatus, c);
    if (c.job && !c.job_ended) return;  // its last status comes
    add(Kind::kFinish, c);
  }

  // The manager evicts: what is admitted stops first, and its last status tells that no pod is left.
  void stop_all() {
    const Cluster* waits_for = nullptr;
    std::optional<Time> until;
    for (const Cluster& c : clusters_) {
      const bool is_chosen = c.name == local_.cluster_name;
      if (is_lost(c)) {
        if (is_chosen && now_ < c.lost_since + settings_.lost_timeout) {
          waits_for = &c;
          until = c.lost_since + settings_.lost_timeout;
        }
      } else if (c.copy == CopyState::kDiffers) {
        add(Kind::kDeleteCopy, c);
        if (c.job) waits_for = &c;
      } else if (ours(c)) {
        if (c.copy == CopyState::kAdmitted) add(Kind::kDeactivate, c, "Evicted on manager");
        if (c.job) add(Kind::kSyncStatus, c);
        if (c.job && (c.job_active || c.copy == CopyState::kAdmitted)) waits_for = &c;
      }
    }
    if (!waits_for && local_.job_active) steps_.push_back({.kind = Kind::kRelease});
    if (until) requeue(*until);
  }

  // How many rounds have begun, at least one.
  std::int64_t rounds() const {
    return std::max<std::int64_t>(0, (now_ - local_.dispatch_since) / settings_.round) + 1;
  }

  // Clusters that are nominated once stay so while they are configured.
  std::vector<std::string> wanted() const {
    if (settings_.dispatcher == Dispatcher::kExternal) return local_.nominated;
    std::vector<std::string> names;
    std::size_t due = clusters_.size();
    if (settings_.dispatcher == Dispatcher::kIncremental) {
      const std::int64_t begun = rounds();  // many rounds name every cluster, without a product that may overflow
      if (begun < static_cast<std::int64_t>(due))
        due = std::min(due, static_cast<std::size_t>(begun * settings_.step_size));
    }
    std::size_t position = 0;
    for (const Cluster& c : clusters_) {
      if (!c.configured) continue;
      const bool is_due = position++ < due;
      const bool takes_jobs = c.connected && !c.no_kind && !c.closed;
      const bool now_too = is_due && (takes_jobs || settings_.dispatcher == Dispatcher::kIncremental);
      if (now_too || contains(local_.nominated, c.name)) names.push_back(c.name);
    }
    return names;
  }

  // A cluster that has the job already is preferred: so no work is lost. Then who was admitted first; then the name.
  const Cluster* winner() const {
    const Cluster* best = nullptr;
    const auto order = [](const Cluster& c) { return std::tuple(!c.job, c.admitted_since, std::string_view(c.name)); };
    for (const Cluster& c : clusters_) {
      const bool may_win =
          c.connected && !c.foreign_job && !c.no_kind && (c.job || !c.closed) && c.copy == CopyState::kAdmitted;
      if (!may_win || !contains(local_.nominated, c.name)) continue;
      if (!best || order(c) < order(*best)) best = &c;
    }
    return best;
  }

  void dispatch() {
    if (!local_.refusal.empty()) return set_check(CheckState::kRejected, local_.refusal);
    // A choice without Ready is one that another client undid in part: it ends as any choice that is lost.
    if (!local_.cluster_name.empty())
      return set_check(CheckState::kRetry,
                       "The cluster \"" + local_.cluster_name + "\" is recorded, but the check is not Ready");
    if (!local_.other_checks_ready) return;
    std::vector<std::string> names = wanted();
    if (names != local_.nominated) {
      steps_.push_back({.kind = Kind::kNominate, .names = std::move(names)});
      return;
    }
    if (const Cluster* c = winner()) return add(Kind::kChoose, *c, "The workload was admitted on \"" + c->name + "\"");
    for (const Cluster& c : clusters_) serve(c);
    next_round(names.size());
  }

  void serve(const Cluster& c) {
    if (!c.connected) return;
    const bool dead = c.copy == CopyState::kDiffers || c.copy == CopyState::kDeactivated ||
                      c.copy == CopyState::kGivenUp || (c.copy == CopyState::kNone && c.job) || c.foreign_job ||
                      c.no_kind || (c.closed && !c.job);
    if (ours(c) && (dead || !contains(local_.nominated, c.name))) return add(Kind::kDeleteCopy, c);
    if (c.copy == CopyState::kNone && !c.foreign_job && !c.no_kind && !c.closed && contains(local_.nominated, c.name))
      add(Kind::kCreateCopy, c);
  }

  void next_round(std::size_t nominated) {
    if (settings_.dispatcher != Dispatcher::kIncremental) return;
    const auto all = static_cast<std::size_t>(std::ranges::count(clusters_, true, &Cluster::configured));
    if (nominated >= all) return;
    requeue(local_.dispatch_since + settings_.round * rounds());
  }

  // The check is Ready: the chosen cluster keeps the job while its copy is admitted, whatever else comes back.
  void follow() {
    if (local_.cluster_name.empty())
      return set_check(CheckState::kRetry, "Admission check is Ready but no admitting cluster is recorded");
    const Cluster* c = chosen();
    remove_all(c);
    if (!c || (!c->connected && !c->configured))
      return set_check(CheckState::kRetry, "The cluster \"" + local_.cluster_name + "\" is no longer configured");
    if (c->configured && is_lost(*c)) return follow_lost(*c);
    if (!c->configured) {
      add(Kind::kDeleteCopy, *c);
      return set_check(CheckState::kRetry, "The cluster \"" + c->name + "\" is no longer configured");
    }
    follow(*c);
  }

  void follow_lost(const Cluster& c) {
    const Time until = c.lost_since + settings_.lost_timeout;
    if (now_ < until) return requeue(until);
    set_check(CheckState::kRetry, c.connected ? "Worker cluster \"" + c.name + "\" does not serve the kind of the job"
                                              : "Admitting remote lost");
  }
  void not_owned(const std::string& name) {
    set_check(CheckState::kRetry, "The object on worker cluster " + name + " is not owned by MultiKueue");
  }
  void follow(const Cluster& c) {
    const std::string name = "\"" + c.name + "\"";
    if (c.foreign_job) return not_owned(name);
    switch (c.copy) {
      case CopyState::kAdmitted:
        // The job is made only when no other cluster that can be seen has one.
        if (c.job && c.job_outdated) add(Kind::kUpdateJob, c);
        if (c.job) return add(Kind::kSyncStatus, c);
        if (c.closed)
          return set_check(CheckState::kRetry, "Worker cluster " + name + " does not let the manager create the job");
        if (std::ranges::none_of(clusters_, [&](const Cluster& o) { return &o != &c && o.connected && o.job; }))
          add(Kind::kCreateJob, c);
        return;
      case CopyState::kNone:
        return set_check(CheckState::kRetry, "Admitting remote no longer exists");
      case CopyState::kForeign:
        return not_owned(name);
      case CopyState::kDiffers:
      case CopyState::kGivenUp:
        return set_check(CheckState::kRetry, "Remote workload on worker cluster " + name +
                                                 " is out of sync with its user job, resetting for re-dispatch");
      case CopyState::kPending:
      case CopyState::kReserved:
      case CopyState::kEvicted:
      case CopyState::kDeactivated:
        return set_check(CheckState::kRetry,
                         "Workload evicted on worker cluster: " + name + ", resetting for re-admission");
      case CopyState::kFinished:
        return;  // an end is seen before
    }
  }

  const Settings& settings_;
  const Local& local_;
  const Clusters& clusters_;
  Time now_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> next_steps(const Settings& settings, const Local& local, const std::vector<Cluster>& clusters,
                             Time now) {
  return Pass(settings, local, clusters, now).run();
}

}  // namespace berth::multikueue
