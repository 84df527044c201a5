#include "multikueue/remote_job.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/kueue/names.h"
#include "base/checksum.h"
#include "base/merge_patch.h"
#include "base/text.h"
#include "multikueue/names.h"

namespace berth::multikueue {
namespace {

constexpr std::size_t kMaxLabelValue = 63;
// Labels that each API server adds to the template of a Job itself.
constexpr std::array<std::string_view, 4> kGeneratedLabels = {
    "controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"};

// Bounds of a status that is copied. A Job has at most 100,000 indexes that are listed one by one.
constexpr std::size_t kMostConditions = 16, kMostUncounted = 10'000, kMaxIndexes = 1u << 20;
constexpr std::size_t kMaxType = 316, kMaxJobReason = 1024, kMaxJobMessage = 32768, kMaxUid = 128;
constexpr std::int64_t kMostPods = 2'147'483'647;

constexpr std::array<std::string_view, 5> kCounts = {"active", "ready", "terminating", "succeeded", "failed"};

Result<void> wrong(std::string_view member, std::string_view expected) {
  return fail("status." + std::string(member) + ": expected " + std::string(expected));
}

Result<void> take_count(const Json& status, std::string_view member, JsonObject& out) {
  const Json* value = find(status, member);
  if (value == nullptr || value->is_null()) return {};
  const auto number = optional_int_at(status, {member});
  if (!number || *number < 0 || *number > kMostPods) return wrong(member, "a number from 0 to 2147483647");
  out[member] = *number;
  return {};
}

Result<void> take_time(const Json& status, std::string_view member, JsonObject& out) {
  const Json* value = find(status, member);
  if (value == nullptr || value->is_null()) return {};
  if (!api::time_at(status, {member})) return wrong(member, "a time (RFC 3339)");
  out[member] = *value;
  return {};
}

Result<void> take_indexes(const Json& status, std::string_view member, JsonObject& out) {
  const Json* value = find(status, member);
  if (value == nullptr || value->is_null()) return {};
  const std::string_view text = string_at(status, {member});
  const bool fine = value->is_string() && text.size() <= kMaxIndexes &&
                    std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == ',' || c == '-'; });
  if (!fine) return wrong(member, "a list of indexes such as \"1,3-5\"");
  out[member] = *value;
  return {};
}

// A text member of a condition. Absent: fine.
bool take_text(const Json& condition, std::string_view member, std::size_t longest, JsonObject& out) {
  const Json* value = find(condition, member);
  if (value == nullptr || value->is_null()) return true;
  if (!value->is_string() || value->get_string().size() > longest) return false;
  out[member] = *value;
  return true;
}

Result<void> take_conditions(const Json& status, JsonObject& out) {
  const Json* value = find(status, "conditions");
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_array() || value->get_array().size() > kMostConditions)
    return wrong("conditions", "a list of at most 16 conditions");
  JsonArray conditions;
  for (const Json& condition : value->get_array()) {
    const std::string_view says = string_at(condition, {"status"});
    const bool known = says == "True" || says == "False" || says == "Unknown";
    JsonObject one;
    if (!known || string_at(condition, {"type"}).empty() || !take_text(condition, "type", kMaxType, one) ||
        !take_text(condition, "reason", kMaxJobReason, one) || !take_text(condition, "message", kMaxJobMessage, one))
      return wrong("conditions", "conditions with a type and the status True, False or Unknown");
    one["status"] = says;
    for (const std::string_view time : {"lastProbeTime", "lastTransitionTime"}) {
      const Json* at = find(condition, time);
      if (at == nullptr || at->is_null()) continue;
      if (!api::time_at(condition, {time})) return wrong("conditions", "times (RFC 3339)");
      one[time] = *at;
    }
    conditions.push_back(std::move(one));
  }
  out["conditions"] = std::move(conditions);
  return {};
}

Result<void> take_uncounted(const Json& status, JsonObject& out) {
  const Json* value = find(status, "uncountedTerminatedPods");
  if (value == nullptr || value->is_null()) return {};
  JsonObject kept;
  for (const std::string_view member : {"succeeded", "failed"}) {
    const JsonArray& uids = array_at(*value, {member});
    const bool fine = uids.size() <= kMostUncounted && std::ranges::all_of(uids, [](const Json& uid) {
                        return uid.is_string() && uid.get_string().size() <= kMaxUid;
                      });
    if (!fine) return wrong("uncountedTerminatedPods", "lists of the UIDs of pods");
    if (!uids.empty()) kept[member] = uids;
  }
  out["uncountedTerminatedPods"] = std::move(kept);
  return {};
}

