// What the workloads of each queue hold, and how many they are: sums that follow every change, so that a queue's status
// costs no walk over its workloads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/queue/workload.h"

namespace berth::engine {

// What one workload holds.
struct HeldAmounts {
  std::vector<Holding::Amount> amounts;
  bool admitted = false;
};

class HeldSums {
 public:
  __extension__ typedef __int128 Sum;  // of counts: never overflows, so what was added can be subtracted again
  struct Total {
    std::string flavor, resource;
    Sum reserved = 0, used = 0;  // used: by admitted workloads
    std::int32_t holders = 0;
  };
  struct OfQueue {
    std::vector<Total> totals;  // in the order in which they came
    std::int32_t reserving = 0, admitted = 0;
  };

  void add(const std::string& queue, const HeldAmounts& held);
  void subtract(const std::string& queue, const HeldAmounts& held);
  const OfQueue& of(std::string_view queue) const;
  // Whether both have the same sums, in any order.
  static bool same(const OfQueue& a, const OfQueue& b);

 private:
  std::map<std::string, OfQueue, std::less<>> queues_;  // those with holders
};

// What waiting workloads request, by resource; one with a zero sum and no workload is left out.
class AskedSums {
 public:
  struct Total {
    HeldSums::Sum sum = 0;
    std::size_t workloads = 0;
    bool operator==(const Total&) const = default;
  };
  using OfQueue = std::map<std::string, Total, std::less<>>;

  void add(const std::string& queue, const std::vector<PodSetRequest>& pod_sets);
  void subtract(const std::string& queue, const std::vector<PodSetRequest>& pod_sets);
  const OfQueue& of(std::string_view queue) const;

 private:
  std::map<std::string, OfQueue, std::less<>> queues_;
};

// The sum as an amount: saturates.
Amount to_amount(HeldSums::Sum sum);

}  // namespace berth::engine
