#include "jobs/kinds/hooks/appwrapper.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "api/kueue/topology_annotations.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::PodSet;

constexpr std::string_view kPodSetInfos = "podSetInfos";
// Annotations of a pod set: the labels of its pods with their rank, for topology.
constexpr std::string_view kIndexLabel = "workload.codeflare.dev.appwrapper/tas-pod-index-label",
                           kSubGroupIndexLabel = "workload.codeflare.dev.appwrapper/tas-sub-group-index-label",
                           kSubGroupCount = "workload.codeflare.dev.appwrapper/tas-sub-group-count";

// A pod set of a component.
struct Part {
  Place pod_template;  // in the component
  std::string field;   // how errors name it
  std::int64_t count = 1;
  api::kueue::TopologyRequest labels;  // of the pods, for topology
};

Place joined(Place place, const Place& rest) {
  place.insert(place.end(), rest.begin(), rest.end());
  return place;
}

// "template.spec.tasks[0].template"
Result<Place> parse_place(std::string_view text) {
  Place place;
  const auto wrong = [&] { return fail("must be a path such as template.spec.template"); };
  if (text.ends_with('.')) return wrong();
  while (!text.empty()) {
    if (place.size() >= kMaxSteps) return wrong();
    if (text.front() == '[') {
      std::size_t index = 0;
      const auto [end, broken] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
      if (broken != std::errc() || end == text.data() + text.size() || *end != ']') return wrong();
      place.emplace_back(index);
      text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
      if (!text.empty() && text.front() == '.') text.remove_prefix(1);
      continue;
    }
    const auto end = text.find_first_of(".[");
    if (end == 0) return wrong();
    place.emplace_back(std::string(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (text[end] == '.' ? 1 : 0));
  }
  const auto* first = place.empty() ? nullptr : std::get_if<std::string>(&place.front());
  return first == nullptr || *first != "template" ? wrong() : Result<Place>(std::move(place));
}

api::kueue::TopologyRequest labels_of(const Json& pod_set) {
  api::kueue::TopologyRequest labels;
  labels.pod_index_label = string_at(pod_set, {"annotations", kIndexLabel});
  labels.sub_group_index_label = string_at(pod_set, {"annotations", kSubGroupIndexLabel});
  const auto text = string_at(pod_set, {"annotations", kSubGroupCount});
  std::int32_t count = 0;
  const auto [end, broken] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!text.empty() && broken == std::errc() && end == text.data() + text.size()) labels.sub_group_count = count;
  return labels;
}

// The pod sets that a component names.
void take_named(const Json& component, const std::string& field, std::vector<Part>& parts, FieldErrors& errors) {
  const auto& named = array_at(component, {"podSets"});
  for (std::size_t i = 0; i < named.size() && i <= kMaxPodSets; ++i) {
    Part part;
    part.field = api::index_path(field + ".podSets", i) + ".path";
    const auto path = string_at(named[i], {"path"});
    auto place = parse_place(path);
    if (!place) {
      errors.push_back(api::invalid_value(part.field, Json(path), place.error().message));
      continue;
    }
    part.pod_template = std::move(*place);
    part.count = int_at(named[i], {"replicas"}, 1);
    if (part.count < 0) {
      errors.push_back(api::invalid_value(api::index_path(field + ".podSets", i) + ".replicas", Json(part.count),
                                          "must be greater than or equal to 0"));
      continue;
    }
    part.labels = labels_of(named[i]);
    parts.push_back(std::move(part));
  }
}

// A kind whose pods the operator knows. Others are described.
struct KnownKind {
  std::string_view api_version, kind;
  Path pod_template;
  bool job = false;  // counts as a Job, else by replicas
};
const std::vector<KnownKind>& known_kinds() {
  static const std::vector<KnownKind> kinds = {{"v1", "Pod", {}},
                                               {"apps/v1", "Deployment", {"spec", "template"}},
                                               {"apps/v1", "StatefulSet", {"spec", "template"}},
                                               {"batch/v1", "Job", {"spec", "template"}, true}};
  return kinds;
}
constexpr std::string_view kDescribed[] = {"JobSet", "PyTorchJob", "RayCluster", "RayJob"};

std::int64_t count_of(const KnownKind& kind, const Json& object) {
  if (!kind.job) return kind.pod_template.empty() ? 1 : int_at(object, {"spec", "replicas"}, 1);
  const auto parallelism = int_at(object, {"spec", "parallelism"}, 1);
  return std::min(parallelism, int_at(object, {"spec", "completions"}, parallelism));
}