void erase_at(Json& object, const RemoteKind::Path& path) {
  Json* value = &object;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    Json* next = value->is_object() ? value->as_object().if_contains(path[i]) : nullptr;
    if (next == nullptr) return;
    value = next;
  }
  if (value->is_object()) value->as_object().erase(path.back());
}

void set_at(Json& object, const RemoteKind::Path& path, Json what) {
  Json* value = &object;
  for (const auto& name : path) {
    if (!value->is_object()) *value = JsonObject();
    value = &value->as_object()[name];
  }
  *value = std::move(what);
}

bool is_annotation(const RemoteKind::Path& path) {
  return path.size() == 3 && path[0] == "metadata" && path[1] == "annotations";
}

std::uint64_t number_of_synced(const RemoteKind& kind, const Json& job) {
  Checksum sum;
  for (const auto& path : kind.synced) {
    const Json* value = value_at(job, path);
    sum.add(value == nullptr ? "" : canonical_json(*value)).add("\n");
  }
  return sum.value();
}

// What an API server adds to a Job itself.
void drop_generated(const Json& job, Json& out) {
  if (!bool_at(job, {"spec", "manualSelector"})) erase_path(out, {"spec", "selector"});
  for (const std::string_view label : kGeneratedLabels)
    erase_path(out, {"spec", "template", "metadata", "labels", label});
}

}  // namespace

Json remote_job(const RemoteKind& kind, const Json& job, std::string_view workload, const Sender& sender,
                bool by_annotation) {
  Json out = JsonObject{{"apiVersion", kind.api_version()}, {"kind", kind.kind}, {"spec", object_at(job, {"spec"})}};
  erase_at(out, kind.managed_by);
  for (const auto& path : kind.dropped) erase_at(out, path);
  set_at(out, kind.suspend, true);
  if (kind.is_batch_job) drop_generated(job, out);
  api::ObjectMeta meta;
  meta.name = string_at(job, {"metadata", "name"});
  meta.ns = string_at(job, {"metadata", "namespace"});
  const api::ObjectMeta known = api::decode_meta(job);
  meta.labels = known.labels;
  meta.annotations = known.annotations;
  for (const auto& path : kind.dropped) {
    if (is_annotation(path)) meta.annotations.erase(path.back());
  }
  meta.labels[std::string(kOriginLabel)] = sender.origin;
  const std::string prebuilt(api::kueue::kPrebuiltWorkload);
  const bool annotation = by_annotation || workload.size() > kMaxLabelValue;
  meta.labels.erase(prebuilt);
  meta.annotations.erase(prebuilt);
  if (!sender.manager.empty()) meta.annotations[std::string(kManager)] = sender.manager;
  (annotation ? meta.annotations : meta.labels)[prebuilt] = workload;
  out.as_object()["metadata"] = api::encode_meta(meta);
  return out;
}

SeenJob seen_job(const RemoteKind& kind, const Json& job) {
  SeenJob seen;
  seen.kind = &kind;
  seen.meta.name = string_at(job, {"metadata", "name"});
  seen.meta.ns = string_at(job, {"metadata", "namespace"});
  seen.meta.uid = string_at(job, {"metadata", "uid"});
  seen.meta.resource_version = string_at(job, {"metadata", "resourceVersion"});
  seen.meta.deletion = api::time_at(job, {"metadata", "deletionTimestamp"});
  seen.origin = string_at(job, {"metadata", "labels", kOriginLabel});
  seen.manager = string_at(job, {"metadata", "annotations", kManager});
  seen.workload = string_at(job, {"metadata", "annotations", api::kueue::kPrebuiltWorkload});
  if (seen.workload.empty()) seen.workload = string_at(job, {"metadata", "labels", api::kueue::kPrebuiltWorkload});
  seen.suspended = kind.suspended(job);
  seen.active = kind.active(job);
  if (!kind.synced.empty()) seen.synced = number_of_synced(kind, job);
  if (auto status = kind.read_status(job)) {
    seen.ended = kind.ended(job);
    seen.status = std::make_shared<const Json>(std::move(*status));
  } else {
    seen.why_not = status.error().message;
  }
  return seen;
}

std::size_t bytes_of(const SeenJob& job) {
  return sizeof(SeenJob) + job.meta.name.size() + job.meta.ns.size() + job.meta.uid.size() +
         job.meta.resource_version.size() + job.origin.size() + job.manager.size() + job.workload.size() +
         job.why_not.size() + (job.status ? to_string(*job.status).size() : 0);
}

