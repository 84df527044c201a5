// Bugs that tests plant to see whether the simulation finds them: a bug that is not found shows that a check is
// missing. Only builds with BERTH_ASSERTS contain them; in other builds planted() is a constant false, and the
// compiler removes the code behind it.
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
  kOpenGate,
  kEarlySuccessor,
  kKeptPodFinalizer,
  kForgottenPod,
  kKeptOrphan,
  kKeptTemplate,
  kUnnoticedEnd,
  kForgottenKind,
  kMovedKind,
};

struct PlantedBug {
  Planted bug;
  std::string_view name;  // on the command line
  std::string_view what;  // what the bug does
};
// All but kNone.
std::span<const PlantedBug> planted_bugs();

#ifdef BERTH_ASSERTS
namespace detail {
extern Planted planted_bug;
}
inline bool planted(Planted bug) { return detail::planted_bug == bug; }
// Turns this bug on and all others off. Call it only in tests, before anything runs.
void plant(Planted bug);
#else
constexpr bool planted(Planted /*bug*/) { return false; }
#endif

}  // namespace berth