// Whether the fields that count pods hold numbers: the schema of an AppWrapper does not say what a component is.
bool can_count(const KnownKind& kind, const Json& object, const std::string& field, FieldErrors& errors) {
  const std::size_t before = errors.size();
  for (const std::string_view member : {"replicas", "parallelism", "completions"}) {
    const Json* value = find_path(object, {"spec", member});
    if (kind.pod_template.empty() || kind.job == (member == "replicas") || value == nullptr) continue;
    if (!value->is_null() && !value->is_int64())
      errors.push_back(
          api::invalid_without_value(field + ".template.spec." + std::string(member), "must be a whole number"));
  }
  return errors.size() == before;
}

void take_described(const JobKindSpec& kind, const Json& object, const api::kueue::ObjectGetter& get,
                    const std::string& field, std::vector<Part>& parts, FieldErrors& errors) {
  FieldErrors inner;
  for (const auto& one : find_pod_sets(kind, object, get, inner)) {
    if (one.rule == nullptr) continue;  // the operator does not know pods that other operators add
    Part part;
    part.pod_template = joined(Place{"template"}, one.pod_template);
    part.field = field + "." + to_string(part.pod_template);
    part.count = one.pod_set.count;
    if (one.pod_set.topology_request) part.labels = *one.pod_set.topology_request;
    parts.push_back(std::move(part));
  }
  for (auto& error : inner) {
    error.field = field + ".template." + error.field;
    errors.push_back(std::move(error));
  }
}

// The pod sets of a component that names none, by its kind.
void take_known(const Json& component, const std::vector<JobKindPtr>& all_described,
                const api::kueue::ObjectGetter& get, const std::string& field, std::vector<Part>& parts,
                FieldErrors& errors) {
  static const Json kNothing = JsonObject();
  const Json* wrapped = berth::find(component, "template");
  const Json& object = wrapped != nullptr ? *wrapped : kNothing;
  const auto version = string_at(object, {"apiVersion"}), kind = string_at(object, {"kind"});
  for (const KnownKind& known : known_kinds()) {
    if (known.api_version != version || known.kind != kind) continue;
    if (!can_count(known, object, field, errors)) return;
    Part part;
    part.pod_template = Place{"template"} + known.pod_template;
    part.field = field + "." + to_string(part.pod_template);
    part.count = count_of(known, object);
    if (known.job) part.labels.pod_index_label = "batch.kubernetes.io/job-completion-index";
    return parts.push_back(std::move(part));
  }
  if (std::ranges::find(kDescribed, kind) == std::end(kDescribed)) return;
  for (const auto& described : all_described) {
    if (described->kind == kind && described->api_version() == version)
      return take_described(*described, object, get, field, parts, errors);
  }
}

std::vector<Part> parts_of(const Json& component, const std::vector<JobKindPtr>& all_described,
                           const api::kueue::ObjectGetter& get, const std::string& field, FieldErrors& errors) {
  std::vector<Part> parts;
  if (array_at(component, {"podSets"}).empty()) {
    take_known(component, all_described, get, field, parts, errors);
  } else {
    take_named(component, field, parts, errors);
  }
  return parts;
}

std::optional<FoundPodSet> make(const Json& component, Part part, std::string name, FieldErrors& errors) {
  const Json* pod_template = value_at(component, part.pod_template);
  if (pod_template == nullptr || find(*pod_template, "spec") == nullptr || !find(*pod_template, "spec")->is_object()) {
    errors.push_back(api::invalid_value(part.field, Json(to_string(part.pod_template)), "there is no pod template"));
    return std::nullopt;
  }
  if (part.count < 0 || part.count > std::numeric_limits<std::int32_t>::max()) {
    errors.push_back(api::invalid_value(part.field, Json(part.count), "must be a number from 0 to 2147483647"));
    return std::nullopt;
  }
  FoundPodSet found;
  found.field = std::move(part.field);
  found.pod_set.name = std::move(name);
  found.pod_set.count = static_cast<std::int32_t>(part.count);
  found.pod_set.template_ = user_template(*pod_template);
  auto request = api::kueue::topology_request_of(object_at(*found.pod_set.template_, {"metadata", "annotations"}),
                                                 part.labels.pod_index_label);
  request.sub_group_index_label = part.labels.sub_group_index_label;
  request.sub_group_count = part.labels.sub_group_count;
  found.pod_set.topology_request = std::move(request);
  return found;
}

