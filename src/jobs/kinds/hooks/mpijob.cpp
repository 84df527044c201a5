#include "jobs/kinds/hooks/mpijob.h"

#include "api/kueue/names.h"

namespace berth::jobs::kinds {
namespace {

class MpiJobHook final : public KindHook {
 public:
  void set_defaults(Json& job) const override {
    if (!bool_at(job, {"spec", "runLauncherAsWorker"})) return;
    const Json* workers = find_path(job, {"spec", "mpiReplicaSpecs", "Worker", "template"});
    if (workers == nullptr || !workers->is_object()) return;
    ensure_path(job, {"spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations",
                      api::kueue::kPodIndexOffset}) = "1";
  }
};

}  // namespace

const KindHook& mpi_job_hook() {
  static const MpiJobHook hook;
  return hook;
}

}  // namespace berth::jobs::kinds
