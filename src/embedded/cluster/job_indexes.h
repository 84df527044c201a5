// Sets of completion indexes, as Jobs write them: "1,3-5,7".
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/#JobStatus
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::cluster {

class IndexSet {
 public:
  // Leaves out indexes of `limit` and above. Stops at the first part that cannot be parsed.
  static IndexSet parse(std::string_view text, std::int64_t limit);
  std::string to_string() const;  // two neighbours as "1,2", more as "1-3"

  void add(std::int64_t index);
  bool contains(std::int64_t index) const;
  std::int64_t count() const;
  bool empty() const { return intervals_.empty(); }
  bool operator==(const IndexSet&) const = default;

 private:
  void add_interval(std::int64_t first, std::int64_t last);
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;  // closed, disjoint and not adjacent, ascending
};

}  // namespace berth::cluster
