#include "jobs/slices.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "jobs/compose.h"
#include "jobs/follow_workload.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

std::string_view annotation_of(const Workload& w, std::string_view key) {
  const auto found = w.meta.annotations.find(key);
  return found == w.meta.annotations.end() ? std::string_view() : std::string_view(found->second);
}

bool reserved(const Workload& w) { return has_condition(w, kQuotaReserved); }
bool evicted(const Workload& w) { return has_condition(w, kEvicted); }

bool replaces(const Workload& w, const Workload& other) {
  return annotation_of(w, kSliceReplacementFor) == key_of(other);
}

// It was evicted, has no quota any more, and another one goes on in its place. A client may have stopped the job by it.
bool is_over(const Workload& w) { return evicted(w) && !reserved(w) && w.active; }

// The slice that must stop first: it is being evicted, and the job still runs with it.
WorkloadPtr stopping_slice(const std::vector<WorkloadPtr>& live) {
  for (const auto& w : live) {
    if (!evicted(*w) || !reserved(*w)) continue;
    const bool replaced = std::ranges::any_of(
        live, [&](const auto& by) { return replaces(*by, *w) && has_condition(*by, kAdmitted) && !evicted(*by); });
    if (!replaced) return w;
  }
  return nullptr;
}

// The newest one with quota that no other one with quota replaces.
WorkloadPtr holder_of(const std::vector<WorkloadPtr>& live) {
  WorkloadPtr holder;
  for (const auto& w : live) {
    if (!reserved(*w) || evicted(*w)) continue;
    const bool replaced = std::ranges::any_of(
        live, [&](const auto& by) { return by != w && reserved(*by) && !evicted(*by) && replaces(*by, *w); });
    if (!replaced) holder = w;
  }
  return holder;
}

WorkloadPtr growth_of(const std::vector<WorkloadPtr>& live, const Workload& holder) {
  WorkloadPtr growth;
  for (const auto& w : live) {
    if (!reserved(*w) && !is_over(*w) && replaces(*w, holder)) growth = w;
  }
  return growth;
}

WorkloadPtr newest(const std::vector<WorkloadPtr>& live) {
  WorkloadPtr found;
  for (const auto& w : live) {
    if (!is_over(*w)) found = w;
  }
  return found || live.empty() ? found : live.back();
}

ReportJob finish_surplus(const WorkloadPtr& w, const std::vector<WorkloadPtr>& live) {
  const bool replaced = std::ranges::any_of(live, [&](const auto& by) { return !evicted(*by) && replaces(*by, *w); });
  return replaced ? finish(w, std::string(kSliceReplaced), "Replaced to accommodate a new workload slice")
                  : finish(w, "OutOfSync", "The workload slice is out of sync with its parent job");
}

enum class Size { kSame, kSmaller, kLarger };  // kLarger: of some pod set

// The size of the job, compared with that of the workload. They have the same pod sets.
Size compare(const std::vector<PodSet>& wanted, const Workload& w) {
  Size size = Size::kSame;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].count > w.pod_sets[i].count) return Size::kLarger;
    if (wanted[i].count < w.pod_sets[i].count) size = Size::kSmaller;
  }
  return size;
}

// The pod sets of the workload, with the counts of `wanted`, which has the same pod sets.
std::vector<PodSet> resized(const Workload& w, const std::vector<PodSet>& wanted) {
  std::vector<PodSet> out = w.pod_sets;
  for (std::size_t i = 0; i < out.size(); ++i) out[i].count = wanted[i].count;
  return out;
}

// What the workload and the job differ in besides counts; "": nothing.
std::string other_difference(const JobAdapter& adapter, const Json& job, const Workload& w,
                             const std::vector<PodSet>& wanted) {
  std::vector<PodSet> same_size = wanted;
  for (std::size_t i = 0; i < same_size.size() && i < w.pod_sets.size(); ++i) same_size[i].count = w.pod_sets[i].count;
  return mismatch(w, same_size, job, !adapter.suspended(job), false);
}

