// A JSON array of Volcano's queues, each created or updated in turn; a string deletes the queue with this name.
// Queues that pass admission have a path to root and compile to a valid tree; in all cases the tree is the same as
// after a restart.
#include <map>
#include <variant>

#include "api/volcano/validation.h"
#include "base/assert.h"
#include "volcano/admission.h"
#include "volcano/quota_tree.h"

using berth::Json;
using berth::api::volcano::Queue;
namespace volcano = berth::volcano;
namespace engine = berth::engine;

namespace {

constexpr std::size_t kMostChanges = 64;

// The last state of each cluster queue and cohort in the events for the engine.
class Reported {
 public:
  void take(const volcano::QuotaTree::Events& events, bool legal) {
    for (const auto& event : events) {
      if (const auto* queue = std::get_if<engine::ClusterQueueSeen>(&event)) {
        nodes_["queue " + queue->object->meta.name] =
            queue->object->cohort_name + text(queue->object->resource_groups, legal) +
            (queue->object->stop_policy == berth::api::kueue::StopPolicy::kNone ? "" : "held");
      } else if (const auto* cohort = std::get_if<engine::CohortSeen>(&event)) {
        const bool root = cohort->object->unbounded;
        nodes_["cohort " + cohort->object->meta.name] =
            cohort->object->parent_name + text(cohort->object->resource_groups, legal && !root);
      } else if (const auto* gone = std::get_if<engine::ClusterQueueGone>(&event)) {
        BERTH_INVARIANT(nodes_.erase("queue " + gone->name) == 1);
      } else if (const auto* cohort_gone = std::get_if<engine::CohortGone>(&event)) {
        BERTH_INVARIANT(nodes_.erase("cohort " + cohort_gone->name) == 1);
      }
    }
  }
  bool operator==(const Reported&) const = default;

 private:
  static std::string text(const std::vector<berth::api::kueue::ResourceGroup>& groups, bool legal) {
    std::string out;
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (const auto& r : flavor.resources) {
          BERTH_INVARIANT(!legal || r.nominal.sign() >= 0);
          BERTH_INVARIANT(!legal || !r.borrowing_limit || r.borrowing_limit->sign() >= 0);
          BERTH_INVARIANT(!legal || !r.lending_limit || r.lending_limit->sign() >= 0);
          out += " " + r.name + "=" + r.nominal.to_string() + "+" +
                 (r.borrowing_limit ? r.borrowing_limit->to_string() : "*") + "-" +
                 (r.lending_limit ? r.lending_limit->to_string() : "*");
        }
    return out;
  }
  std::map<std::string, std::string> nodes_;
};

class Play {
 public:
  explicit Play(bool guarded) : guarded_(guarded) { reported_.take(tree_.start(), guarded_); }

  void change(const Json& object) {
    const auto decoded = berth::api::volcano::decode_queue(object);
    if (!decoded || decoded->meta.name.empty()) return;
    const std::string& name = decoded->meta.name;
    const auto known = queues_.find(name);
    if (guarded_) {
      if (!berth::api::volcano::validate_queue(object, nullptr).empty()) return;
      const auto errors =
          known == queues_.end() ? admission().create(*decoded) : admission().update(*decoded, *known->second);
      if (!errors.empty()) return;
    }
    queues_[name] = std::make_shared<const Queue>(*decoded);
    reported_.take(tree_.set(queues_[name]), guarded_);
  }
  void remove(const std::string& name) {
    if (guarded_ && !admission().remove(name)) return;
    queues_.erase(name);
    reported_.take(tree_.remove(name), guarded_);
  }
  void check() const {
    volcano::QuotaTree again;
    Reported fresh;
    fresh.take(again.start(), guarded_);
    for (const auto& [name, queue] : queues_) fresh.take(again.set(queue), false);
    BERTH_INVARIANT(fresh == reported_);
    for (const auto& [name, queue] : queues_) {
      const auto way = tree_.forest().way_up(*tree_.forest().find(name));
      BERTH_INVARIANT(!guarded_ || (way.end == volcano::QueueForest::Way::End::kRoot &&
                                    way.level <= volcano::AdmissionOptions().max_depth));
      (void)tree_.obstacle(name);
      (void)tree_.allocated(name, [](std::string_view) { return berth::api::ResourceList(); });
    }
  }

 private:
  volcano::Admission admission() const {
    return {tree_.forest(), {}, [](std::string_view) { return std::size_t{0}; }};
  }
  bool guarded_;
  volcano::QuotaTree tree_;
  std::map<std::string, volcano::QueuePtr> queues_;
  Reported reported_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto changes = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!changes || !changes->is_array() || changes->get_array().size() > kMostChanges) return 0;
  for (const bool guarded : {true, false}) {
    Play play(guarded);
    for (const Json& change : changes->get_array()) {
      if (change.is_string()) {
        play.remove(std::string(berth::view(change.get_string())));
      } else if (change.is_object()) {
        play.change(change);
      }
    }
    play.check();
  }
  return 0;
}
