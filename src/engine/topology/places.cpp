#include "engine/topology/places.h"

namespace berth::engine {

struct Places::Impl {
  Names& names;
  TopologyOptions options;
};

Places::Places(Names& names, TopologyOptions options) : impl_(new Impl{names, options}) {}
Places::~Places() = default;
bool Places::set_node(const api::Node&) { return false; }
bool Places::remove_node(std::string_view) { return false; }
bool Places::set_topology(const api::kueue::Topology&) { return false; }
bool Places::remove_topology(std::string_view) { return false; }
bool Places::set_flavor(FlavorId, const api::kueue::ResourceFlavor&) { return false; }
bool Places::remove_flavor(FlavorId) { return false; }
bool Places::set_pod(const api::PodPlacement&) { return false; }
bool Places::remove_pod(std::string_view) { return false; }
void Places::take(WorkloadId, std::string_view, std::vector<Placed>) {}
void Places::take_stated(WorkloadId, std::string_view, const std::vector<StatedPlaces>&) {}
void Places::give_back(WorkloadId) {}
bool Places::holds(WorkloadId) const { return false; }
void Places::hold(const std::vector<Placed>&) {}
void Places::drop_holds() {}
std::vector<FlavorId> Places::take_reliefs() { return {}; }
bool Places::places_pods(FlavorId) const { return false; }
std::string Places::mismatch(FlavorId, const api::kueue::TopologyRequest*, std::int32_t) const { return ""; }
Placement Places::place(std::span<const PlaceAsk>, bool) { return {}; }
std::string Places::explain(std::span<const PlaceAsk>, const PlaceFailure& failure) { return failure.text; }
Placement Places::replace(std::span<const PlaceAsk>, std::span<const api::kueue::TopologyAssignmentPtr>,
                          std::span<const std::string>) {
  return {};
}
api::kueue::TopologyAssignmentPtr Places::assignment(const Placed&) const { return nullptr; }
Places::Trial::Trial(Places& places) : places_(places), mark_(0) {}
Places::Trial::~Trial() = default;
void Places::Trial::without(WorkloadId) {}
void Places::Trial::again(WorkloadId) {}
void Places::Trial::without_holds() {}
std::vector<std::string> Places::check() const { return {}; }

}  // namespace berth::engine