// The templates of a new slice show the admission of the one with which the job started; apart from that they are the
// user's.
void show_admission(const Workload& former, const JobFacts& facts, std::vector<PodSet>& pod_sets) {
  const auto infos = pod_set_infos(former, facts.flavors);
  for (auto& pod_set : pod_sets) {
    if (!infos || carries_admission(*pod_set.template_)) continue;
    const auto info = std::ranges::find(*infos, pod_set.name, &PodSetInfo::name);
    if (info == infos->end()) continue;
    Json shown = *pod_set.template_;
    for (const auto key : {kPodSetLabel, kClusterQueueLabel, kLocalQueueLabel}) {
      if (const auto value = info->labels.find(key); value != info->labels.end())
        ensure_path(shown, {"metadata", "labels", key}) = value->second;
    }
    for (const auto key : {kWorkloadAnnotation, kSliceName}) {
      if (const auto value = info->annotations.find(key); value != info->annotations.end())
        ensure_path(shown, {"metadata", "annotations", key}) = value->second;
    }
    pod_set.template_ = std::make_shared<const Json>(std::move(shown));
  }
}

// A name for a slice of the job as it is now that no workload has yet. Slices that are finished keep theirs.
std::string free_name(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  constexpr int kNames = 64;  // more slices than one version of a job can have
  const auto text = [&](std::string_view key) { return string_at(job, {"metadata", key}); };
  const std::string version = adapter.size_version(job);
  std::string name;
  for (int i = 0; i < kNames; ++i) {
    const std::string which = i == 0 ? version : version + "_" + std::to_string(i);
    name = workload_name(adapter.kind().resource.group, adapter.kind().kind, text("name"), text("uid"),
                         facts.gates.short_names, which);
    const WorkloadPtr there = facts.workload(text("namespace"), name);
    if (there == nullptr || !finished(*there)) return name;
  }
  return name;
}

// `former` is null for the first slice of a chain.
void create_slice(const JobAdapter& adapter, const Json& job, const WorkloadPtr& former, const JobFacts& facts,
                  std::vector<Step>& steps) {
  if (const auto checked = adapter.check_pod_sets(job); !checked)
    return steps.push_back(cannot_compose(checked.error().message));
  if (const auto why = unknown_pod_class(adapter, job, facts)) return steps.push_back(cannot_compose(*why));
  const std::string name = free_name(adapter, job, facts);
  const std::string key = api::object_key(string_at(job, {"metadata", "namespace"}), name);
  if (facts.workload(string_at(job, {"metadata", "namespace"}), name)) return steps.push_back(name_is_taken(key));
  auto fresh = compose_for_job(adapter, job, name, facts);
  if (!fresh) return steps.push_back(JobEvent{true, std::string(kClassNotFound), fresh.error().message});
  fresh->meta.annotations.insert_or_assign(std::string(kElasticJob), "true");
  const std::string_view chain = former ? annotation_of(*former, kSliceName) : std::string_view();
  fresh->meta.annotations.insert_or_assign(std::string(kSliceName), chain.empty() ? name : std::string(chain));
  if (former) {
    fresh->meta.annotations.insert_or_assign(std::string(kSliceReplacementFor), key_of(*former));
    fresh->pod_sets = resized(*former, fresh->pod_sets);
    show_admission(*former, facts, fresh->pod_sets);
  }
  steps.push_back(CreateWorkload{encode_workload(*fresh), created(key)});
}

void without_slice(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                   const JobFacts& facts, std::vector<Step>& steps) {
  const auto last =
      std::ranges::find_if(workloads.rbegin(), workloads.rend(), [](const auto& each) { return !each->meta.deletion; });
  if (last != workloads.rend()) {
    const std::string& why = api::find_condition((*last)->status.conditions, kFinished)->reason;
    if (adapter.finished(job) || (why != kSliceReplaced && why != "OutOfSync"))
      return with_finished_workload(adapter, job, *last, steps);
  }
  if (adapter.finished(job)) return;
  if (!adapter.suspended(job) || adapter.stopping(job)) {
    stop(adapter, job, nullptr, "Missing Workload; unable to run the job", steps);
  } else {
    create_slice(adapter, job, nullptr, facts, steps);
  }
}

