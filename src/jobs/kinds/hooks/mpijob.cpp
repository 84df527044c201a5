#include "jobs/kinds/hooks/mpijob.h"

#include <algorithm>

#include "api/kueue/names.h"

namespace berth::jobs::kinds {
namespace {

class MpiJobHook final : public KindHook {
 public:
  // In a group of launcher and workers, the placement knows the ranks.
  void set_defaults(Json& job) const override {
    if (!bool_at(job, {"spec", "runLauncherAsWorker"})) return;
    const Json* workers = find_path(job, {"spec", "mpiReplicaSpecs", "Worker", "template"});
    if (workers == nullptr || !workers->is_object()) return;
    const auto& launcher =
        object_at(job, {"spec", "mpiReplicaSpecs", "Launcher", "template", "metadata", "annotations"});
    if (launcher.contains(api::kueue::kPodSetGroupName)) return;
    ensure_path(job, {"spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations",
                      api::kueue::kPodIndexOffset}) = "1";
  }

  void arrange(api::FieldErrors& errors) const override {
    std::ranges::stable_sort(errors, {}, &api::FieldError::field);
  }
};

}  // namespace

const KindHook& mpi_job_hook() {
  static const MpiJobHook hook;
  return hook;
}

}  // namespace berth::jobs::kinds
