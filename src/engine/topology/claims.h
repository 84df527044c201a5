// The claims of workloads, and capacity that is reserved for a while.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/topology/holders.h"
#include "engine/topology/leaf_domains.h"
#include "engine/topology/places.h"
#include "engine/topology/requests.h"
#include "engine/topology/views.h"

namespace berth::engine::topology {

class Claims {
 public:
  Claims(RequestPool& requests, LeafDomains& leaves, Views& views, Holders& holders)
      : requests_(requests), leaves_(leaves), views_(views), holders_(holders) {}

  // The workload's claim becomes these places, for the holder of this name.
  void take(WorkloadId workload, std::string_view holder, std::span<const Placed> placed,
            Places::Labels labels = nullptr);
  void give_back(WorkloadId workload);
  // `holder`: kHolds or kAssumed. No view becomes relieved by this.
  void reserve(HolderId holder, RequestId request, std::span<const Place> places);
  void unreserve(HolderId holder);

 private:
  void change(HolderId holder, const ClaimPart& part, std::int32_t sign);
  std::vector<ClaimPart> parts_of(WorkloadId workload, HolderId holder);  // removed from the holder's list
  void drop(HolderId holder, const std::vector<ClaimPart>& parts);

  RequestPool& requests_;
  LeafDomains& leaves_;
  Views& views_;
  Holders& holders_;
};

}  // namespace berth::engine::topology
