// Kueue's feature gates that change where pods are placed; defaults as Kueue's.
#pragma once

namespace berth::engine {

struct TopologyOptions {
  // TASProfileMixed: unconstrained requests use the domains with the least free capacity first
  bool mixed_profile = true;
  bool balanced_placement =
      false;  // TASBalancedPlacement: preferred requests are spread evenly over as few domains as possible
  bool multi_layer = true;     // TASMultiLayerTopology: slices of slices
  bool partial_slices = true;  // TASPartialSlices: the last slice may have fewer pods than the others
  bool grouped_slices = true;  // TASGroupedPodSetSlicing: a leader's workers may be in slices
  // TASNodeFeasibilityForAllLevels: single nodes count also where the lowest level is not the hostname
  bool every_node = true;
  // TASRespectNodeAffinityPreferred: domains whose nodes the pods prefer come first
  bool preferred_affinity = false;
  bool spreading = false;  // TASTopologySpreading: workloads are spread over domains (KEP-13746)
  // SchedulerLibraryIntegration: pods that take the same port of their node go to different nodes
  bool host_ports = false;
};

}  // namespace berth::engine
