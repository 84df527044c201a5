// Kueue's feature gates that change where pods are placed; defaults as Kueue's.
#pragma once

namespace berth::engine {

struct TopologyOptions {
  bool mixed_profile = true;  // TASProfileMixed: unconstrained requests fill the fullest domains first
  bool balanced_placement =
      false;  // TASBalancedPlacement: preferred requests are spread evenly over the fewest domains
  bool multi_layer = true;  // TASMultiLayerTopology: slices of slices
};

}  // namespace berth::engine
