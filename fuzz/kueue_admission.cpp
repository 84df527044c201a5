// Any pair of JSON objects as old and new object of each kind that is validated on admission: validation and
// defaulting never crash, an update without a change gets no errors for a change, and defaulting is
// idempotent.
#include "api/batch/job_validation.h"
#include "api/kueue/defaulting.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/validation/cluster_queue.h"
#include "api/kueue/validation/cohort.h"
#include "api/kueue/validation/resource_flavor.h"
#include "api/kueue/validation/workload.h"
#include "base/assert.h"

namespace kueue = berth::api::kueue;
namespace batch = berth::api::batch;

namespace {

template <typename Default>
void check_idempotent(berth::Json object, Default set_defaults) {
  set_defaults(object);
  const std::string once = berth::canonical_json(object);
  set_defaults(object);
  BERTH_INVARIANT(berth::canonical_json(object) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pair = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!pair || !pair->is_array() || pair->get_array().size() != 2) return 0;
  const berth::Json& old = pair->get_array()[0];
  const berth::Json& now = pair->get_array()[1];
  if (!old.is_object() || !now.is_object()) return 0;
  (void)kueue::validate_cohort(now);
  (void)kueue::validate_resource_flavor(now);
  (void)kueue::validate_cluster_queue(now);
  (void)kueue::validate_workload_update(now, old);
  (void)batch::validate_job_update(now, old, true);
  // An update without a change has only the errors of the object itself, if any.
  const kueue::WorkloadRules stored{.pods_are_new = false, .admission_is_new = false};
  BERTH_INVARIANT(kueue::validate_workload_update(now, now).size() == kueue::validate_workload(now, stored).size());
  BERTH_INVARIANT(batch::validate_job_update(now, now, true).size() <= batch::validate_job(now).size());
  check_idempotent(now, kueue::default_cluster_queue);
  check_idempotent(now, [](berth::Json& object) { kueue::default_workload(object, false); });
  (void)kueue::validate_pod(now, {});
  (void)kueue::validate_pod_update(now, old, {.manage_without_queue_name = true, .default_queue_exists = true});
  BERTH_INVARIANT(kueue::validate_pod_update(now, now, {}).empty());
  check_idempotent(now, [](berth::Json& pod) { kueue::default_pod(pod, {}); });
  check_idempotent(now, [](berth::Json& pod) { kueue::default_pod(pod, {.default_queue_exists = true}); });
  check_idempotent(now, [](berth::Json& job) { batch::default_job(job, {.default_queue_exists = true}); });
  return 0;
}
