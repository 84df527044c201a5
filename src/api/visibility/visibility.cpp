#include "api/visibility/visibility.h"

#include <algorithm>
#include <charconv>

#include "api/status.h"

namespace berth::api::visibility {
namespace {

Result<std::int64_t> parse_number(std::string_view name, std::string_view text) {
  if (text.empty()) return 0;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return value;
  return fail(std::string(name) + "=\"" + std::string(text) + "\": expected a whole number of at most 64 bits");
}

Json encode_item(const PendingWorkload& item) {
  const kueue::Workload& w = *item.object;
  JsonObject metadata;
  metadata["name"] = w.meta.name;
  metadata["namespace"] = w.meta.ns;
  metadata["creationTimestamp"] = format_time(w.meta.creation);
  if (!w.meta.owners.empty()) {
    JsonArray owners;
    for (const OwnerReference& owner : w.meta.owners) {
      owners.push_back(JsonObject{
          {"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid}});
    }
    metadata["ownerReferences"] = std::move(owners);
  }
  JsonObject out;
  out["metadata"] = std::move(metadata);
  out["priority"] = w.priority;
  out["localQueueName"] = w.queue_name;
  out["positionInClusterQueue"] = item.position_in_cluster_queue;
  out["positionInLocalQueue"] = item.position_in_local_queue;
  return out;
}

}  // namespace

Result<Page> parse_page(std::string_view offset, std::string_view limit) {
  const auto from = parse_number("offset", offset);
  if (!from) return tl::unexpected(from.error());
  const auto most = parse_number("limit", limit);
  if (!most) return tl::unexpected(most.error());
  Page page;
  page.offset = static_cast<std::size_t>(std::max<std::int64_t>(*from, 0));
  if (*most != 0) page.limit = std::min(static_cast<std::size_t>(std::max<std::int64_t>(*most, 0)), kMaxLimit);
  return page;
}

Json encode_summary(std::string_view version, const std::vector<PendingWorkload>& items) {
  JsonArray array;
  array.reserve(items.size());
  for (const PendingWorkload& item : items) array.push_back(encode_item(item));
  JsonObject out;
  out["kind"] = kSummaryKind;
  out["apiVersion"] = std::string(kGroup) + "/" + std::string(version);
  out["metadata"] = JsonObject();
  out["items"] = std::move(array);
  return out;
}

// As in Kueue, the message has the singular of the resource.
RestResponse no_such_queue(std::string_view resource, std::string_view name) {
  resource.remove_suffix(1);
  return not_found({std::string(kGroup), "", std::string(resource)}, name);
}

std::optional<WorkloadPath> parse_workload_path(const std::vector<std::string>& segments) {
  if (segments.size() != 8 || segments[0] != "apis" || segments[1] != kGroup || !serves(segments[2]) ||
      segments[3] != "namespaces" || segments[5] != "workloads")
    return std::nullopt;
  for (const std::string_view subresource : {kExplanation, kPrediction}) {
    if (segments[7] == subresource) return WorkloadPath{segments[2], segments[4], segments[6], subresource};
  }
  return std::nullopt;
}

Json encode_answer(const WorkloadPath& path, Json fields_of_it) {
  JsonObject out;
  out["kind"] = path.subresource == kPrediction ? kPredictionKind : kExplanationKind;
  out["apiVersion"] = std::string(kGroup) + "/" + path.version;
  out["metadata"] = JsonObject{{"name", path.workload}, {"namespace", path.ns}};
  if (auto* fields = fields_of_it.if_object()) {
    for (auto& [key, value] : *fields) {
      if (key != "name" && key != "namespace") out[key] = std::move(value);
    }
  }
  return out;
}

RestResponse no_such_workload(std::string_view name) { return not_found({std::string(kGroup), "", "workload"}, name); }

std::optional<WhatIfPath> parse_what_if_path(const std::vector<std::string>& segments) {
  if (segments.size() < 4 || segments[0] != "apis" || segments[1] != kGroup || !serves(segments[2]))
    return std::nullopt;
  if (segments.size() == 4 && segments[3] == kWhatIfs) return WhatIfPath{segments[2], ""};
  if (segments.size() == 6 && segments[3] == "namespaces" && segments[5] == kLocalWhatIfs && !segments[4].empty())
    return WhatIfPath{segments[2], segments[4]};
  return std::nullopt;
}

Json encode_what_if(const WhatIfPath& path, Json status) {
  JsonObject metadata;
  if (!path.ns.empty()) metadata["namespace"] = path.ns;
  return JsonObject{{"kind", path.ns.empty() ? kWhatIfKind : kLocalWhatIfKind},
                    {"apiVersion", std::string(kGroup) + "/" + path.version},
                    {"metadata", std::move(metadata)},
                    {"status", std::move(status)}};
}

bool serves(std::string_view version) { return std::ranges::find(kVersions, version) != kVersions.end(); }

std::optional<Question> parse_path(const std::vector<std::string>& segments) {
  if (segments.size() < 6 || segments[0] != "apis" || segments[1] != kGroup || !serves(segments[2]))
    return std::nullopt;
  if (segments.size() == 6 && segments[3] == "clusterqueues" && segments[5] == kSubresource)
    return Question{segments[2], "", segments[4]};
  if (segments.size() == 8 && segments[3] == "namespaces" && segments[5] == "localqueues" &&
      segments[7] == kSubresource && !segments[4].empty())
    return Question{segments[2], segments[4], segments[6]};
  return std::nullopt;
}

}  // namespace berth::api::visibility
