// Any bytes as a quantity: the canonical text reads back as the same value, and sums keep the order.
#include "base/quantity.h"

#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto q = berth::Quantity::parse({reinterpret_cast<const char*>(data), size});
  if (!q) return 0;
  const auto again = berth::Quantity::parse(q->to_string());
  BERTH_INVARIANT(again.has_value());
  BERTH_INVARIANT(*again == *q);
  BERTH_INVARIANT((*q - *q).is_zero());
  BERTH_INVARIANT(*q + *q >= *q || q->sign() < 0);
  BERTH_INVARIANT(q->sign() == 0 || (q->value() > 0) == (q->sign() > 0));
  return 0;
}
