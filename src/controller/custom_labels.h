// Labels and annotations of queues, cohorts and workloads as labels of metrics (KEP-7066), chosen by the Configuration:
// metrics.customLabels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/config/servers.h"
#include "api/meta.h"
#include "base/json.h"
#include "base/metrics.h"

namespace berth::controller {

class CustomLabels {
 public:
  using Kind = api::config::CustomLabel::Kind;
  explicit CustomLabels(std::vector<api::config::CustomLabel> labels) : labels_(std::move(labels)) {}

  // The series of this family are those of an object of the kind, which their labels of these names identify. A
  // series of no known object has empty values. Call before the family has series.
  void cover(Kind kind, const MetricFamily& family, std::vector<std::string> names);
  // The object as it is stored. `values`: its values of the names given to cover(). When a label changed, the series
  // of the object move with their values.
  void report(Kind kind, const std::vector<std::string>& values, const Json& object);
  void forget(Kind kind, const std::vector<std::string>& values);

  bool divides_workloads() const;  // there are labels of workloads
  // Those of a workload; null: of one without labels.
  MetricLabels of_workload(const api::ObjectMeta* workload) const;

 private:
  struct Covered {
    MetricFamily family;
    std::vector<std::string> names;
  };
  // `value_of(label)`: the object's own value; "": none. nullopt: the object is unknown.
  MetricLabels labels_of(Kind kind, const auto& value_of) const;
  MetricLabels labels_of_object(Kind kind, const Json* object) const;  // null: the values of no object

  std::vector<api::config::CustomLabel> labels_;
  std::map<Kind, std::vector<Covered>> covered_;
  std::map<std::pair<Kind, std::vector<std::string>>, MetricLabels> reported_;
};

}  // namespace berth::controller
