// The pods of a placed workload: to which pod set and place they belong, and what state they are in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::jobs {

inline constexpr std::string_view kHostnameLevel = "kubernetes.io/hostname";

// "namespace/name" of the workload that a pod names by its annotation; empty when it was not placed by one.
std::string placed_by(const Json& pod);

bool has_topology_gate(const Json& pod);
bool pod_ended(const Json& pod);  // Succeeded or Failed: it holds nothing any more
bool pod_terminating(const Json& pod);

// Finds the domains of one assignment by their values.
class Domains {
 public:
  explicit Domains(const api::kueue::TopologyAssignment& assignment);

  const api::kueue::TopologyDomain& at(std::size_t domain) const { return assignment_.domains[domain]; }
  std::size_t size() const { return assignment_.domains.size(); }
  std::int64_t pods() const { return ends_.empty() ? 0 : ends_.back(); }  // places in all
  // The domain that the node selector of a pod names; nullopt when it is none of these.
  std::optional<std::size_t> of_pod(const Json& pod) const;
  std::size_t of_rank(std::int64_t rank) const;  // 0 <= rank < pods()
  // The hostname of a domain; empty when the lowest level is another.
  std::string_view hostname(std::size_t domain) const;

 private:
  const api::kueue::TopologyAssignment& assignment_;
  std::vector<std::size_t> by_values_;  // domains ordered by their values
  std::vector<std::int64_t> ends_;      // places up to and with each domain
};

}  // namespace berth::jobs
