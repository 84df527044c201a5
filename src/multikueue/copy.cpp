#include "multikueue/copy.h"

#include <algorithm>
#include <utility>

#include "api/kueue/job_uid.h"
#include "api/owners.h"
#include "base/checksum.h"
#include "base/text.h"
#include "multikueue/names.h"

namespace berth::multikueue {
namespace {

using api::kueue::Workload;

constexpr std::size_t kMaxReason = 1024, kMaxMessage = 32768;  // bytes, as metav1.Condition allows

// As the definition of Workload wants it: ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
bool may_be_reason(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (text.empty() || text.size() > kMaxReason || !letter(text.front()) || !word(text.back())) return false;
  return std::ranges::all_of(text, [&](char c) { return word(c) || c == ',' || c == ':'; });
}

bool given_up(std::string_view reason) { return reason == "OutOfSync" || reason == "OwnerNotFound"; }

}  // namespace

Json copy_of(const Workload& original, const Sender& sender) {
  Json out = api::kueue::encode_workload(original);
  JsonObject& object = out.as_object();
  object.erase("status");
  erase_path(out, {"spec", "preemptionGates"});
  api::ObjectMeta meta;
  meta.name = original.meta.name;
  meta.ns = original.meta.ns;
  meta.labels = original.meta.labels;
  meta.labels.erase(std::string(api::kueue::kJobUidLabel));
  meta.labels[std::string(kOriginLabel)] = sender.origin;
  meta.annotations = original.meta.annotations;
  meta.annotations[std::string(kOriginalUid)] = original.meta.uid;
  if (!sender.manager.empty()) meta.annotations[std::string(kManager)] = sender.manager;
  object["metadata"] = api::encode_meta(meta);
  return out;
}

std::uint64_t fingerprint(const Workload& workload) {
  Json spec = *find(api::kueue::encode_workload(workload), "spec");
  for (const std::string_view part : {"priority", "priorityClassRef", "active", "preemptionGates"})
    erase_path(spec, {part});
  return std::max<std::uint64_t>(checksum_of(canonical_json(spec)), 1);
}

SeenCopy seen_copy(const Json& object) {
  SeenCopy seen;
  api::ObjectMeta meta = api::decode_meta(object);
  const auto text = [](const api::StringMap& map, std::string_view key) {
    const auto it = map.find(key);
    return it == map.end() ? std::string() : it->second;
  };
  seen.origin = text(meta.labels, kOriginLabel);
  seen.original_uid = text(meta.annotations, kOriginalUid);
  seen.manager = text(meta.annotations, kManager);
  if (const auto* owner = api::controller_of(meta)) {
    seen.owner_version = owner->api_version;
    seen.owner_kind = owner->kind;
  }
  seen.meta.name = std::move(meta.name);
  seen.meta.ns = std::move(meta.ns);
  seen.meta.uid = std::move(meta.uid);
  seen.meta.resource_version = std::move(meta.resource_version);
  seen.meta.generation = meta.generation;
  seen.meta.deletion = meta.deletion;
  seen.meta.finalizers = std::move(meta.finalizers);
  if (auto workload = api::kueue::decode_workload(object)) {
    seen.fingerprint = fingerprint(*workload);
    seen.active = workload->active;
    seen.conditions = std::move(workload->status.conditions);
  }
  return seen;
}

std::size_t bytes_of(const SeenCopy& copy) {
  std::size_t sum = sizeof(SeenCopy) + copy.meta.name.size() + copy.meta.ns.size() + copy.meta.uid.size() +
                    copy.meta.resource_version.size() + copy.origin.size() + copy.original_uid.size() +
                    copy.manager.size() + copy.owner_version.size() + copy.owner_kind.size();
  for (const auto& finalizer : copy.meta.finalizers) sum += sizeof(std::string) + finalizer.size();
  for (const auto& condition : copy.conditions)
    sum += sizeof(condition) + condition.type.size() + condition.reason.size() + condition.message.size();
  return sum;
}

CopyState state_of(const SeenCopy& copy, const Workload* original, std::string_view origin) {
  if (copy.origin != origin) return CopyState::kForeign;
  if (original == nullptr) return CopyState::kPending;
  const bool earlier = !copy.original_uid.empty() && copy.original_uid != original->meta.uid;
  if (earlier || copy.fingerprint != fingerprint(*original)) return CopyState::kDiffers;
  if (const auto* end = api::find_condition(copy.conditions, api::kueue::kFinished); end != nullptr && end->status)
    return given_up(end->reason) ? CopyState::kGivenUp : CopyState::kFinished;
  if (!copy.active) return CopyState::kDeactivated;
  if (copy.meta.deletion) return CopyState::kDeactivated;  // somebody deletes it: it stops and does not come back
  if (api::is_true(copy.conditions, api::kueue::kEvicted)) return CopyState::kEvicted;
  if (!api::is_true(copy.conditions, api::kueue::kQuotaReserved)) return CopyState::kPending;
  return api::is_true(copy.conditions, api::kueue::kAdmitted) ? CopyState::kAdmitted : CopyState::kReserved;
}

Time admitted_since(const SeenCopy& copy) {
  const auto* admitted = api::find_condition(copy.conditions, api::kueue::kAdmitted);
  return admitted != nullptr && admitted->status ? admitted->last_transition : Time{};
}

Json deactivation(const SeenCopy& copy, std::string_view why, Time now) {
  if (api::is_true(copy.conditions, api::kueue::kDeactivationTarget)) return nullptr;
  api::Condition target;
  target.type = api::kueue::kDeactivationTarget;
  target.status = true;
  target.reason = kEvictedOnManager;
  target.message = std::string(cut_text(why, kMaxMessage));
  target.last_transition = to_seconds(now);
  target.observed_generation = copy.meta.generation;
  api::Conditions conditions = copy.conditions;
  api::set_condition(conditions, std::move(target));
  return JsonObject{{"status", JsonObject{{"conditions", api::encode_conditions(conditions)}}}};
}

End end_of(const SeenCopy& copy, bool job_succeeded) {
  const auto* end = api::find_condition(copy.conditions, api::kueue::kFinished);
  if (end == nullptr) return {};
  std::string reason = may_be_reason(end->reason) ? end->reason : job_succeeded ? "Succeeded" : "Failed";
  return {std::move(reason), std::string(cut_text(end->message, kMaxMessage))};
}

}  // namespace berth::multikueue
