#include "multikueue/remote_kind.h"

#include "api/resources.h"
#include "multikueue/remote_job.h"

namespace berth::multikueue {
namespace {

// A merge patch cannot write them.
Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& [key, member] : value.get_object()) {
    if (!member.is_null()) out[key] = without_nulls(member);
  }
  return out;
}

RemoteKind make_batch_jobs() {
  RemoteKind kind;
  kind.resource = api::kJobs;
  kind.kind = "Job";
  kind.suspend = {"spec", "suspend"};
  kind.managed_by = {"spec", "managedBy"};
  // A Job that is gone before its end was seen would be run again. The manager deletes it.
  kind.dropped = {{"spec", "ttlSecondsAfterFinished"}};
  kind.is_batch_job = true;
  kind.read_status = readable_status;
  kind.active = [](const Json& job) { return int_at(job, {"status", "active"}) != 0; };
  kind.ended = has_ended;
  return kind;
}

}  // namespace

const Json* value_at(const Json& object, const RemoteKind::Path& path) {
  const Json* value = &object;
  for (const auto& name : path) value = value == nullptr ? nullptr : find(*value, name);
  return value;
}

bool RemoteKind::suspended(const Json& job) const {
  const Json* value = value_at(job, suspend);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string RemoteKind::managed_by_of(const Json& job) const {
  const Json* value = value_at(job, managed_by);
  return value != nullptr && value->is_string() ? std::string(view(value->get_string())) : std::string();
}

const RemoteKind& batch_jobs() {
  static const RemoteKind kind = make_batch_jobs();
  return kind;
}

Result<Json> bounded_status(const Json& job) {
  const Json* status = find(job, "status");
  if (status == nullptr || status->is_null()) return Json(JsonObject());
  if (!status->is_object()) return fail("status: expected an object");
  if (to_string(*status).size() > kMaxStatusBytes)
    return fail("status: expected at most " + std::to_string(kMaxStatusBytes) + " bytes as JSON");
  return without_nulls(*status);
}

}  // namespace berth::multikueue
