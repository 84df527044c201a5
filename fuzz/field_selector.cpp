// Any bytes as a field selector: parsing ends, and the terms with escaped values parse to the same terms.
#include "api/selector.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto terms = berth::api::parse_field_selector({reinterpret_cast<const char*>(data), size});
  if (!terms) return 0;
  std::string text;
  for (const auto& term : *terms) {
    if (!text.empty()) text += ',';
    text += term.field + (term.equal ? "==" : "!=");
    for (const char c : term.value) {
      if (c == '\\' || c == ',' || c == '=') text += '\\';
      text += c;
    }
  }
  const auto again = berth::api::parse_field_selector(text);
  BERTH_INVARIANT(again.has_value() && again->size() == terms->size());
  for (std::size_t i = 0; i < terms->size(); ++i) {
    BERTH_INVARIANT((*again)[i].field == (*terms)[i].field);
    BERTH_INVARIANT((*again)[i].value == (*terms)[i].value && (*again)[i].equal == (*terms)[i].equal);
  }
  return 0;
}
