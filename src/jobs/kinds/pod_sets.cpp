#include "jobs/kinds/pod_sets.h"

#include <limits>
#include <set>
#include <utility>

#include "api/core/pod_amounts.h"
#include "api/kueue/topology_annotations.h"
#include "api/kueue/topology_spreading.h"
#include "jobs/kinds/hook.h"
#include "jobs/kinds/pod_set_groups.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::PodSet;

class Finder {
 public:
  Finder(const Json& job, Templates templates, FieldErrors& errors)
      : job_(job), templates_(templates), errors_(errors) {}

  void find(const PodSetRule& rule, std::vector<FoundPodSet>& out) {
    if (rule.items.empty()) return take(rule, Place() + rule.item, 0, out);
    const Json* list = value_at(job_, rule.items);
    if (list == nullptr || !list->is_array()) return;
    // Counted before the items are looked at: a list may have thousands.
    if (const std::size_t count = out.size() + list->get_array().size(); count > kMaxPodSets) {
      errors_.push_back(api::too_many(to_string(Place() + rule.items), count, kMaxPodSets));
      return;
    }
    for (std::size_t i = 0; i < list->get_array().size(); ++i) take(rule, Place() + rule.items + i, i, out);
  }

 private:
  void take(const PodSetRule& rule, Place item, std::size_t index, std::vector<FoundPodSet>& out) {
    const Json* value = value_at(job_, item);
    if (value == nullptr || value->is_null()) return;
    FoundPodSet found;
    found.rule = &rule;
    found.index = index;
    found.pod_template = item + rule.pod_template;
    if (!rule.count_field.empty()) found.count = item + rule.count_field;
    found.field = rule.field.empty() ? to_string(found.pod_template) : rule.field;
    found.item = std::move(item);
    const Scope scope(job_, *value, index);
    if (const auto when = rule.when ? rule.when.truth(scope) : Result<bool>(true); !when) {
      return error(found, when.error());
    } else if (!*when) {
      return;
    }
    if (fill(rule, scope, found)) out.push_back(std::move(found));
  }

  bool fill(const PodSetRule& rule, const Scope& scope, FoundPodSet& found) {
    const Json* pod_template = value_at(job_, found.pod_template);
    if (pod_template == nullptr || !pod_template->is_object() || !is_object_at(*pod_template, "spec")) {
      errors_.push_back(api::required(found.field, "a pod template with a spec"));
      return false;
    }
    PodSet& pod_set = found.pod_set;
    const auto name = rule.name_from ? rule.name_from.text(scope) : Result<std::string>(rule.name);
    const auto count = number(rule.count, "the number of its pods", scope, 1);
    const auto min_count = number(rule.min_count, "the minimum of its pods", scope, 0);
    const auto sub_groups = number(rule.sub_group_count, "the number of groups of its pods", scope, 0);
    for (const Error* why : {name ? nullptr : &name.error(), count ? nullptr : &count.error(),
                             min_count ? nullptr : &min_count.error(), sub_groups ? nullptr : &sub_groups.error()}) {
      if (why == nullptr) continue;
      error(found, *why);
      return false;
    }
    pod_set.name = *name;
    pod_set.count = *count;
    if (*min_count >= 1) pod_set.min_count = *min_count;
    if (templates_ == Templates::kLeftOut) return true;
    pod_set.template_ = user_template(*pod_template);
    api::kueue::TopologyRequest request = api::kueue::topology_request_of(
        object_at(*pod_set.template_, {"metadata", "annotations"}), rule.pod_index_label);
    request.sub_group_index_label = rule.sub_group_index_label;
    if (rule.sub_group_count) request.sub_group_count = *sub_groups;
    pod_set.topology_request = std::move(request);
    return true;
  }

  static bool is_object_at(const Json& value, std::string_view name) {
    const Json* member = berth::find(value, name);
    return member != nullptr && member->is_object();
  }

  static Result<std::int32_t> number(const Expression& expression, std::string_view what, const Scope& scope,
                                     std::int32_t otherwise) {
    if (!expression) return otherwise;
    const auto value = expression.number(scope);
    if (!value) return tl::unexpected(value.error());
    if (*value < 0 || *value > std::numeric_limits<std::int32_t>::max())
      return fail(std::string(what) + " is " + std::to_string(*value) +
                  ", expected a number from 0 to 2147483647; it is \"" + expression.shown() + "\"");
    return static_cast<std::int32_t>(*value);
  }

  void error(const FoundPodSet& found, const Error& why) {
    errors_.push_back(api::invalid_without_value(found.field, why.message));
  }

  const Json& job_;
  const Templates templates_;
  FieldErrors& errors_;
};

// Drops pod sets whose name no workload can have.
void check_names(std::vector<FoundPodSet>& found, FieldErrors& errors) {
  std::set<std::string> names;
  std::erase_if(found, [&](const FoundPodSet& one) {
    const std::string broken = api::check_dns_label(one.pod_set.name);
    if (!broken.empty()) {
      errors.push_back(api::invalid_value(one.field, Json(one.pod_set.name), "the name of its pod set: " + broken));
    } else if (!names.insert(one.pod_set.name).second) {
      errors.push_back(api::duplicate(one.field, Json(one.pod_set.name)));
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace

std::vector<FoundPodSet> find_pod_sets(const JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get,
                                       FieldErrors& errors, Templates templates) {
  std::vector<FoundPodSet> found;
  Finder finder(job, templates, errors);
  for (const auto& rule : kind.pod_sets) finder.find(rule, found);
  if (kind.hook != nullptr) kind.hook->find(job, get, found, errors);
  for (auto& one : found) {
    auto& request = one.pod_set.topology_request;
    if (request && *request == api::kueue::TopologyRequest()) request.reset();
  }
  check_names(found, errors);
  if (found.size() > kMaxPodSets) errors.push_back(api::too_many("spec", found.size(), kMaxPodSets));
  if (found.empty() && errors.empty())
    errors.push_back(api::required("spec", "at least one pod template, from which the workload is made"));
  return found;
}

void check_pod_sets(const JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get, FieldErrors& errors,
                    const api::kueue::LabelRules& rules) {
  const auto found = find_pod_sets(kind, job, get, errors);
  for (const auto& one : found) {
    const std::size_t before = errors.size();
    const JsonObject& annotations = object_at(*one.pod_set.template_, {"metadata", "annotations"});
    api::kueue::check_topology_annotations(annotations, one.pod_set.count, annotations_path(one), errors);
    if (rules.refuse_false_unconstrained)
      api::kueue::check_unconstrained_flag(annotations, nullptr, annotations_path(one), errors);
    if (rules.check_spreading)
      api::kueue::check_topology_spreading(annotations, nullptr, annotations_path(one), errors);
    for (std::size_t i = before; i < errors.size(); ++i) errors[i].message += one.advice;
    if (const Json* spec = find(*one.pod_set.template_, "spec"))
      api::check_pod_amounts(*spec, one.field + ".spec", errors);
  }
  check_pod_set_groups(found, errors);
}

Scope scope_of(const FoundPodSet& found, const Json& job) {
  const Json* item = value_at(job, found.item);
  return {job, item != nullptr ? *item : job, found.index};
}

}  // namespace berth::jobs::kinds
