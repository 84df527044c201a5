// A book of past usage, for tests.
#pragma once

#include <string>
#include <string_view>

#include "engine/queue/usage_book.h"

namespace berth::engine::usage_books {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr Time kStart{hours(500'000)};

inline api::config::AdmissionFairSharing rules(Duration half_life, Duration interval = minutes(5)) {
  return {true, half_life, interval, {}};
}

struct Book : UsageBook {
  explicit Book(const api::config::AdmissionFairSharing& r = rules(hours(168))) : UsageBook(r) { set_time(kStart); }
  AccountId queue(const std::string& name, std::string_view weight = "1") {
    return open(name, "cq", Quantity::parse(weight)->fraction(), kStart);
  }
  Charges cpu(std::uint64_t milli) { return {{resource("cpu"), milli}}; }
  long double billionths(AccountId queue) { return static_cast<long double>(score(queue).value) / 4294967296.0L; }
};

}  // namespace berth::engine::usage_books
