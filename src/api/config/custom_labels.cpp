// Reads metrics.customLabels.
#include <algorithm>
#include <set>
#include <string_view>

#include "api/config/parts.h"
#include "api/field_error.h"

namespace berth::api::config {
namespace {

constexpr std::size_t kMostLabels = 20, kMostTrackedValues = 16;
// Each value of a workload's label is a series of each queue, so there are fewer, and all are named.
constexpr std::size_t kMostTrackedOfWorkloads = 12;
struct SourceKind {
  std::string_view name;
  std::size_t most_labels;
};
// In the order of CustomLabel::Kind.
constexpr SourceKind kKinds[] = {{"ClusterQueue", 6}, {"LocalQueue", 6}, {"Cohort", 6}, {"Workload", 2}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_label_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void read_key(Fields& fields, std::string_view name, const std::string& key) {
  if (const std::string broken = check_qualified_name(key); !broken.empty())
    fields.expected(name, Json(key), "the key of a label or an annotation: " + broken);
}

void read_source(Fields& fields, CustomLabel& out) {
  std::string label, annotation;
  fields.text("sourceLabelKey", label);
  fields.text("sourceAnnotationKey", annotation);
  out.from_annotation = label.empty() && !annotation.empty();
  out.key = !label.empty() ? label : !annotation.empty() ? annotation : out.name;
  if (!label.empty() && !annotation.empty())
    return fields.error("sourceAnnotationKey", "cannot be given together with sourceLabelKey; remove one of the two");
  // For a name that is no label name there is an error already.
  if (!label.empty() || !annotation.empty() || is_label_name(out.name))
    read_key(fields, !label.empty() ? "sourceLabelKey" : !annotation.empty() ? "sourceAnnotationKey" : "name", out.key);
}

void read_tracked_values(Fields& fields, CustomLabel::Kind kind, std::vector<std::string>& out) {
  fields.texts("trackedValues", out);
  const bool of_workloads = kind == CustomLabel::Kind::kWorkload;
  const std::size_t most = of_workloads ? kMostTrackedOfWorkloads : kMostTrackedValues;
  if (of_workloads && out.empty())
    fields.error("trackedValues", "is empty, expected 1 to 12 values: sourceKind Workload counts the others as one");
  if (out.size() > most)
    fields.error("trackedValues",
                 "has " + std::to_string(out.size()) + " values, expected at most " + std::to_string(most));
  if (std::set<std::string>(out.begin(), out.end()).size() != out.size())
    fields.error("trackedValues", "names a value twice");
}

CustomLabel read_label(Fields& fields) {
  CustomLabel out;
  fields.text("name", out.name);
  if (!is_label_name(out.name))
    fields.expected("name", Json(out.name), "letters, digits and _, beginning with a letter");
  read_source(fields, out);
  std::string kind;
  fields.text("sourceKind", kind);
  const auto* known = std::ranges::find(kKinds, kind, &SourceKind::name);
  if (known != std::end(kKinds))
    out.kind = static_cast<CustomLabel::Kind>(known - std::begin(kKinds));
  else if (!kind.empty())
    fields.expected("sourceKind", Json(kind), "ClusterQueue, LocalQueue, Cohort or Workload");
  read_tracked_values(fields, out.kind, out.tracked_values);
  fields.done();
  return out;
}

}  // namespace

void read_custom_labels(Fields& metrics, std::vector<CustomLabel>& out) {
  std::vector<Fields> entries = metrics.objects("customLabels");
  if (entries.size() > kMostLabels)
    return metrics.error("customLabels", "has " + std::to_string(entries.size()) + " labels, expected at most " +
                                             std::to_string(kMostLabels));
  for (Fields& entry : entries) {
    CustomLabel label = read_label(entry);
    if (!label.name.empty() && std::ranges::find(out, label.name, &CustomLabel::name) != out.end())
      entry.error("name", "is \"" + label.name + "\", which is the name of another label too");
    out.push_back(std::move(label));
  }
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
    const auto count = std::ranges::count(out, static_cast<CustomLabel::Kind>(kind), &CustomLabel::kind);
    const auto& [name, most] = kKinds[kind];
    if (static_cast<std::size_t>(count) > most)
      metrics.error("customLabels", "has " + std::to_string(count) + " labels of the kind " + std::string(name) +
                                        ", expected at most " + std::to_string(most));
  }
}

}  // namespace berth::api::config
