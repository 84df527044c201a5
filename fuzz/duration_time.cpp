// Any bytes as a time and as a duration: a parsed value is printed and parsed again to the same value.
#include "base/assert.h"
#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = berth::parse_duration(text)) {
    const auto again = berth::parse_duration(berth::format_duration(*duration));
    BERTH_INVARIANT(again.has_value() && *again == *duration);
  }
  if (const auto time = berth::parse_time(text)) {
    const std::string printed = berth::format_micro_time(*time);
    const auto again = berth::parse_time(printed);
    // An offset may move the first or last hours of the calendar out of the years with four digits.
    if (printed.size() == 27 && printed[0] != '-') BERTH_INVARIANT(again.has_value() && *again == *time);
  }
  return 0;
}
