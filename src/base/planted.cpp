#include "base/planted.h"

#include <array>

namespace berth {
namespace {

constexpr std::array kBugs = {
    PlantedBug{Planted::kForgottenWorkload, "forgotten-workload",
               "the program ends when a finished workload that nobody owns is deleted"},
    PlantedBug{Planted::kLostWakeUp, "lost-wake-up",
               "an object that changes while it is looked at is not looked at again"},
    PlantedBug{Planted::kKeptClaim, "kept-claim", "a deleted workload keeps its quota"},
    PlantedBug{Planted::kKeptFinalizer, "kept-finalizer", "a flavor that nobody uses any more keeps its finalizer"},
    PlantedBug{Planted::kStaleCache, "stale-cache", "a list does not tell which objects are gone"},
    PlantedBug{Planted::kSecondPassOfEvicted, "second-pass-of-evicted",
               "a workload on its way out is given new places"},
    PlantedBug{Planted::kUnconditionalWrite, "unconditional-write",
               "a status is written whatever version the object has"},
    PlantedBug{Planted::kOpenDoor, "open-door", "webhooks refuse nothing"},
    PlantedBug{Planted::kEndlessEviction, "endless-eviction",
               "nobody tells that the job of an evicted workload has stopped"},
    PlantedBug{Planted::kSleepingClass, "sleeping-class", "parked workloads sleep on when their queue changes"},
    PlantedBug{Planted::kOrphanedRequest, "orphaned-request", "a ProvisioningRequest that nobody needs any more stays"},
    PlantedBug{Planted::kLatePlaces, "late-places", "pods are let go to places that their workload has lost"},
    PlantedBug{Planted::kEventStorm, "event-storm", "an event that is written again is written again at once"},
    PlantedBug{Planted::kFlavorOnce, "flavor-once", "jobs start with a flavor as it was first seen"},
    PlantedBug{Planted::kForgottenAnswer, "forgotten-answer", "a write that failed is never answered"},
    PlantedBug{Planted::kOpenGate, "open-gate", "a pod is let go while its workload waits"},
    PlantedBug{Planted::kEarlySuccessor, "early-successor",
               "a pod of a group is let go while the containers of the pod before it still end"},
    PlantedBug{Planted::kKeptPodFinalizer, "kept-pod-finalizer", "a pod that ended keeps the finalizer"},
    PlantedBug{Planted::kForgottenPod, "forgotten-pod", "a pod whose workload is deleted is not looked at again"},
    PlantedBug{Planted::kKeptOrphan, "kept-orphan", "a workload whose owners are gone stays"},
    PlantedBug{Planted::kKeptTemplate, "kept-template",
               "a job of a described kind that stops keeps what its admission added to its templates"},
    PlantedBug{Planted::kUnnoticedEnd, "unnoticed-end", "the end of a job of a described kind is not noticed"},
    PlantedBug{Planted::kForgottenKind, "forgotten-kind",
               "a kind that was served in another version only is not managed when it comes back"},
    PlantedBug{Planted::kMovedKind, "moved-kind",
               "a kind that is served in another version only counts as uninstalled"},
};

}  // namespace

std::span<const PlantedBug> planted_bugs() { return kBugs; }

#ifdef BERTH_ASSERTS
Planted detail::planted_bug = Planted::kNone;
void plant(Planted bug) { detail::planted_bug = bug; }
#endif

}  // namespace berth
