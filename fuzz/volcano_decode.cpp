// Any JSON as each Volcano kind: decoding, defaulting and validation never crash, defaulting is idempotent, encoded
// statuses decode to the same value, and an update without a change is not refused because of a change.
#include "api/volcano/defaulting.h"
#include "api/volcano/job_group.h"
#include "api/volcano/job_rules.h"
#include "api/volcano/types.h"
#include "api/volcano/validation.h"
#include "base/assert.h"
#include "volcano/group_workloads.h"
#include "volcano/queue_states.h"

using berth::Json;
namespace volcano = berth::api::volcano;

namespace {

template <typename Default>
void check_idempotent(Json object, Default set_defaults) {
  set_defaults(object);
  const std::string once = berth::canonical_json(object);
  set_defaults(object);
  BERTH_INVARIANT(berth::canonical_json(object) == once);
}

void check_queue(const Json& object) {
  (void)volcano::validate_queue(object, nullptr);
  const auto queue = volcano::decode_queue(object);
  if (!queue) return;
  Json again = object;
  berth::ensure_path(again, {"status"}) = volcano::encode_queue_status(queue->status);
  const auto read = volcano::decode_queue(again);
  BERTH_INVARIANT(read && read->status == queue->status);
}

void check_pod_group(const Json& object) {
  (void)volcano::validate_pod_group(object);
  const auto group = volcano::decode_pod_group(object);
  if (!group) return;
  Json again = object;
  berth::ensure_path(again, {"status"}) = volcano::encode_pod_group_status(group->status);
  const auto read = volcano::decode_pod_group(again);
  BERTH_INVARIANT(read && read->status == group->status);
  berth::volcano::GroupContext context;
  if (group->min_resources) context.running = *group->min_resources;
  const auto parts = berth::volcano::workloads_of(*group, context);
  (void)berth::volcano::duty_of(*group, context, parts.minimum ? &parts.minimum->status : nullptr,
                                parts.surplus ? &parts.surplus->status : nullptr);
}

void check_job(const Json& object) {
  const auto errors = volcano::validate_job(object);
  BERTH_INVARIANT(volcano::validate_job_update(object, object).size() <= errors.size());
  const auto job = volcano::decode_job(object);
  if (!job) return;
  Json again = object;
  berth::ensure_path(again, {"status"}) = volcano::encode_job_status(job->status);
  const auto read = volcano::decode_job(again);
  BERTH_INVARIANT(read && read->status == job->status);
  const Json group = volcano::encode_pod_group(volcano::pod_group_of(*job, [](std::string_view) { return 0; }));
  BERTH_INVARIANT(volcano::decode_pod_group(group).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto object = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!object || !object->is_object()) return 0;
  check_queue(*object);
  check_pod_group(*object);
  check_job(*object);
  if (const auto command = volcano::decode_command(*object)) (void)berth::volcano::order_of(*command);
  check_idempotent(*object, volcano::default_queue);
  check_idempotent(*object, volcano::default_job);
  check_idempotent(*object, [](Json& group) { volcano::default_pod_group(group, "team"); });
  return 0;
}
