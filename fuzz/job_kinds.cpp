// The first byte selects: any bytes as a description of a kind of jobs, or any bytes as an object of a shipped kind. A
// description is read or refused with a reason; an object gets an answer to everything that is asked of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/kind_rules.h"

namespace {

using namespace berth;
using namespace berth::jobs;
using namespace berth::jobs::kinds;

void ask(const JobKindPtr& kind, const Json& object) {
  // The runtime of a TrainJob is a member of the input.
  const Json* runtime = find(object, "runtime");
  const JsonPtr found = runtime != nullptr ? std::make_shared<const Json>(*runtime) : nullptr;
  const api::kueue::ObjectGetter get = [&](const auto&, auto, auto) { return found; };
  const api::kueue::AdmissionPolicy policy;
  const auto rules = rules_of(kind, true).rules;
  Json job = object;
  (void)rules.check(job, nullptr, "", {get, policy});
  rules.mutate(job, {get, policy});
  (void)rules.check(job, &object, "", {get, policy});

  const DescribedJob adapter(kind, get);
  const auto pod_sets = adapter.pod_sets(job);
  if (pod_sets.empty() && adapter.check_pod_sets(job)) std::abort();
  (void)adapter.check_status(job);
  (void)adapter.finished(job);
  (void)adapter.pods_ready(job);
  (void)adapter.reclaimable(job);
  (void)adapter.priority_class(job);
  std::vector<PodSetInfo> infos;
  for (const auto& one : pod_sets) {
    PodSetInfo info;
    info.name = one.name;
    info.count = one.count;
    info.labels = {{"kueue.x-k8s.io/podset", one.name}};
    info.scheduling_gates = {"kueue.x-k8s.io/topology"};
    infos.push_back(std::move(info));
  }
  const auto started = adapter.started(job, infos);
  if (!started) return;
  if (adapter.suspended(*started)) std::abort();
  const auto stop = adapter.next_stop(*started, pod_sets);
  if (!stop) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto& kinds = shipped_job_kinds();
  const std::size_t choice = data[0] % (kinds.size() + 1);
  if (choice == kinds.size()) {
    const auto kind = read_job_kind(text, "input");
    if (!kind && kind.error().message.empty()) std::abort();
    if (kind) ask(*kind, JsonObject());
    return 0;
  }
  if (const auto object = parse_json(text)) ask(kinds[choice], *object);
  return 0;
}
