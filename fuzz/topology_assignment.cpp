// Any JSON as a topology assignment: decoding never crashes, and a decoded value is the same after encoding and
// decoding.
#include "api/kueue/topology_assignment.h"
#include "base/assert.h"

namespace kueue = berth::api::kueue;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  const auto assignment = kueue::decode_topology_assignment(*value);
  if (!assignment) return 0;
  const auto again = kueue::decode_topology_assignment(kueue::encode_topology_assignment(*assignment));
  BERTH_INVARIANT(again.has_value());
  BERTH_INVARIANT(*again == *assignment);
  return 0;
}
