#include "embedded/simulate/observer.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/owners.h"
#include "api/resources.h"
#include "kube/informer.h"

namespace berth::simulate {
namespace {

using api::kueue::Workload;
using WorkloadPtr = Observer::WorkloadPtr;

// For how many of its pods a pod set still holds quota. An admission does not count pods that were reclaimable before.
std::int64_t pods_held(const Workload& w, const api::kueue::PodSetAssignment& given) {
  std::int64_t needed = given.count;
  for (const auto& pod_set : w.pod_sets) {
    if (pod_set.name == given.name) needed = pod_set.count;
  }
  for (const auto& done : w.status.reclaimable_pods) {
    if (done.name == given.name) needed -= done.count;
  }
  return std::clamp<std::int64_t>(needed, 0, given.count);
}

// The quota that a workload uses: none before its reservation and after it finished.
Usage usage_of(const Workload& w) {
  Usage usage;
  if (!w.status.admission || !api::is_true(w.status.conditions, api::kueue::kQuotaReserved) ||
      api::is_true(w.status.conditions, api::kueue::kFinished)) {
    return usage;
  }
  for (const auto& pod_set : w.status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : pod_set.flavors) {
      const auto amount = pod_set.resource_usage.find(resource);
      if (amount == pod_set.resource_usage.end() || pod_set.count < 1) continue;
      const Amount of_all = to_amount(resource, amount->second);
      usage[{flavor, resource}] += Amount::of(of_all.count() / pod_set.count * pods_held(w, pod_set));
    }
  }
  return usage;
}

Phase phase_of(const Workload& w) {
  const auto& conditions = w.status.conditions;
  if (api::is_true(conditions, api::kueue::kFinished)) return Phase::kGone;
  if (!api::is_true(conditions, api::kueue::kQuotaReserved)) return w.active ? Phase::kWaiting : Phase::kInactive;
  if (api::is_true(conditions, api::kueue::kEvicted)) return Phase::kStopping;
  return api::is_true(conditions, api::kueue::kAdmitted) ? Phase::kAdmitted : Phase::kReserved;
}

std::string job_name(const Workload& w) {
  const auto* owner = api::controller_of(w.meta);
  return owner == nullptr ? w.meta.name : owner->name;
}

bool became(const Workload* old, const Workload& now, std::string_view condition) {
  return api::is_true(now.status.conditions, condition) &&
         (old == nullptr || !api::is_true(old->status.conditions, condition));
}

Usage nominal_of(const Json& object) {
  Usage nominal;
  for (const auto& group : array_at(object, {"spec", "resourceGroups"})) {
    for (const auto& flavor : array_at(group, {"flavors"})) {
      for (const auto& resource : array_at(flavor, {"resources"})) {
        const std::string name(string_at(resource, {"name"}));
        const Json* quota = find(resource, "nominalQuota");
        if (quota == nullptr) continue;
        const auto quantity =
            Quantity::parse(quota->is_string() ? std::string(view(quota->as_string())) : to_string(*quota));
        if (quantity) nominal[{std::string(string_at(flavor, {"name"})), name}] += to_amount(name, *quantity);
      }
    }
  }
  return nominal;
}

}  // namespace

struct Observer::Impl {
  Impl(api::RestClient& client, Executor& e)
      : executor(e),
        workloads(client, e, api::kWorkloads),
        cluster_queues(client, e, api::kClusterQueues),
        cohorts(client, e, api::kCohorts) {
    workloads.on_change([this](const JsonPtr& old, const JsonPtr& now) { changed(old, now); });
    for (auto* quotas : {&cluster_queues, &cohorts}) {
      quotas->on_change([this](const JsonPtr& old, const JsonPtr& now) { quota_changed(old, now); });
    }
  }

  void report(const std::string& who, std::string what) {
    if (handler) handler({executor.now(), who, std::move(what)});
  }

