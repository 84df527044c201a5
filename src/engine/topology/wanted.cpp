// Translates topology requests to the levels of a topology.
#include "engine/topology/wanted.h"

#include <fmt/format.h>

namespace berth::engine::topology {

namespace {

using api::kueue::SliceLayer;
using api::kueue::TopologyRequest;
using Malformed = tl::unexpected<std::string>;

constexpr std::size_t kMaxLayers = 3;

Malformed no_such_level(const std::string& flavor) {
  return Malformed(fmt::format("Flavor \"{}\" does not contain the requested level", flavor));
}

// Both API forms of slices as one list, coarsest first.
tl::expected<std::vector<SliceLayer>, std::string> layers_of(const TopologyRequest& request,
                                                             const TopologyOptions& options) {
  const bool two_fields = !request.slice_required_topology.empty() || request.slice_size;
  if (two_fields && !request.slice_constraints.empty()) {
    return Malformed(
        "slices are asked for twice: use either podsetSliceRequiredTopology and podsetSliceSize, or "
        "constraints");
  }
  if (!options.grouped_slices && !request.pod_set_group_name.empty() &&
      (two_fields || !request.slice_constraints.empty())) {
    return Malformed("slices in a group of pod sets need the feature gate TASGroupedPodSetSlicing");
  }
  if (two_fields) {
    if (request.slice_required_topology.empty() || !request.slice_size) {
      return Malformed(
          "slices need both a topology level and a size: set podsetSliceRequiredTopology and "
          "podsetSliceSize");
    }
    return std::vector<SliceLayer>{{request.slice_required_topology, *request.slice_size}};
  }
  if (request.slice_constraints.size() > kMaxLayers) {
    return Malformed(fmt::format("{} layers of slices are asked for, at most {} are possible",
                                 request.slice_constraints.size(), kMaxLayers));
  }
  if (request.slice_constraints.size() > 1 && !options.multi_layer) {
    return Malformed("slices of slices need the feature gate TASMultiLayerTopology");
  }
  return request.slice_constraints;
}

// Whether the last slice may be smaller than the others. Slices of slices are all of one size.
bool last_may_be_smaller(const std::vector<SliceLayer>& layers, const TopologyOptions& options) {
  return options.partial_slices && layers.size() == 1;
}

// Sets levels and sizes of the layers; each is inside the previous one.
tl::expected<void, std::string> set_layers(Wanted& wanted, const View& view, const std::string& flavor,
                                           const std::vector<SliceLayer>& layers, std::int32_t count,
                                           const TopologyOptions& options) {
  std::size_t above = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& [topology, size] = layers[i];
    const int found = view.find_level(topology);
    if (found < 0) return no_such_level(flavor);
    const auto level = static_cast<std::size_t>(found);
    const std::int32_t whole = i == 0 ? count : layers[i - 1].size;
    if (size < 1 || (whole % size != 0 && !last_may_be_smaller(layers, options))) {
      return Malformed(fmt::format(
          "podset slice size {} at {} does not divide {}: change the size or the number of pods", size, topology,
          i == 0 ? fmt::format("the {} pods of the pod set", count)
                 : fmt::format("the slice size {} at {}", whole, layers[i - 1].topology)));
    }
    if (i == 0) {
      if (level < wanted.level) {
        return Malformed(fmt::format("podset slice topology {} is above the podset topology {}", topology,
                                     view.levels()[wanted.level]));
      }
      wanted.slice_level = level;
      wanted.slice_size = size;
    } else {
      if (level <= above) {
        return Malformed(fmt::format("podset slice topology {} is not below the podset slice topology {}", topology,
                                     layers[i - 1].topology));
      }
      for (std::size_t inner = above + 1; inner <= level; ++inner) wanted.inner[inner] = size;
      wanted.layered = true;
    }
    above = level;
  }
  return {};
}

}  // namespace

tl::expected<Wanted, std::string> understand(const View& view, const std::string& flavor,
                                             const TopologyRequest* request, std::int32_t count,
                                             const TopologyOptions& options) {
  Wanted wanted;
  wanted.level = wanted.slice_level = view.leaf_level();
  wanted.inner.assign(view.levels().size(), 1);
  if (!request || !request->explicit_request()) {
    wanted.unconstrained = true;
    return wanted;
  }
  const auto layers = layers_of(*request, options);
  if (!layers) return Malformed(layers.error());
  const std::optional<std::string>& asked = request->required ? request->required : request->preferred;
  if (asked) {
    const int level = view.find_level(*asked);
    if (level < 0) return no_such_level(flavor);
    wanted.level = static_cast<std::size_t>(level);
    wanted.required = request->required.has_value();
  } else {
    wanted.unconstrained = true;
    if (!layers->empty()) wanted.level = 0;
  }
  if (auto fine = set_layers(wanted, view, flavor, *layers, count, options); !fine) return Malformed(fine.error());
  return wanted;
}

}  // namespace berth::engine::topology