// What admission wrote beside a component, added to the template of a pod set.
void add_info(Json& pod_template, const Json& info) {
  for (const auto& [part, member] :
       {std::pair("metadata", "labels"), std::pair("metadata", "annotations"), std::pair("spec", "nodeSelector")}) {
    for (const auto& [key, value] : object_at(info, {member}))
      ensure_path(pod_template, {part, member, std::string_view(key.data(), key.size())}) = value;
  }
  for (const std::string_view list : {"tolerations", "schedulingGates"}) {
    if (array_at(info, {list}).empty()) continue;
    JsonArray all = array_at(pod_template, {"spec", list});
    for (const Json& one : array_at(info, {list})) all.push_back(one);
    ensure_path(pod_template, {"spec", list}) = std::move(all);
  }
}

JsonArray* components_of(Json& job) {
  Json* list = const_cast<Json*>(find_path(job, {"spec", "components"}));
  return list != nullptr && list->is_array() ? &list->get_array() : nullptr;
}

class AppWrapperHook final : public KindHook {
 public:
  explicit AppWrapperHook(DescribedKinds described) : described_(described) {}

  void find(const Json& job, const api::kueue::ObjectGetter& get, std::vector<FoundPodSet>& found,
            FieldErrors& errors) const override {
    const auto& components = array_at(job, {"spec", "components"});
    for (std::size_t i = 0; i < components.size() && found.size() <= kMaxPodSets; ++i) {
      for (Part& part : parts_of(components[i], described_(), get, api::index_path("spec.components", i), errors)) {
        const Place at = part.pod_template;
        std::string name = std::string(string_at(job, {"metadata", "name"})) + "-" + std::to_string(found.size());
        auto one = make(components[i], std::move(part), std::move(name), errors);
        if (!one) continue;
        one->item = Place{"spec", "components", i};
        one->annotations = to_string(joined(one->item, at)) + ".metadata.annotations";
        found.push_back(std::move(*one));
      }
    }
  }

  // Each component gets the infos of its pod sets.
  std::optional<Result<void>> start(Json& job, const std::vector<FoundPodSet>& found,
                                    const std::vector<PodSetInfo>& infos) const override {
    restore(job, found, {});
    for (const auto& one : found) {
      const auto info = info_of(infos, one.pod_set.name);
      if (!info) return Result<void>(tl::unexpected(info.error()));
      Json merged = *one.pod_set.template_;
      if (auto possible = merge_into_template(merged, **info); !possible) return possible;
      Json& list = *ensure_at(job, one.item + Path{std::string(kPodSetInfos)});
      if (!list.is_array()) list = JsonArray();
      JsonObject written = metadata_of(**info);
      for (auto& [key, value] : spec_of(**info)) written[key] = std::move(value);
      list.get_array().push_back(std::move(written));
    }
    return Result<void>();
  }

  bool restore(Json& job, const std::vector<FoundPodSet>&, const std::vector<PodSet>&) const override {
    if (JsonArray* components = components_of(job)) {
      for (Json& component : *components) {
        if (component.is_object()) component.get_object().erase(kPodSetInfos);
      }
    }
    return true;
  }

  // The infos of a component are in the order of its pod sets.
  std::optional<Json> running_template(const Json& job, const std::vector<FoundPodSet>& found,
                                       std::size_t at) const override {
    Json made = *found[at].pod_set.template_;
    const auto before = std::count_if(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(at),
                                      [&](const FoundPodSet& one) { return one.item == found[at].item; });
    const Json* component = value_at(job, found[at].item);
    if (component == nullptr) return made;
    const auto& infos = array_at(*component, {kPodSetInfos});
    if (static_cast<std::size_t>(before) < infos.size()) add_info(made, infos[static_cast<std::size_t>(before)]);
    return made;
  }

  std::optional<bool> carries_admission(const Json& job) const override {
    return std::ranges::any_of(array_at(job, {"spec", "components"}),
                               [](const Json& component) { return !array_at(component, {kPodSetInfos}).empty(); });
  }

 private:
  DescribedKinds described_;
};

}  // namespace

std::unique_ptr<const KindHook> app_wrapper_hook(DescribedKinds described) {
  return std::make_unique<const AppWrapperHook>(described);
}

}  // namespace berth::jobs::kinds