  void quota_changed(const JsonPtr& old, const JsonPtr& now) {
    const Json& object = now ? *now : *old;
    const std::string key =
        std::string(string_at(object, {"kind"})) + "/" + std::string(string_at(object, {"metadata", "name"}));
    if (concerns && !concerns->quotas.contains(key)) return;
    nominal.erase(key);
    if (now) nominal.emplace(key, nominal_of(*now));
    if (!recording) return;
    NominalChange change{executor.now(), {}};
    for (const auto& [name, quotas] : nominal) {
      for (const auto& [what, amount] : quotas) change.total[what] += amount;
    }
    history.add(std::move(change));
  }

  void record(const std::string& uid, Phase phase) {
    const auto place = place_of.find(uid);
    if (!recording || place == place_of.end()) return;
    const auto& [cluster_queue, usage] = held_by.at(uid);
    auto& last_change = last_changes[uid];
    if (last_change && last_change->first == phase && last_change->second == usage) return;
    last_change = {phase, usage};
    history.add({executor.now(), place->second, phase, usage.empty() ? std::string() : cluster_queue, usage});
  }

  // Adds the usage since the last change to the integrals, then sets the new usage of the workload.
  void account(const std::string& key, const std::string& cluster_queue, Usage usage) {
    const Time now = executor.now();
    for (auto& [what, amount] : total)
      integrals[what] += static_cast<double>(amount.count()) * in_seconds(now - accounted);
    accounted = now;
    auto& held = held_by[key];
    for (const auto& [what, amount] : held.second) {
      total[what] -= amount;
      by_queue[held.first][what] -= amount;
    }
    for (const auto& [what, amount] : usage) {
      total[what] += amount;
      by_queue[cluster_queue][what] += amount;
      peaks[what] = std::max(peaks[what], total[what]);
    }
    held = {cluster_queue, std::move(usage)};
  }

  std::string describe_admission(const Workload& w) const {
    const std::string& queue = w.status.admission->cluster_queue;
    std::string text = "is admitted to " + queue + ":";
    std::string_view separator = " ";
    const auto own = nominal.find("ClusterQueue/" + queue);
    for (const auto& [what, amount] : usage_of(w)) {
      text.append(separator)
          .append(format_amount(what.second, amount))
          .append(" ")
          .append(what.second)
          .append(" of ")
          .append(what.first);
      separator = ", ";
      Amount quota;
      if (own != nominal.end() && own->second.contains(what)) quota = own->second.at(what);
      const Amount borrowed = std::min(amount, by_queue.at(queue).at(what) - quota);
      if (borrowed > Amount())
        text.append(", ").append(format_amount(what.second, borrowed)).append(" of them borrowed");
    }
    return text;
  }

  // From its reservation on, a slice of an elastic job holds what the one held that it replaces.
  void take_over(const Workload& w) {
    const auto link = w.meta.annotations.find(api::kueue::kSliceReplacementFor);
    if (link == w.meta.annotations.end()) return;
    for (const auto& [uid, former] : last) {
      if (api::object_key(former->meta) != link->second || uid == w.meta.uid || !taken_over.insert(uid).second)
        continue;
      account(uid, {}, {});
      record(uid, phase_of(*former));
    }
  }

  void changed(const JsonPtr& old_json, const JsonPtr& now_json) {
    const Json& object = now_json ? *now_json : *old_json;
    if (concerns && !concerns->namespaces.contains(std::string(string_at(object, {"metadata", "namespace"})))) return;
    auto decoded = api::kueue::decode_workload(object);
    if (!decoded) return;
    const auto workload = std::make_shared<const Workload>(*std::move(decoded));
    const Workload& w = *workload;
    const std::string key = w.meta.uid;
    WorkloadPtr old;
    if (const auto it = last.find(key); it != last.end()) old = it->second;
    if (!now_json) {
      account(key, {}, {});
      if (const auto life = by_uid.find(key); life != by_uid.end() && !life->second.finished) {
        report(life->second.ns + "/" + life->second.name, "is deleted");
        life->second.finished = executor.now();
        end_wait(life->second);
        ++counts.finished;
      }
      record(key, Phase::kGone);
      last.erase(key);
      if (workload_handler) workload_handler(api::object_key(w.meta), nullptr);
      return;
    }
    last[key] = workload;
    const Usage usage = usage_of(w);
    if (!usage.empty()) take_over(w);
    account(key, w.status.admission ? w.status.admission->cluster_queue : std::string(),
            taken_over.contains(key) ? Usage() : usage);
    observe(old.get(), w);
    record(key, phase_of(w));
    if (workload_handler) workload_handler(api::object_key(w.meta), workload);
  }

