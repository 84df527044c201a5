// Templates, classes and slices that an API server would not take, and the charge of a workload that uses them. The
// input is a JSON object with the lists templates, classes and slices, and the pod spec.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/kueue/types.h"
#include "base/assert.h"
#include "jobs/devices/workload_charge.h"

using namespace berth;
using namespace berth::jobs::devices;

namespace {

template <typename T, typename Decode>
ByName<T> decoded(const Json& input, std::string_view list, const Decode& decode) {
  ByName<T> out;
  for (const Json& object : array_at(input, {list})) {
    if (auto value = decode(object)) {
      const std::string key = value->meta.ns.empty() ? value->meta.name : value->meta.ns + "/" + value->meta.name;
      out[key] = std::make_shared<const T>(std::move(*value));
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = parse_json({reinterpret_cast<const char*>(data), size});
  if (!input || !input->is_object()) return 0;
  const auto templates = decoded<api::ResourceClaimTemplate>(*input, "templates", api::decode_resource_claim_template);
  const auto classes = decoded<api::DeviceClass>(*input, "classes", api::decode_device_class);
  const auto slices = decoded<api::ResourceSlice>(*input, "slices", api::decode_resource_slice);
  const Json* spec = find(*input, "spec");

  Rules rules;
  rules.capacities = rules.prioritized_lists = true;
  using Kind = api::config::DeviceSource::Kind;
  rules.mappings = {{"gpus", {"gpu"}, {}},
                    {"memory", {"mig"}, {{Kind::kCounter, "memory", "d", "device.driver == 'd'"}}},
                    {"shares", {"shared"}, {{Kind::kCapacity, "memory", "d", "true"}}}};
  api::kueue::Workload workload;
  workload.meta.ns = "ns";
  workload.pod_sets.emplace_back().template_ =
      std::make_shared<const Json>(JsonObject{{"spec", spec == nullptr ? Json(JsonObject{}) : *spec}});
  Charges charges(rules, Inventory{templates, classes, slices});
  const auto charge = charges.charge(workload, uses_of(workload));
  if (!charge) return 0;
  if (charge->refused.empty() != (charge->pod_sets.size() == workload.pod_sets.size())) BERTH_INVARIANT(false);
  for (const auto& pod_set : charge->pod_sets) {
    for (const auto& [name, amount] : pod_set.per_pod) {
      if (amount.sign() < 0) BERTH_INVARIANT(false);  // it would buy quota
    }
  }
  return 0;
}
