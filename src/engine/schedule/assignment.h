// Which flavors a workload would get, and what prevents it (KEP-582, flavor fungibility).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/queue/lack.h"
#include "engine/queue/plan.h"
#include "engine/quota/ledger.h"
#include "engine/schedule/preemption.h"
#include "engine/topology/places.h"

namespace berth::engine {

// From worst to best. The mode of an assignment is the worst of its parts.
enum class Mode : std::uint8_t {
  kNoFit,        // not even preemption can help
  kPreempt,      // would fit in quota after preemption
  kDeferredFit,  // will fit when preemptions are done: those of this cycle, or when pods of earlier victims are gone
  kFit,
};

// Why a flavor was not assigned. Turned into text only when the text is needed.
struct Shortage {
  enum class Kind : std::uint8_t {
    kUncovered,     // no group covers the resource
    kMismatch,      // taint or affinity: `text`
    kKept,          // the slice that this one replaces has the flavor `text`
    kNotNominated,  // a recomputation uses only the flavors of the nomination
    kExceeds,       // a + b > c, the maximum that the queue can ever get
    kProbe,         // one pod per zero-count pod set requests b > c
    kUnused,        // b more needed
  };
  Kind kind = Kind::kUnused;
  std::size_t unit = 0;
  ResourceId resource{};
  FlavorId flavor{};
  Amount a{}, b{}, c{};
  const std::string* text = nullptr;  // in the plan
};

// Why pods found no place. Turned into text only when needed, because that costs a walk over the nodes.
struct NoPlace {
  std::size_t pod_set = 0;
  PlaceFailure failure;
};

struct Assignment {
  struct Choice {              // for one step of the plan
    std::int32_t flavor = -1;  // index in the group; -1: none (nothing requested, or not reached)
    std::int32_t tried = -1;   // the next walk starts after this index; -1: at the first flavor
    std::int32_t last = -1;    // the last flavor that was looked at
    // By flavor, the first 64: quota is free, or preemption may free it, or that depends on what the units before get,
    // or this walk did not look at it.
    std::uint64_t possible = 0;
    // Likewise: nobody can be preempted for one resource alone, but perhaps for several that are short together, since
    // a queue that borrows one of them may lose what it uses of the others.
    std::uint64_t together = 0;
    bool is_possible(std::int32_t index) const { return index < 64 && (possible >> index & 1) != 0; }
    bool is_possible_together(std::int32_t index) const { return index < 64 && (together >> index & 1) != 0; }
  };
  struct Part {  // one resource of one unit
    FlavorResourceId id;
    Mode mode = Mode::kFit;
    Amount amount;
    int borrow = 0;  // height of the subtree that provides it; 0: the queue itself
    std::size_t unit = 0;
  };
  // A flavor that was tried and either did not fit or would borrow.
  struct Attempt {
    std::size_t unit = 0;
    FlavorId flavor{};
    std::string_view mode;  // "NoFit", "NoCandidates", "Preempt", "Reclaim"; "Fit" when it borrows
    int borrow = 0;
    std::size_t first_shortage = 0, last_shortage = 0;  // in attempt_shortages
  };
  Mode mode = Mode::kNoFit;
  int borrowing = 0;                 // height of the lowest subtree that provides everything; 0: no borrowing
  std::vector<std::int32_t> counts;  // by pod set
  std::vector<Choice> choices;       // by step of the plan
  std::vector<Part> parts;
  Usage usage;
  std::vector<Shortage> shortages;
  std::vector<Lack> lacks;
  std::vector<Attempt> attempts;
  std::vector<Shortage> attempt_shortages;
  std::string_view no_fit_reason;  // reason of QuotaReserved=False when the mode is kNoFit

  // For the pod sets that request places (KEP-2724), in the order of Placer::asks(). In mode kPreempt these are
  // places on an empty cluster.
  std::vector<Placed> places;
  std::optional<NoPlace> no_place;
  bool only_place_short = false;  // quota would fit, only places are missing

  bool scan_pending() const;  // a walk over flavors stopped before the last one
  void clear();
};

std::string couldnt_assign(const std::string& pod_set);  // the start of the message about a pod set

// Example: "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor x, 1 more needed".
// `no_place`: the text of the assignment's failure to place pods.
std::string message(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names,
                    const std::string& no_place);

// The text about tried flavors in the event of an admission: "Flavors considered: main: spot(Fit;borrow=1)"; empty
// when the first flavor fitted without borrowing.
std::string considered(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names);

// The same for people: "main: spot fits with borrowed quota; on-demand does not fit: insufficient ...".
std::string considered_in_words(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names);

class Assigner {
 public:
  struct Kept {                         // the only flavor that a step may use
    std::int32_t flavor = -1;           // index in the group; its end when the group does not have the flavor any more
    const std::string* name = nullptr;  // null: it may use any
  };
  struct Request {
    Preemptor preemptor;
    const Plan* plan = nullptr;
    const Shape* shape = nullptr;
    std::span<const std::int32_t> counts;     // by pod set
    std::span<const std::int32_t> tried;      // by step: where the previous walk stopped; empty: start over
    std::span<const std::int32_t> nominated;  // by step: the only flavor to try; empty: all
    std::span<const Kept> kept{};             // by step; empty: all steps may use any
  };
  Assigner(const Ledger& ledger, Preemption& preemption, bool fungibility, bool fair_sharing)
      : ledger_(ledger), preemption_(preemption), fungibility_(fungibility), fair_sharing_(fair_sharing) {}

  void assign(const Request& request, Assignment& out);

 private:
  struct Grade {  // how good one resource or flavor is
    enum Level : std::uint8_t { kNoFit, kNoCandidates, kPreempt, kReclaim, kFit };
    Level level = kFit;
    int borrow = 0;
  };
  struct Best {
    Grade grade{Grade::kNoFit, 0};
    std::int32_t flavor = -1;
  };
  bool preferred(const Grade& a, const Grade& b) const;
  bool try_next(const Grade& grade) const;
  bool assign_unit(std::size_t unit, std::size_t first_step);
  bool assign_step(std::size_t unit, std::size_t step, bool probe);
  bool depends_on_others(std::size_t flavor, const Plan::Step& step) const;
  void consider_together(std::int32_t flavor, Assignment::Choice& choice);
  void leave_open(std::size_t first_step);
  bool fail_unit(std::size_t first_shortage);
  bool passed_over(const ResourceGroup& group, std::size_t flavor, const Plan::Step& step, int& mildest);
  bool passes_probe(std::size_t flavor, const Plan::Step& step);
  Grade grade_flavor(std::size_t flavor, const Plan::Step& step, int& severity);
  Grade grade_resource(FlavorResourceId id, ResourceId resource, FlavorId flavor, Amount amount, bool hopeless,
                       int& severity);
  bool may_preempt_while_borrowing() const;
  Amount wanted(const Plan::Want& want) const;
  Amount assumed(FlavorResourceId id) const;
  void report(Shortage shortage);
  void remember(FlavorId flavor, const Grade& grade, std::size_t first_shortage);

  const Ledger& ledger_;
  Preemption& preemption_;
  bool fungibility_, fair_sharing_;

  // The request being processed.
  const Request* request_ = nullptr;
  Assignment* out_ = nullptr;
  const Plan::Unit* unit_ = nullptr;
  std::size_t unit_index_ = 0;
  std::size_t step_index_ = 0;
  int unit_severity_ = 0;
  std::vector<Assignment::Part> parts_, best_parts_;  // of the flavor being tried, of the best one so far
};

}  // namespace berth::engine
