// The group visibility.kueue.x-k8s.io: who waits in a queue and where, told when asked (KEP-168-2; kueue.md 1.11). Nothing of it
// is stored.
//
//   /apis/visibility.kueue.x-k8s.io/<version>/clusterqueues/<name>/pendingworkloads
//   /apis/visibility.kueue.x-k8s.io/<version>/namespaces/<ns>/localqueues/<name>/pendingworkloads
//
// with the query options offset and limit. Both versions are alike.
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

// A workload that waits. Positions are 0-based, in the order in which workloads are evaluated.
struct PendingWorkload {
  std::shared_ptr<const kueue::Workload> object;
  std::size_t position_in_cluster_queue = 0, position_in_local_queue = 0;
};

// Which part of a queue is asked for.
struct Page {
  std::size_t offset = 0;
  std::size_t limit = kDefaultLimit;
};
// From the texts of the query options; "" is absent. As Kueue: negative numbers count as 0, a limit that is "0" or absent is the
// default, one above kMaxLimit is kMaxLimit. The error names the option that is no whole number.
Result<Page> parse_page(std::string_view offset, std::string_view limit);

Json encode_summary(std::string_view version, const std::vector<PendingWorkload>& items);

// 404 for a queue that is not there. `resource` is "clusterqueues" or "localqueues".
RestResponse no_such_queue(std::string_view resource, std::string_view name);

// What is asked below the group: nullopt for paths that mean nothing in it. `segments` are the decoded parts of the path,
// "apis" and the group among them.
struct Question {
  std::string version;
  std::string ns;  // of a local queue; "" for a cluster queue
  std::string queue;
};
std::optional<Question> parse_path(const std::vector<std::string>& segments);

bool serves(std::string_view version);

}  // namespace berth::api::visibility