bool has_ended(const Json& job) {
  return std::ranges::any_of(array_at(job, {"status", "conditions"}), [](const Json& condition) {
    const auto type = string_at(condition, {"type"});
    return string_at(condition, {"status"}) == "True" && (type == "Complete" || type == "Failed");
  });
}

namespace {

// Lists whose texts would be too long are left out, as a part of them would be wrong; then messages are cut.
Result<Json> bounded(JsonObject out) {
  constexpr std::size_t kShortMessage = 1024;
  const auto fits = [&] { return to_string(Json(out)).size() <= kMaxStatusBytes; };
  if (fits()) return Json(std::move(out));
  for (const std::string_view list : {"uncountedTerminatedPods", "completedIndexes", "failedIndexes"}) {
    out.erase(list);
    if (fits()) return Json(std::move(out));
  }
  if (Json* conditions = out.if_contains("conditions")) {
    for (Json& one : conditions->as_array()) {
      if (string_at(one, {"message"}).size() > kShortMessage)
        one.as_object()["message"] = std::string(cut_text(string_at(one, {"message"}), kShortMessage));
    }
  }
  if (fits()) return Json(std::move(out));
  return fail("status: expected at most " + std::to_string(kMaxStatusBytes) + " bytes as JSON");
}

}  // namespace

Result<Json> readable_status(const Json& job) {
  JsonObject out;
  const Json* status = find(job, "status");
  if (status == nullptr || status->is_null()) return Json(out);
  if (!status->is_object()) return fail("status: expected an object");
  for (const std::string_view count : kCounts) {
    if (auto done = take_count(*status, count, out); !done) return tl::unexpected(done.error());
  }
  for (const std::string_view time : {"startTime", "completionTime"}) {
    if (auto done = take_time(*status, time, out); !done) return tl::unexpected(done.error());
  }
  for (const std::string_view indexes : {"completedIndexes", "failedIndexes"}) {
    if (auto done = take_indexes(*status, indexes, out); !done) return tl::unexpected(done.error());
  }
  for (const auto take : {take_conditions, take_uncounted}) {
    if (auto done = take(*status, out); !done) return tl::unexpected(done.error());
  }
  return bounded(std::move(out));
}

namespace {

// An API server lets no client change the start of a Job that is not suspended. After an end on another cluster
// than that of the run that is shown here, the start of this run stays.
void keep_start(const Json& job, Json& status) {
  const auto start = api::time_at(job, {"status", "startTime"});
  if (!start || bool_at(job, {"spec", "suspend"})) return;
  JsonObject& out = status.as_object();
  out["startTime"] = *find_path(job, {"status", "startTime"});
  const auto end = api::time_at(status, {"completionTime"});
  if (end && *end < *start) out["completionTime"] = out["startTime"];
}

}  // namespace

Json status_patch(const Json& job, const SeenJob& seen) {
  if (!seen.status) return nullptr;
  const bool suspended = seen.kind->suspended(job);
  if (suspended && !seen.suspended && !seen.ended) return nullptr;
  const Json* before = find(job, "status");
  const Json none = JsonObject();
  Json status = *seen.status;
  if (seen.kind->is_batch_job) keep_start(job, status);
  Json patch = make_merge_patch(before != nullptr && before->is_object() ? *before : none, status);
  if (patch.as_object().empty()) return nullptr;
  return JsonObject{{"status", std::move(patch)}};
}

Json sync_patch(const Json& job, const SeenJob& seen) {
  if (seen.kind->synced.empty() || number_of_synced(*seen.kind, job) == seen.synced) return nullptr;
  Json patch = JsonObject();
  for (const auto& path : seen.kind->synced) {
    const Json* value = value_at(job, path);
    set_at(patch, path, value == nullptr ? Json() : *value);
  }
  return patch;
}

Json no_pods_patch(const RemoteKind& kind, const Json& job) {
  if (!kind.is_batch_job) {
    const Json* status = find(job, "status");
    const bool any = status != nullptr && status->is_object() && !status->get_object().empty();
    return any ? Json(JsonObject{{"status", nullptr}}) : Json();
  }
  JsonObject patch;
  for (const std::string_view count : {"active", "ready", "terminating"}) {
    if (int_at(job, {"status", count}) != 0) patch[count] = 0;
  }
  if (patch.empty()) return nullptr;
  return JsonObject{{"status", std::move(patch)}};
}

}  // namespace berth::multikueue
