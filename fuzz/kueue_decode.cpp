// Any JSON as each Kueue kind: decoding never crashes, and an encoded Workload decodes to the same Workload.
#include "api/kueue/types.h"
#include "base/assert.h"

namespace kueue = berth::api::kueue;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto object = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!object) return 0;
  (void)kueue::decode_cluster_queue(*object);
  (void)kueue::decode_cohort(*object);
  (void)kueue::decode_local_queue(*object);
  (void)kueue::decode_resource_flavor(*object);
  (void)kueue::decode_admission_check(*object);
  (void)kueue::decode_workload_priority_class(*object);
  (void)berth::api::decode_limit_range(*object);
  (void)berth::api::adjust_pod_spec(*object, {}, *object);
  (void)berth::api::requests_above_limits(*object, "spec");
  (void)berth::api::outside_limit_ranges(*object, berth::api::decode_limit_range(*object), "spec");
  (void)berth::api::decode_node_constraints(*object);
  const auto workload = kueue::decode_workload(*object);
  if (!workload) return 0;
  const berth::Json written = kueue::encode_workload(*workload);
  const auto again = kueue::decode_workload(written);
  BERTH_INVARIANT(again.has_value());
  BERTH_INVARIANT(berth::canonical_json(kueue::encode_workload(*again)) == berth::canonical_json(written));
  return 0;
}