  void report_places(const std::string& who, const Workload* old, const Workload& w) {
    if (!rack_of) return;
    const auto before = old == nullptr ? std::string() : describe_places(*old, rack_of);
    const auto now = describe_places(w, rack_of);
    if (before.empty() && !now.empty()) report(who, "is placed on " + now);
    if (old == nullptr || before.empty()) return;
    if (const auto move = describe_move(*old, w); !move.empty()) report(who, "moves " + move);
  }

  void end_wait(Life& life) const {
    if (life.waits_since) life.waited += executor.now() - *life.waits_since;
    life.waits_since.reset();
  }

  void observe(const Workload* old, const Workload& w) {
    Life& life = by_uid[w.meta.uid];
    const std::string who = w.meta.ns + "/" + job_name(w);
    if (old == nullptr) {
      life = Life();
      life.ns = w.meta.ns;
      life.name = job_name(w);
      life.queue = w.queue_name;
      life.priority = w.priority;
      life.submitted = executor.now();
      life.waits_since = executor.now();
      names[w.meta.uid] = who;
      place_of[w.meta.uid] = order.size();
      order.push_back(w.meta.uid);
      ++counts.seen;
      const bool grows = w.meta.annotations.contains(api::kueue::kSliceReplacementFor);
      report(who, (grows ? "asks for another size in " : "is submitted to ") + w.queue_name +
                      (w.priority != 0 ? " with priority " + std::to_string(w.priority) : std::string()));
    }
    if (became(old, w, api::kueue::kEvicted)) {
      const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
      life.evictions.push_back({executor.now(), evicted->reason, evicted->message});
      if (!life.waits_since) life.waits_since = executor.now();
      report(who, "is evicted (" + evicted->reason + "): " + with_names(evicted->message, names));
    }
    if (became(old, w, api::kueue::kAdmitted)) {
      if (!life.admitted) {
        life.admitted = executor.now();
        ++counts.admitted;
      }
      life.last_admitted = executor.now();
      end_wait(life);
      life.cluster_queue = w.status.admission->cluster_queue;
      life.waiting_for.clear();
      report(who, describe_admission(w));
    }
    report_places(who, old, w);
    const auto* reserved = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
    const auto* before = old ? api::find_condition(old->status.conditions, api::kueue::kQuotaReserved) : nullptr;
    if (reserved != nullptr && !reserved->status &&
        (before == nullptr || before->message != reserved->message || before->status)) {
      life.waiting_for = reserved->message;
      // For an evicted workload this message first repeats the reason of the eviction.
      const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
      if (evicted == nullptr || evicted->message != reserved->message) report(who, "waits: " + reserved->message);
    }
    if (became(old, w, api::kueue::kFinished)) {
      const auto* finished = api::find_condition(w.status.conditions, api::kueue::kFinished);
      if (!life.finished) ++counts.finished;
      end_wait(life);
      life.finished = executor.now();
      life.succeeded = finished->reason == "Succeeded";
      if (life.succeeded) ++counts.succeeded;
      life.replaced = finished->reason == api::kueue::kSliceReplaced;
      if (life.replaced) return report(who, "goes on with another size");
      report(who, (life.succeeded ? "has finished: " : "has failed: ") + finished->message);
    }
  }

  struct Concerns {
    std::set<std::string> namespaces, quotas;
  };

