#include "controller/custom_labels.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace berth::controller {
namespace {

// What Kueue writes for a value that is not among the tracked ones, and for none.
constexpr std::string_view kUntracked = "kueue.x-k8s.io/_UNTRACKED_VALUE_";

MetricLabels part_of(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  MetricLabels part;
  for (std::size_t i = 0; i < names.size(); ++i) part.emplace_back(names[i], values.at(i));
  return part;
}

}  // namespace

MetricLabels CustomLabels::labels_of(Kind kind, const auto& value_of) const {
  MetricLabels out;
  for (const auto& label : labels_) {
    if (label.kind != kind) continue;
    const std::optional<std::string_view> value = value_of(label);
    const auto& tracked = label.tracked_values;
    const bool shown = !value || tracked.empty() || std::ranges::find(tracked, *value) != tracked.end();
    out.emplace_back("custom_" + label.name, shown ? value.value_or("") : kUntracked);
  }
  return out;
}

MetricLabels CustomLabels::labels_of_object(Kind kind, const Json* object) const {
  return labels_of(kind, [&](const api::config::CustomLabel& label) -> std::optional<std::string_view> {
    if (object == nullptr) return std::nullopt;
    return string_at(*object, {"metadata", label.from_annotation ? "annotations" : "labels", label.key});
  });
}

bool CustomLabels::divides_workloads() const {
  return std::ranges::find(labels_, Kind::kWorkload, &api::config::CustomLabel::kind) != labels_.end();
}

MetricLabels CustomLabels::of_workload(const api::ObjectMeta* workload) const {
  return labels_of(Kind::kWorkload, [&](const api::config::CustomLabel& label) -> std::optional<std::string_view> {
    if (workload == nullptr) return std::string_view();
    const auto& values = label.from_annotation ? workload->annotations : workload->labels;
    const auto found = values.find(label.key);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
  });
}

void CustomLabels::cover(Kind kind, const MetricFamily& family, std::vector<std::string> names) {
  MetricLabels none = labels_of_object(kind, nullptr);
  if (none.empty()) return;
  Covered& covered = covered_[kind].emplace_back(Covered{family, std::move(names)});
  covered.family.amend_by(covered.names, std::move(none));
}

void CustomLabels::report(Kind kind, const std::vector<std::string>& values, const Json& object) {
  const auto families = covered_.find(kind);
  if (families == covered_.end()) return;
  MetricLabels now = labels_of_object(kind, &object);
  MetricLabels& reported = reported_[{kind, values}];
  if (reported == now) return;
  for (Covered& each : families->second) each.family.amend(part_of(each.names, values), now);
  reported = std::move(now);
}

void CustomLabels::forget(Kind kind, const std::vector<std::string>& values) {
  const auto families = covered_.find(kind);
  if (families == covered_.end() || reported_.erase({kind, values}) == 0) return;
  for (Covered& each : families->second) each.family.amend_no_more(part_of(each.names, values));
}

}  // namespace berth::controller
