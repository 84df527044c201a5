// The group visibility.kueue.x-k8s.io: the pending workloads of a queue and their positions (KEP-168-2). It is
// computed on request, never stored.
//
//   /apis/visibility.kueue.x-k8s.io/<version>/clusterqueues/<name>/pendingworkloads
//   /apis/visibility.kueue.x-k8s.io/<version>/namespaces/<ns>/localqueues/<name>/pendingworkloads
//
// with the query options offset and limit. Both versions are the same. Berth's own:
//
//   /apis/visibility.kueue.x-k8s.io/<version>/namespaces/<ns>/workloads/<name>/explanation[?all=true]
//   /apis/visibility.kueue.x-k8s.io/<version>/namespaces/<ns>/workloads/<name>/prediction[?all=true]
//
//   POST /apis/visibility.kueue.x-k8s.io/<version>/whatifs
//   POST /apis/visibility.kueue.x-k8s.io/<version>/namespaces/<ns>/localwhatifs
//
// say what would follow from changes; nothing is stored. The first names objects of all namespaces, so it needs the
// right in all. The second tries jobs of one namespace only and counts what it does to workloads of others. An
// explanation says why a workload waits and what would change that, a prediction when it starts. Objects of other
// namespaces are not named unless `all` is true, which needs the right in all namespaces.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::visibility {

inline constexpr std::string_view kGroup = "visibility.kueue.x-k8s.io";
inline constexpr std::array<std::string_view, 2> kVersions{"v1beta2", "v1beta1"};  // the preferred one first
inline constexpr std::string_view kSummaryKind = "PendingWorkloadsSummary";
inline constexpr std::string_view kSubresource = "pendingworkloads";
inline constexpr std::size_t kDefaultLimit = 1'000;
inline constexpr std::size_t kMaxLimit = 100'000;

// A pending workload. Positions are 0-based, in the order in which workloads are evaluated.
struct PendingWorkload {
  std::shared_ptr<const kueue::Workload> object;
  std::size_t position_in_cluster_queue = 0, position_in_local_queue = 0;
};

// The requested part of a queue.
struct Page {
  std::size_t offset = 0;
  std::size_t limit = kDefaultLimit;
};
// Parses the query options; "" is absent. As in Kueue: a negative offset is 0, a negative limit asks for no items, a
// limit of "0" or an absent one is kDefaultLimit, a limit above kMaxLimit is kMaxLimit. The error names the option
// that is not an integer.
Result<Page> parse_page(std::string_view offset, std::string_view limit);

Json encode_summary(std::string_view version, const std::vector<PendingWorkload>& items);

// The 404 for a queue that does not exist. `resource` is "clusterqueues" or "localqueues".
RestResponse no_such_queue(std::string_view resource, std::string_view name);

// A parsed path of the group. parse_path() returns nullopt for other paths; `segments` are the decoded segments of
// the whole path, with "apis" and the group.
struct Question {
  std::string version;
  std::string ns;  // of a local queue; "" for a cluster queue
  std::string queue;
};
std::optional<Question> parse_path(const std::vector<std::string>& segments);

inline constexpr std::string_view kExplanationKind = "WorkloadExplanation";
inline constexpr std::string_view kExplanation = "explanation";
inline constexpr std::string_view kPredictionKind = "WorkloadPrediction";
inline constexpr std::string_view kPrediction = "prediction";
// A subresource of a workload: an explanation or a prediction.
struct WorkloadPath {
  std::string version, ns, workload;
  std::string_view subresource = kExplanation;
};
std::optional<WorkloadPath> parse_workload_path(const std::vector<std::string>& segments);
// `fields`: of the document.
Json encode_answer(const WorkloadPath& path, Json fields);
// The 404 for a workload that does not exist or has finished.
RestResponse no_such_workload(std::string_view name);

inline constexpr std::string_view kWhatIfKind = "WhatIf";
inline constexpr std::string_view kWhatIfs = "whatifs";
inline constexpr std::string_view kLocalWhatIfKind = "LocalWhatIf";
inline constexpr std::string_view kLocalWhatIfs = "localwhatifs";
// A path of what-ifs.
struct WhatIfPath {
  std::string version;
  std::string ns;  // of a local one; "" for one of the cluster
};
std::optional<WhatIfPath> parse_what_if_path(const std::vector<std::string>& segments);
Json encode_what_if(const WhatIfPath& path, Json status);

bool serves(std::string_view version);

}  // namespace berth::api::visibility
