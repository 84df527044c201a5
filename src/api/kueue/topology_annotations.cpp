#include "api/kueue/topology_annotations.h"

#include <algorithm>
#include <charconv>

#include "api/kueue/names.h"

namespace berth::api::kueue {
namespace {

// Bounds of the Workload schema.
constexpr std::size_t kMaxLevelLength = 63;
constexpr std::size_t kMaxGroupNameLength = 256;
constexpr std::size_t kMaxLayers = 3;
constexpr std::string_view kAtLeastOne = "must be greater than or equal to 1";
constexpr std::string_view kModes[] = {kRequiredTopology, kPreferredTopology, kUnconstrainedTopology};

std::optional<std::string_view> text(const JsonObject& annotations, std::string_view key) {
  const Json* value = annotations.if_contains(boost::json::string_view(key.data(), key.size()));
  if (!value || !value->is_string()) return std::nullopt;
  return view(value->get_string());
}

std::optional<std::int64_t> integer(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The spellings that Go's strconv.ParseBool accepts.
std::optional<bool> boolean(std::string_view word) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (word == yes) return true;
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
    if (word == no) return false;
  return std::nullopt;
}

std::string when(std::string_view other) { return "when '" + std::string(other) + "' is specified"; }

std::string names_of_modes() {
  std::string out;
  for (const auto name : kModes) out.append(out.empty() ? "[\"" : ", \"").append(name).append("\"");
  return out + "]";
}

void check_level(std::string_view level, const std::string& path, FieldErrors& errors) {
  if (const std::string broken = check_qualified_name(level); !broken.empty()) {
    errors.push_back(invalid_value(path, Json(level), broken));
  } else if (level.size() > kMaxLevelLength) {
    errors.push_back(invalid_value(path, Json(level), "must be no more than 63 characters"));
  }
}

using PodCount = std::optional<std::int64_t>;  // nullopt: not known yet

// Checks the size of a slice: at most the pod set's count. The last slice may be smaller, but not when slices have
// layers inside.
void check_size(std::int64_t size, PodCount pods, bool layers_inside, const Json& shown, const std::string& path,
                FieldErrors& errors) {
  if (!pods) return;
  const std::string of = "pod set count " + std::to_string(*pods);
  if (size > *pods) {
    errors.push_back(invalid_value(path, shown, "must not be greater than " + of));
  } else if (layers_inside && *pods % size != 0) {
    errors.push_back(invalid_value(path, shown, "must evenly divide " + of + " when more than one layer is specified"));
  }
}

void check_two_fields(const JsonObject& annotations, PodCount count, const std::string& path, FieldErrors& errors) {
  const auto slice = text(annotations, kSliceRequiredTopology), size = text(annotations, kSliceSize);
  const std::string at = key_path(path, kSliceSize);
  if (slice) check_level(*slice, key_path(path, kSliceRequiredTopology), errors);
  const auto pods = size ? integer(*size) : std::nullopt;
  if (size && !pods) {
    errors.push_back(invalid_value(at, Json(*size), "must be a numeric value"));
  } else if (pods && *pods < 1) {
    errors.push_back(invalid_value(at, Json(*size), std::string(kAtLeastOne)));
  }
  if (slice && !size) errors.push_back(required(at, "must be set " + when(kSliceRequiredTopology)));
  if (!slice && size)
    errors.push_back(
        forbidden_field(at, "may not be set when '" + std::string(kSliceRequiredTopology) + "' is not specified"));
  if (pods && *pods >= 1) check_size(*pods, count, false, Json(*size), at, errors);
}

// Checks one layer of nested slices without its size ratio. `above`: the levels of the outer layers. `at`: the path
// of the annotation.
void check_layer(const Json& layer, const std::vector<std::string_view>& above, const std::string& at,
                 FieldErrors& errors) {
  const std::string path = index_path(at, above.size());
  const auto level = string_at(layer, {"topology"});
  if (level.empty()) {
    errors.push_back(required(path + ".topology", "must name a level"));
  } else {
    check_level(level, path + ".topology", errors);
  }
  if (int_at(layer, {"size"}) < 1) {
    const Json* shown = find(layer, "size");
    errors.push_back(invalid_value(path + ".size", shown ? *shown : Json(), std::string(kAtLeastOne)));
  }
  if (level.empty()) return;
  if (const auto same = std::find(above.begin(), above.end(), level); same != above.end())
    errors.push_back(duplicate(path + ".topology", Json(std::string(level) + " (also at index " +
                                                        std::to_string(same - above.begin()) + ")")));
}

// The size of each layer must divide the size of the layer above it.
void check_layer_sizes(const JsonArray& layers, PodCount count, const std::string& at, FieldErrors& errors) {
  PodCount whole = count;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t size = int_at(layers[i], {"size"});
    if (size < 1) continue;
    if (i == 0) {
      check_size(size, whole, layers.size() > 1, Json(size), at, errors);
    } else if (whole && *whole % size != 0) {
      errors.push_back(invalid_value(index_path(at, i) + ".size", Json(size),
                                     "must evenly divide the parent layer size " + std::to_string(*whole)));
    }
    whole = size;
  }
}

void check_layers(std::string_view value, PodCount count, const std::string& at, FieldErrors& errors) {
  const auto parsed = parse_json(value);
  if (!parsed || !parsed->is_array()) {
    errors.push_back(
        invalid_value(at, Json(value), R"(must be a valid JSON array, such as [{"topology": "rack", "size": 4}])"));
    return;
  }
  const JsonArray& layers = parsed->get_array();
  if (layers.empty() || layers.size() > kMaxLayers) {
    errors.push_back(invalid_value(at, Json(value), "topology constraints must contain between 1 and 3 entries"));
    return;
  }
  std::vector<std::string_view> above;
  for (const Json& layer : layers) {
    check_layer(layer, above, at, errors);
    above.push_back(string_at(layer, {"topology"}));
  }
  check_layer_sizes(layers, count, at, errors);
}

void check_constraints(const JsonObject& annotations, PodCount count, const std::string& path, FieldErrors& errors) {
  const auto value = text(annotations, kSliceConstraints);
  if (!value) return;
  const std::string at = key_path(path, kSliceConstraints);
  for (const std::string_view other : {kSliceRequiredTopology, kSliceSize}) {
    if (text(annotations, other)) errors.push_back(forbidden_field(at, "may not be set " + when(other)));
  }
  check_layers(*value, count, at, errors);
}

void check_group(const JsonObject& annotations, const std::string& path, FieldErrors& errors) {
  const auto name = text(annotations, kPodSetGroupName);
  if (!name) return;
  const std::string at = key_path(path, kPodSetGroupName);
  if (name->empty() || name->size() > kMaxGroupNameLength)
    errors.push_back(invalid_value(at, Json(*name), "must have 1 to 256 characters"));
  if (integer(*name)) errors.push_back(invalid_value(at, Json(*name), "must not be a number"));
  if (!text(annotations, kRequiredTopology) && !text(annotations, kPreferredTopology))
    errors.push_back(forbidden_field(at, "may not be set when neither '" + std::string(kPreferredTopology) + "' nor '" +
                                             std::string(kRequiredTopology) + "' is specified"));
}

std::vector<SliceLayer> layers_of(std::string_view constraints) {
  std::vector<SliceLayer> out;
  const auto layers = parse_json(constraints);
  if (!layers || !layers->is_array()) return out;
  for (const Json& layer : layers->get_array()) {
    const auto size = int_at(layer, {"size"});
    const auto level = string_at(layer, {"topology"});
    if (level.empty() || size < 1 || size > INT32_MAX) return {};
    out.push_back({std::string(level), static_cast<std::int32_t>(size)});
  }
  return out;
}

}  // namespace

