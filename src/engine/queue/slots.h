// The workloads that the scheduler knows, by slot.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rare.h"
#include "base/time.h"
#include "engine/queue/shape.h"
#include "engine/queue/usage_book.h"
#include "engine/queue/workload.h"
#include "engine/quota/ids.h"
#include "engine/topology/places.h"
#include "engine/topology/strings.h"

namespace berth::engine {

using ClassId = Id<struct ClassTag>;  // a class of equivalent pending workloads of one queue

using LocalQueueId = topology::StringId;  // "namespace/name" of a local queue

// How far the walk over flavors got, by step of the plan: the index tried last; -1 after the last flavor (KEP-582).
struct FlavorScan {
  std::vector<std::int32_t> tried;
  std::uint64_t cycle = 0;       // the tree's cycle when it was computed
  std::uint64_t releases = 0;    // the tree's `releases` then
  std::uint64_t generation = 0;  // the generation of its queue's configuration then
};

// What a preemptor chose when it preempted others.
struct PreemptorsChoice {
  std::vector<std::int32_t> flavors;  // by step of the plan: index in the group; -1: none
  std::vector<std::int32_t> counts;   // pods by pod set
  std::uint64_t generation = 0;       // the generation of its queue's configuration then
};

struct Slot {
  enum class Place : std::uint8_t {
    kNone,    // not in the scheduler: finished, deactivated, or not submitted
    kAside,   // pending, but not in a class: back-off, or on hold
    kQueued,  // pending, in a class of its queue
    kHolder,  // holds quota
  };
  bool in_use = false;
  Place place = Place::kNone;
  bool evicted = false;    // a holder that is being evicted
  bool pods_ready = true;  // of a holder
  // What never changes while it is in use; copies share it.
  struct Identity {
    std::string uid, job_uid;
    std::string key;  // "namespace/name": pods name their workload by it
  };
  std::shared_ptr<const Identity> who;
  QuotaNodeId queue;
  LocalQueueId local_queue;  // through which it was submitted last; invalid: it named none
  std::int32_t priority = 0;
  Time queued_at{};
  Time reserved_at{};
  UseId use;                         // of a holder: its claim in the book of usage; invalid without such a book
  std::vector<StatedPlaces> places;  // of a holder: the places in the topology ledger, to detect changes
  std::shared_ptr<const api::StringMap> labels;  // where workloads are spread, else null

  // While pending.
  ShapeId shape;
  ClassId class_id;
  Rare<Barrier> barrier;
  std::optional<Time> not_before;
  bool on_hold = false;
  bool preemption_gated = false;
  struct Replaces {
    std::shared_ptr<const Identity> who;  // of the other one: its id may be reused
    Replacement what;
  };
  Rare<Replaces> replaces;
  bool has_precedents = false;    // the history of preemptions in its tree (Precedence) knows it
  Rare<PreemptorsChoice> chosen;  // when it preempted others last; counts while Precedence names victims of it
  Rare<FlavorScan> scan;
  std::uint32_t scan_moves = 0;  // number of moves since scan_stamp
  std::uint64_t scan_stamp = 0;
  std::uint64_t reported = 0;  // hash of the last Wait reported; 0: none since it was submitted
  std::string reported_reason;
  bool reported_of_other = false;  // the last Wait was about an equivalent workload's verdict, not about its own
  static constexpr std::uint32_t kNoWait = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t wait_index = kNoWait;  // its index in the messages of the running pass
};

class Slots {
 public:
  Slots() = default;
  Slots(Slots&&) noexcept = default;
  Slots& operator=(Slots&&) noexcept = default;
  // A copy of the slots for which `wanted` returns true (null: of all); the other ids stay taken, but nothing may be
  // asked about them.
  Slots(const Slots& other, const std::function<bool(const Slot&)>& wanted)
      : slots_(other.slots_.size()), free_(other.free_), scores_(other.scores_) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot* slot = other.slots_[i];
      if (slot != nullptr && (wanted == nullptr || wanted(*slot))) slots_[i] = &add(*slot);
    }
  }

  Slot& operator[](WorkloadId id) { return *slots_[id.index()]; }
  const Slot& operator[](WorkloadId id) const { return *slots_[id.index()]; }
  bool known(WorkloadId id) const {
    return id.valid() && id.index() < slots_.size() && slots_[id.index()] != nullptr && slots_[id.index()]->in_use;
  }
  std::size_t size() const { return slots_.size(); }

  WorkloadId enter(std::string_view uid, std::string_view job_uid, std::string_view key = {}) {
    WorkloadId id(slots_.size());
    if (free_.empty()) {
      slots_.push_back(&add(Slot()));
    } else {
      id = free_.back();
      free_.pop_back();
      if (slots_[id.index()] == nullptr) slots_[id.index()] = &add(Slot());
    }
    Slot& slot = *slots_[id.index()];
    slot.in_use = true;
    slot.who = std::make_shared<const Slot::Identity>(
        Slot::Identity{std::string(uid), std::string(job_uid), std::string(key)});
    return id;
  }
  void leave(WorkloadId id) {
    *slots_[id.index()] = Slot();
    free_.push_back(id);
  }
  // What the local queues used when they were last compared (admission fair sharing). A queue without an account has
  // used nothing.
  const Score& score(LocalQueueId id) const {
    static constexpr Score kNothing{};
    return id.valid() && id.index() < scores_.size() ? scores_[id.index()] : kNothing;
  }
  void set_score(LocalQueueId id, const Score& score) {
    if (scores_.size() <= id.index()) scores_.resize(id.index() + 1);
    scores_[id.index()] = score;
  }
  // Decides between workloads that are equal otherwise.
  bool uid_less(WorkloadId a, WorkloadId b) const { return slots_[a.index()]->who->uid < slots_[b.index()]->who->uid; }

 private:
  static constexpr std::size_t kBlock = 64;  // slots that are allocated at once
  Slot& add(Slot slot) {
    if (blocks_.empty() || blocks_.back().size() == kBlock) blocks_.emplace_back().reserve(kBlock);
    return blocks_.back().emplace_back(std::move(slot));
  }

  std::vector<std::vector<Slot>> blocks_;  // no slot ever moves
  std::vector<Slot*> slots_;               // in blocks_; null: not part of this copy
  std::vector<WorkloadId> free_;
  std::vector<Score> scores_;  // by local queue
};

}  // namespace berth::engine
