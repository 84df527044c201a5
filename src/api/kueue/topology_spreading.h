// The annotation kueue.x-k8s.io/podset-topology-spreading of a pod template (KEP-13746): workloads of one group are
// spread over the domains of a topology.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// The type and the reason of the condition of a workload with a rule whose key is no level of the topology.
inline constexpr std::string_view kTopologySpreadKeyNotFound = "TopologySpreadKeyNotFound";

struct SpreadingRule {
  std::string topology_key;     // label of a level
  std::int32_t most_share = 0;  // in thousandths, 1 to 1000: a domain that holds more gets no further pod set
  bool preferred = false;       // such a domain gets one if no other domain can
  bool operator==(const SpreadingRule&) const = default;
};

struct TopologySpreading {
  std::string ns;  // whose workloads count; set by the reader of the annotation
  // The workloads that count have one of these values in this label.
  std::string label;
  std::vector<std::string> values;
  std::vector<SpreadingRule> rules;  // one or two, of different levels
  bool counts(const StringMap& labels) const;
  bool operator==(const TopologySpreading&) const = default;
};

// Without `workloadLabelSelectors` the label is kueue.x-k8s.io/job-uid and `values` is empty.
// Errors: not JSON of this form; the text says what is expected.
Result<TopologySpreading> parse_topology_spreading(std::string_view text);

// Appends an error when the annotation is malformed, or when the pods do not ask for places in one required domain: a
// pod set counts as being in one domain. Says nothing about what was so in `before`, the annotations before an update
// (null: a new object). `path` is the path of the annotations.
void check_topology_spreading(const JsonObject& annotations, const JsonObject* before, const std::string& path,
                              FieldErrors& errors);

}  // namespace berth::api::kueue