// Changes the size of a slice, or makes a new one.
void resize(const JobAdapter& adapter, const Json& job, const WorkloadPtr& latest, const std::vector<PodSet>& wanted,
            const JobFacts& facts, std::vector<Step>& steps) {
  const Size size = compare(wanted, *latest);
  if (size == Size::kSame) return;
  if (size == Size::kSmaller || !reserved(*latest)) {
    steps.push_back(UpdateWorkload{latest, redescribe(resized(*latest, wanted), job)});
  } else if (!evicted(*latest) && latest->active) {
    create_slice(adapter, job, latest, facts, steps);
  }
}

bool patches_job(const std::vector<Step>& steps) {
  return std::ranges::any_of(steps, [](const Step& step) { return std::holds_alternative<PatchJob>(step); });
}

}  // namespace

bool is_elastic(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  return facts.gates.elastic_jobs && adapter.may_be_elastic() &&
         string_at(job, {"metadata", "annotations", kElasticJob}) == "true";
}

bool is_slice(const Workload& workload) { return workload.meta.annotations.contains(kSliceName); }

bool is_spare(const Workload& workload, const std::vector<WorkloadPtr>& all) {
  if (finished(workload)) return true;
  return !reserved(workload) && std::ranges::any_of(all, [&](const auto& other) {
    return !other->meta.deletion && !finished(*other) && reserved(*other) && replaces(workload, *other);
  });
}

std::vector<WorkloadPtr> unfinished(const std::vector<WorkloadPtr>& workloads) {
  std::vector<WorkloadPtr> out;
  for (const auto& each : workloads) {
    if (!finished(*each) && !each->meta.deletion) out.push_back(each);
  }
  return out;
}

Chain chain_of(const std::vector<WorkloadPtr>& workloads) {
  const std::vector<WorkloadPtr> live = unfinished(workloads);
  Chain chain;
  if (const WorkloadPtr stopping = stopping_slice(live)) {
    chain.current = stopping;
    chain.growth = growth_of(live, *stopping);
    return chain;  // the others are sorted out when it has stopped
  }
  // A client deactivated the slice that the job ran with: the job stays stopped.
  const auto inactive = std::ranges::find_if(live, [](const auto& w) {
    return !w->active && api::find_condition(w->status.conditions, kAdmitted) != nullptr;
  });
  chain.current = inactive != live.end() ? *inactive : holder_of(live);
  if (!chain.current) {
    chain.current = newest(live);
  } else if (inactive == live.end()) {
    chain.growth = growth_of(live, *chain.current);
  }
  for (const auto& each : live) {
    if (each != chain.current && each != chain.growth) chain.surplus.push_back(each);
  }
  return chain;
}

bool with_slices(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                 const JobFacts& facts, std::vector<Step>& steps) {
  const Chain chain = chain_of(workloads);
  if (chain.current == nullptr) {
    without_slice(adapter, job, workloads, facts, steps);
    return true;
  }
  const std::vector<PodSet> wanted = adapter.pod_sets(job);
  const bool comparable = !adapter.stopping(job) && !adapter.finished(job);
  if (comparable && !other_difference(adapter, job, *chain.current, wanted).empty()) {
    const auto readable = adapter.check_pod_sets(job);
    if (readable || adapter.suspended(job)) return false;
    // Nobody can tell what the job asks for: it goes on with what it has.
    steps.push_back(cannot_compose(readable.error().message));
    with_workload(adapter, job, chain.current, facts, steps);
    return true;
  }
  for (const auto& each : chain.surplus) steps.push_back(finish_surplus(each, unfinished(workloads)));
  with_workload(adapter, job, chain.current, facts, steps);
  if (chain.growth && adapter.finished(job)) {
    with_workload(adapter, job, chain.growth, facts, steps);
  } else if (chain.growth) {
    JobReport now;
    now.pods_ready = false;
    now.reclaimable = reclaimable(adapter, job, *chain.growth);
    steps.push_back(report(chain.growth, std::move(now)));
  }
  if (!comparable || patches_job(steps)) return true;
  if (chain.growth && catch_up(job, chain.growth, facts, steps)) return true;
  resize(adapter, job, chain.growth ? chain.growth : chain.current, wanted, facts, steps);
  return true;
}

}  // namespace berth::jobs
