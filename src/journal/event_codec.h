// Events of the engine as bytes and back, and a checksum of its effects.
//
// An object is stored whole once; its later versions are stored as what differs from the version before. So both
// sides keep the latest version of each object that was stored and is not gone. Records must be read in the order in
// which they were written, from the beginning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/effects.h"
#include "engine/events.h"
#include "engine/options.h"
#include "journal/encode.h"

namespace berth::journal {

using engine::Ptr;

// The numbers of the objects of one kind on the writer's side. The key is a hash of the name: when two names share
// one, the objects only lie farther apart.
template <typename T>
struct WrittenVersions {
  struct Last {
    std::uint32_t number = 0;
    Ptr<T> object;
  };
  std::unordered_map<std::uint64_t, Last> by_key;
  std::vector<std::uint32_t> free;  // numbers of objects that are gone
};
template <typename T>
using ReadVersions = std::vector<Ptr<T>>;  // by number; null: gone

template <template <typename> typename Versions>
using AllVersions = std::tuple<Versions<api::kueue::ClusterQueue>, Versions<api::kueue::Cohort>,
                               Versions<api::kueue::LocalQueue>, Versions<api::kueue::ResourceFlavor>,
                               Versions<api::kueue::AdmissionCheck>, Versions<api::kueue::Topology>,
                               Versions<api::Node>, Versions<api::kueue::PodPlacement>, Versions<api::kueue::Workload>>;

// What a decision did to a workload, for people. kNoted: something else in its status changed.
enum class MonkeyAction : std::uint8_t {
  kNoted,
  kAdmitted,
  kReserved,
  kEvicted,
  kReleased,
  kFinished,
  kDeactivated,
  kExpired
};
std::string_view name(MonkeyAction action);
struct Decision {
  MonkeyAction action = MonkeyAction::kNoted;
  std::string workload;     // "namespace/name"
  std::uint64_t write = 0;  // 0: none
  bool operator==(const Decision&) const = default;
};
MonkeyAction action_of(const engine::WriteWorkloadStatus& write);
// The decisions among the effects, in their order. Messages that only say why a workload waits are none.
std::vector<Decision> decisions_of(const engine::Effects& effects);

// Of all bytes of the effects. `scratch` is overwritten.
std::uint64_t checksum_of(const engine::Effects& effects, std::string& scratch);

class EventEncoder {
 public:
  void put_event(Out& out, const engine::Event& event);

 private:
  AllVersions<WrittenVersions> versions_;
};

class EventDecoder {
 public:
  engine::Event get_event(In& in);  // in.ok() says whether it was read

 private:
  AllVersions<ReadVersions> versions_;
};

// How many kinds of events there are: put_event() begins with a byte below it.
inline constexpr std::size_t kEventKinds = std::variant_size_v<engine::Event>;

}  // namespace berth::journal
