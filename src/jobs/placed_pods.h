// The pods of a workload with a topology assignment: their pod set, their domain and their state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::jobs {

// "namespace/name" of the workload that the pod's annotation names, or of the first slice of its elastic job (KEP-77),
// by which all slices and pods of the job know each other; empty when the pod has no such annotation, and when
// nothing says that it has or wants a place.
std::string placed_by(const Json& pod);

// Of a pod only what the decisions about placed pods read (ungate.h, stuck_pods.h): a fraction of it, since many pods
// run at the same time.
Json placed_pod(const Json& pod);

bool has_topology_gate(const Json& pod);
bool has_elastic_gate(const Json& pod);
bool pod_terminating(const Json& pod);

// Finds the domains of one assignment by their values. The assignment must outlive this object.
class Domains {
 public:
  explicit Domains(const api::kueue::TopologyAssignment& assignment);

  const api::kueue::TopologyDomain& at(std::size_t domain) const { return assignment_.domains[domain]; }
  std::size_t size() const { return assignment_.domains.size(); }
  std::int64_t pods() const { return ends_.empty() ? 0 : ends_.back(); }  // places in all domains
  // The domain that the pod's node selector names; nullopt when the assignment does not have it.
  std::optional<std::size_t> of_pod(const Json& pod) const;
  // The domain of a rank: ranks are assigned to the domains in order.
  std::size_t of_rank(std::int64_t rank) const;  // 0 <= rank < pods()
  // The hostname of a domain; empty when the lowest level is not the hostname.
  std::string_view hostname(std::size_t domain) const;

 private:
  const api::kueue::TopologyAssignment& assignment_;
  std::vector<std::size_t> by_values_;  // domains ordered by their values
  std::vector<std::int64_t> ends_;      // places in this domain and all domains before it
};

}  // namespace berth::jobs
