#include "jobs/pods/group_creation.h"

#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "jobs/compose.h"
#include "jobs/pods/copied_metadata.h"
#include "jobs/pods/group_terms.h"
#include "jobs/pods/role_members.h"
#include "jobs/prebuilt.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

// The group becomes the owner of the prebuilt workload, by the mark of workloads of groups. Its spec stays.
void adopt(GroupScene& scene, const WorkloadPtr& workload) {
  const Workload& w = *workload;
  api::ObjectMeta meta;
  meta.owners = w.meta.owners;
  const auto owning = owner_uids(w);
  for (const auto& pod : scene.pods) {
    if (is_waiting_pod(*pod) && !owning.contains(pod->uid)) meta.owners.push_back(owned_by_pod(*pod));
  }
  Json patch = JsonObject{{"metadata", api::encode_meta(meta)}};
  ensure_path(patch, {"metadata", "annotations", kIsGroupWorkload}) = "true";
  scene.plan.steps.push_back(UpdateWorkload{workload, std::move(patch)});
}

void create_for_owner(GroupScene& scene) {
  if (!scene.owner) return;  // the cache does not have it yet, or it is gone
  scene.put_pods_into_group();
  if (scene.owner->total == 0) return;
  auto made = make_served_workload(*scene.owner, scene.facts);
  if (!made) return scene.say({true, std::string(kClassNotFound), made.error().message});
  scene.plan.steps.push_back(CreateWorkload{std::move(*made), created(scene.key())});
}

void create(GroupScene& scene, const std::vector<ManagedPodPtr>& waiting) {
  const auto terms = agreed_terms(scene.name, waiting);
  if (!terms) return scene.say(cannot_compose(terms.error().message));
  const auto roles = roles_of(scene.name, *terms, waiting);
  if (!roles) return scene.say(cannot_compose(roles.error().message));
  const auto copied = copied_metadata(scene.name, waiting, scene.facts);
  if (!copied) return scene.say(cannot_compose(copied.error().message));
  const RoleMembers members(waiting, *roles, terms->serving);
  scene.delete_excess(members.excess());
  std::vector<api::OwnerReference> owners;
  for (const auto& pod : members.waiting()) owners.push_back(owned_by_pod(*pod));
  const JsonPtr voice = voice_of(*terms, *waiting.front());
  auto made = compose({scene.name, *voice, pod_sets_of(*roles, waiting, scene.facts.gates.group_order_by_shape),
                       std::string(string_at(waiting.front()->spec(), {"priorityClassName"})), std::move(owners)},
                      scene.facts);
  if (!made) return scene.say({true, std::string(kClassNotFound), made.error().message});
  for (const auto& [key, value] : copied->labels) made->meta.labels.insert_or_assign(key, value);
  for (const auto& [key, value] : copied->annotations) made->meta.annotations.insert_or_assign(key, value);
  made->meta.annotations.insert_or_assign(std::string(kIsGroupWorkload), "true");
  scene.plan.steps.push_back(CreateWorkload{encode_workload(*made), created(scene.key())});
}

}  // namespace

void without_workload(GroupScene& scene) {
  scene.release_those_that_left();
  if (!scene.facts.managed) return;
  if (scene.stop_all(kNoMatchingWorkload, "Missing Workload; unable to run the job") || scene.any(is_active_pod))
    return;
  if (scene.served) return create_for_owner(scene);
  const auto waiting = scene.those(is_waiting_pod);
  if (waiting.empty()) return;
  if (scene.prebuilt) return scene.say(prebuilt_is_missing(scene.key()));
  create(scene, waiting);
}

void beside_another(GroupScene& scene, const WorkloadPtr& workload) {
  const Workload& w = *workload;
  scene.release_those_that_left();
  const std::string key = scene.key();
  if (scene.prebuilt && scene.facts.managed && !w.meta.deletion && !has_controller(w)) {
    if (scene.any(is_waiting_pod)) adopt(scene, workload);
    return;
  }
  if (scene.facts.managed && scene.any(is_waiting_pod))
    scene.say({true, "WorkloadNameConflict",
               "Workload " + key +
                   " has the name of this pod group and belongs to somebody else: delete it, or give the "
                   "group another name"});
}

}  // namespace berth::jobs