  Executor& executor;
  kube::Informer workloads, cluster_queues, cohorts;
  std::optional<Concerns> concerns;  // none: everything
  std::function<void(const Moment&)> handler;
  std::function<void(const std::string& key, const WorkloadPtr& now)> workload_handler;
  RackOf rack_of;
  std::map<std::string, WorkloadPtr> last;
  std::map<std::string, Life> by_uid;
  std::set<std::string> taken_over;  // uids of slices whose quota another one holds
  std::vector<std::string> order;
  Counts counts;
  std::map<std::string, std::string> names;  // uid -> "namespace/job"
  std::map<std::string, Usage> nominal;      // "ClusterQueue/name" or "Cohort/name" -> nominal quotas
  std::map<std::string, std::pair<std::string, Usage>> held_by;  // uid -> cluster queue, usage
  std::map<std::string, Usage> by_queue;
  Usage total, peaks;
  std::map<FlavorResource, double> integrals;
  Time accounted{};
  bool recording = false;
  History history;
  std::map<std::string, std::size_t> place_of;                                 // uid -> place in `order`
  std::map<std::string, std::optional<std::pair<Phase, Usage>>> last_changes;  // by uid: what was recorded last
};

std::string with_names(std::string message, const std::map<std::string, std::string>& names) {
  constexpr std::string_view kMarker = "a workload (UID: ";
  const auto at = message.find(kMarker);
  const auto end = at == std::string::npos ? at : message.find(')', at);
  if (end == std::string::npos) return message;
  const auto first = at + kMarker.size();
  const auto uid = message.substr(first, message.find_first_of(",)", first) - first);
  if (const auto name = names.find(uid); name != names.end()) message.replace(at, end + 1 - at, name->second);
  return message;
}

Observer::Observer(api::RestClient& client, Executor& executor) : impl_(std::make_unique<Impl>(client, executor)) {}
Observer::~Observer() = default;

void Observer::on_moment(std::function<void(const Moment&)> handler) { impl_->handler = std::move(handler); }

void Observer::on_workload(std::function<void(const std::string& key, const WorkloadPtr& now)> handler) {
  impl_->workload_handler = std::move(handler);
}

void Observer::report_places(RackOf rack_of) { impl_->rack_of = std::move(rack_of); }

void Observer::ignore_others(std::set<std::string> namespaces, std::set<std::string> quotas) {
  impl_->concerns = {std::move(namespaces), std::move(quotas)};
}

void Observer::keep_history() { impl_->recording = true; }

const History& Observer::history() const { return impl_->history; }

void Observer::start() {
  impl_->accounted = impl_->executor.now();
  impl_->cluster_queues.start();
  impl_->cohorts.start();
  impl_->workloads.start();
}

std::vector<Life> Observer::lives() const {
  std::vector<Life> all;
  for (const auto& uid : impl_->order) all.push_back(impl_->by_uid.at(uid));
  return all;
}

std::vector<Utilisation> Observer::utilisation() const {
  std::map<FlavorResource, Utilisation> all;
  const auto entry = [&all](const FlavorResource& what) -> Utilisation& {
    Utilisation& u = all[what];
    u.flavor = what.first;
    u.resource = what.second;
    return u;
  };
  for (const auto& [key, quotas] : impl_->nominal) {
    for (const auto& [what, amount] : quotas) entry(what).nominal += amount;
  }
  const auto since = impl_->executor.now() - impl_->accounted;
  for (const auto& [what, amount] : impl_->total) {
    const auto integral = impl_->integrals.find(what);
    entry(what).used_seconds = (integral == impl_->integrals.end() ? 0 : integral->second) +
                               static_cast<double>(amount.count()) * in_seconds(since);
    entry(what).peak = impl_->peaks.at(what);
  }
  std::vector<Utilisation> list;
  for (auto& [what, u] : all) list.push_back(std::move(u));
  return list;
}

bool Observer::all_finished() const { return impl_->counts.seen > 0 && impl_->counts.finished == impl_->counts.seen; }

Observer::Counts Observer::counts() const { return impl_->counts; }

}  // namespace berth::simulate