void check_topology_annotations(const JsonObject& annotations, std::optional<std::int64_t> count,
                                const std::string& path, FieldErrors& errors) {
  const auto modes = std::count_if(std::begin(kModes), std::end(kModes),
                                   [&](std::string_view key) { return text(annotations, key).has_value(); });
  if (modes > 1)
    errors.push_back(
        invalid_without_value(path, "must not contain more than one topology annotation: " + names_of_modes()));
  for (const std::string_view key : {kRequiredTopology, kPreferredTopology}) {
    if (const auto level = text(annotations, key)) check_level(*level, key_path(path, key), errors);
  }
  if (const auto flag = text(annotations, kUnconstrainedTopology); flag && !boolean(*flag))
    errors.push_back(invalid_value(key_path(path, kUnconstrainedTopology), Json(*flag), "must be a boolean value"));
  check_two_fields(annotations, count, path, errors);
  check_group(annotations, path, errors);
  check_constraints(annotations, count, path, errors);
}

TopologyRequest topology_request_of(const JsonObject& annotations, std::string_view pod_index_label) {
  TopologyRequest request;
  request.pod_index_label = pod_index_label;
  if (const auto level = text(annotations, kRequiredTopology)) {
    request.required = *level;
  } else if (const auto wish = text(annotations, kPreferredTopology)) {
    request.preferred = *wish;
  } else if (const auto flag = text(annotations, kUnconstrainedTopology)) {
    request.unconstrained = boolean(*flag);
  }
  if (request.required || request.preferred)
    request.pod_set_group_name = text(annotations, kPodSetGroupName).value_or(std::string_view());
  if (const auto layers = text(annotations, kSliceConstraints)) request.slice_constraints = layers_of(*layers);
  if (!request.slice_constraints.empty()) return request;
  request.slice_required_topology = text(annotations, kSliceRequiredTopology).value_or(std::string_view());
  if (const auto size = integer(text(annotations, kSliceSize).value_or(std::string_view()));
      size && *size >= 1 && *size <= INT32_MAX)
    request.slice_size = static_cast<std::int32_t>(*size);
  return request;
}

void check_unconstrained_flag(const JsonObject& annotations, const JsonObject* before, const std::string& path,
                              FieldErrors& errors) {
  const auto flag = text(annotations, kUnconstrainedTopology);
  if (!flag || boolean(*flag).value_or(true)) return;
  if (before != nullptr && text(*before, kUnconstrainedTopology) == flag) return;
  errors.push_back(invalid_value(key_path(path, kUnconstrainedTopology), Json(*flag),
                                 "must be true; without the annotation the pods ask for no places"));
}

bool names_topology_mode(const JsonObject& annotations) {
  return std::any_of(std::begin(kModes), std::end(kModes),
                     [&](std::string_view key) { return text(annotations, key).has_value(); });
}

}  // namespace berth::api::kueue
