// The pod sets of a job, found by its description.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/field_error.h"
#include "api/kueue/types.h"
#include "api/kueue/webhooks/admission.h"
#include "jobs/kinds/job_kind.h"

namespace berth::jobs::kinds {

// The most pod sets that a workload has (API of Workload: spec.podSets).
constexpr std::size_t kMaxPodSets = 18;

struct FoundPodSet {
  api::kueue::PodSet pod_set;
  Place pod_template;       // in the job; empty: the job has no template for these pods, and nothing is written
  Place count;              // the field that gets a smaller admitted count; empty: none
  std::string field;        // how errors name the template
  std::string annotations;  // how they name its annotations; empty: metadata.annotations of the field
  std::string advice;       // what they say about annotations in the end, when the template is in another object
  const PodSetRule* rule = nullptr;  // null: a hook made it
  std::int32_t reclaimable = 0;      // pods that are done, when a hook made it
  Place item;                        // of the rule
  std::size_t index = 0;             // of the item in its list
};

// Copies of templates cost most of a search; who needs names, counts and places only can do without.
enum class Templates : std::uint8_t { kCopied, kLeftOut };

// In order. Appends an error for each pod set that no workload can have (no template, a name that is no DNS label or is
// there twice, a negative count, too many) and leaves it out. `get` finds other objects that a hook needs.
// kLeftOut: the pod sets of the description have neither templates nor topology requests.
std::vector<FoundPodSet> find_pod_sets(const JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get,
                                       api::FieldErrors& errors, Templates templates = Templates::kCopied);

// Appends the errors of find_pod_sets() and those in the amounts of the templates, in their topology annotations and
// their groups. `rules`: those about topology annotations.
void check_pod_sets(const JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get,
                    api::FieldErrors& errors, const api::kueue::LabelRules& rules = {});

// What an expression of the pod set's rule is evaluated on.
Scope scope_of(const FoundPodSet& found, const Json& job);

}  // namespace berth::jobs::kinds
