// Bugs that tests plant, to see whether the simulation finds them: a bug that stays unfound shows what nobody
// looks for. Only builds with BERTH_ASSERTS know them; in others planted() is false for the compiler, and
// nothing of it is left.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace berth {

enum class Planted : std::uint8_t {
  kNone,
  kForgottenWorkload,
  kLostWakeUp,
  kKeptClaim,
  kKeptFinalizer,
  kStaleCache,
  kSecondPassOfEvicted,
  kUnconditionalWrite,
  kOpenDoor,
  kEndlessEviction,
  kSleepingClass,
  kOrphanedRequest,
  kLatePlaces,
  kEventStorm,
  kFlavorOnce,
  kForgottenAnswer,
};

struct PlantedBug {
  Planted bug;
  std::string_view name;  // on the command line
  std::string_view what;  // it does
};
// All but kNone.
std::span<const PlantedBug> planted_bugs();

#ifdef BERTH_ASSERTS
namespace detail {
extern Planted planted_bug;
}
inline bool planted(Planted bug) { return detail::planted_bug == bug; }
// From now on the program has this bug, and no other one of these. Only in tests, before anything runs.
void plant(Planted bug);
#else
constexpr bool planted(Planted /*bug*/) { return false; }
#endif

}  // namespace berth
