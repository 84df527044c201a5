// The pods of PodGroups that give way: which are deleted, and the report when they have stopped.
#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "controller/volcano_groups.h"
#include "volcano/surplus_parts.h"

namespace berth::controller {

using volcano::GroupDuty;

namespace {

constexpr std::size_t kStopsInFlight = 16;  // requests at a time for the pods of one group

}  // namespace

// So many of the newest pods that the minimum and the parts of the surplus that are not evicted remain.
std::vector<api::ObjectMeta> VolcanoGroups::pods_to_stop(const std::string& key, const Entry& entry) const {
  api::ResourceList kept;
  std::int64_t pods = 0;
  if (entry.minimum && entry.minimum->status.admission) {
    kept = entry.group->min_resources.value_or(api::ResourceList());
    pods = std::max(entry.group->min_member, 1);
  }
  for (const Reported& part : entry.surplus) {
    if (!part || volcano::surplus_part(*part).evicted) continue;
    pods += volcano::surplus_part(*part).pods;
    for (const auto& [resource, amount] : volcano::held_by(*part)) kept[resource] = kept[resource] + amount;
  }
  return pods_.beyond(key, kept, pods);
}

void VolcanoGroups::stop_pods(const std::string& key, const GroupDuty& duty, WorkQueue::Finish finish) {
  const Entry& entry = entries_.find(key)->second;
  const bool gives_way = duty.stop_all || duty.stopped;
  std::vector<api::ObjectMeta> pods;
  if (gives_way) {
    pods = pods_.all(key);
  } else if (duty.stop_surplus) {
    pods = pods_to_stop(key, entry);
  }
  report(key, duty.stopped && pods_.empty(key));
  if (pods.empty()) return finish(true);
  PlanRunner::Plan plan;
  for (const auto& pod : pods) {
    const auto going = [this, uid = pod.uid] { pods_.going(uid); };
    plan.push_back(
        {.send = [this, pod](
                     Writes::Done answered) { shell_.writes.remove(Target::of(api::kPods, pod), std::move(answered)); },
         .done = [going](const api::RestResponse&) { going(); },
         // A conflict is a failure, too: if another pod has the name now, the cache will show it.
         .refused =
             [going](const api::RestResponse& answer) {
               if (answer.code != 404) return Outcome::kFailed;
               going();
               return Outcome::kGoOn;
             }});
  }
  runner_.side_by_side(std::move(plan), kStopsInFlight, PlanRunner::ends(std::move(finish)));
}

}  // namespace berth::controller
