#include <memory>
#include <string>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/types.h"
#include "growth/acts.h"
#include "jobs/compose.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/read/shipped.h"
#include "jobs/placed_pods.h"
#include "jobs/pods/pods_support.h"
#include "jobs/reconcile.h"

namespace berth::growth {
namespace {

using api::kueue::Workload;
namespace pods_support = jobs::pods_support;

// Every class, flavor and workload exists.
jobs::JobFacts facts_for(const std::shared_ptr<const Workload>& workload) {
  jobs::JobFacts facts;
  facts.flavors = [](std::string_view) {
    static const api::kueue::ResourceFlavor flavor;
    return &flavor;
  };
  facts.workload_priority_class = facts.priority_class = [](std::string_view) { return std::optional(1); };
  facts.global_default_priority_class = [] { return std::nullopt; };
  facts.workload = [workload](std::string_view, std::string_view) { return workload; };
  return facts;
}

// The adapter of the kind; null when objects of it are no jobs.
std::unique_ptr<jobs::kinds::DescribedJob> described(const Subject& s) {
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) {
    if (kind->resource.group != s.resource.gvr.group || kind->resource.resource != s.resource.gvr.resource) continue;
    auto object = std::make_shared<const Json>(s.object);
    return std::make_unique<jobs::kinds::DescribedJob>(kind, [object](const auto&, auto, auto) { return object; });
  }
  return nullptr;
}

// The workload of the job, compared with the job's other state; the steps for it.
void reconcile_both(const jobs::JobAdapter& adapter, const Subject& s) {
  const auto made = jobs::make_workload(adapter, s.object, facts_for(nullptr));
  const auto decoded = made ? api::kueue::decode_workload(*made) : Result<Workload>(fail("no workload"));
  const auto workload = decoded ? std::make_shared<const Workload>(*decoded) : nullptr;
  for (const Json* job : {&s.object, &s.other}) {
    (void)jobs::reconcile(adapter, std::make_shared<const Json>(*job),
                          workload ? std::vector{workload} : std::vector<jobs::WorkloadPtr>(), facts_for(workload));
    const std::vector<api::kueue::PodSet> pod_sets = adapter.pod_sets(*job);
    (void)adapter.reclaimable(*job);
    (void)adapter.check_pod_sets(*job);
    (void)adapter.finished(*job);
    (void)adapter.next_stop(*job, pod_sets);
    std::vector<jobs::PodSetInfo> infos;
    for (const auto& pod_set : pod_sets) {
      jobs::PodSetInfo info;
      info.name = pod_set.name;
      info.count = pod_set.count;
      info.scheduling_gates = {"example.com/g0", "example.com/g1"};  // admission adds few gates and tolerations
      info.tolerations = {{"t0", "Exists", "", "", {}}, {"t1", "Exists", "", "", {}}};
      for (std::size_t i = 0; i < s.size; ++i) {
        info.labels["l" + std::to_string(i)] = info.node_selector["s" + std::to_string(i)] = "x";
      }
      infos.push_back(std::move(info));
    }
    (void)adapter.started(*job, infos);
    if (workload) (void)jobs::mismatch(*workload, pod_sets, *job, false, false);
  }
}

std::function<void()> manage(const Subject& s) {
  return [&s] {
    if (s.resource.gvr.group == "batch" && s.resource.kind == "Job") reconcile_both(jobs::batch_job(), s);
    if (const auto adapter = described(s)) reconcile_both(*adapter, s);
  };
}

std::function<void()> read_workload(const Subject& s) {
  return [&s] {
    if (s.resource.kind != "Workload" || s.resource.gvr.version != "v1beta2") return;
    const auto workload = api::kueue::decode_workload(s.object);
    if (!workload) return;
    (void)api::kueue::encode_workload(*workload);
    (void)jobs::pod_set_infos(*workload, facts_for(nullptr).flavors);
  };
}

std::function<void()> read_pod(const Subject& s) {
  return [&s] {
    if (s.resource.kind != "Pod") return;
    (void)jobs::placed_by(s.object);
    (void)jobs::placed_pod(s.object);
  };
}

std::vector<jobs::ManagedPodPtr> members(std::string_view prefix, std::size_t size,
                                         std::initializer_list<std::string_view> changes = {}) {
  std::vector<jobs::ManagedPodPtr> out;
  for (std::size_t i = 0; i < size; ++i)
    out.push_back(pods_support::member(std::string(prefix) + std::to_string(i), static_cast<int>(size), changes));
  return out;
}

// A group of that many pods, and their workload in each of its states, with other pods beside it too.
std::function<void()> manage_group(const Subject& s) {
  if (s.resource.kind != "Pod") return [] {};
  const std::string as_prebuilt = "{metadata: {labels: {" + std::string(api::kueue::kPrebuiltWorkload) + ": g}}}";
  const auto pods = members("p", s.size), running = members("p", s.size, {pods_support::kRunning}),
             late = members("q", s.size), prebuilt = members("q", s.size, {as_prebuilt});
  std::vector<jobs::WorkloadPtr> states = {nullptr};
  for (const std::string& conditions : {std::string(), pods_support::kAdmitted, pods_support::kEvicted,
                                        pods_support::true_condition("Finished", "Succeeded")})
    states.push_back(pods_support::group_workload(pods, conditions));
  auto made_by_client = std::make_shared<Workload>(*states[1]);
  made_by_client->meta.annotations.clear();
  states.push_back(made_by_client);
  return [=] {
    for (const auto& workload : states) {
      for (const auto& group : {pods, running, late, prebuilt}) (void)pods_support::group(group, workload);
    }
  };
}

}  // namespace

const std::vector<Act>& acts_of_jobs() {
  static const std::vector<Act> acts = {
      {"manage it as a job", manage},
      {"read it as a workload", read_workload},
      {"read it as a placed pod", read_pod},
      {"manage a group of pods", manage_group},
  };
  return acts;
}

}  // namespace berth::growth
