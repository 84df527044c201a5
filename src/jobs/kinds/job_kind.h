// A kind of job as data: where its pod sets are, how it is suspended, and when it is done. docs/job-kinds.md describes
// the file format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/result.h"
#include "jobs/kinds/expression.h"
#include "jobs/kinds/field_path.h"

namespace berth::jobs::kinds {

class KindHook;

// A pod set, or one pod set per entry of a list.
struct PodSetRule {
  std::string name;        // as it is; empty: `name_from` gives it
  Expression name_from;    // string
  Path items;              // a list: one pod set per entry, in its order
  Path item;               // an object: no pod set when the job does not have it. At most one of the two is set
  Expression when;         // bool; empty: always
  Path pod_template;       // a PodTemplateSpec, within the item
  std::string field;       // how errors name the template; empty: its path
  Expression count;        // int; empty: 1
  Expression min_count;    // int: the least number of pods for partial admission; values below 1 mean none
  Path count_field;        // within the item: partial admission writes the admitted count here
  Expression reclaimable;  // int: the number of pods that are done
  // The labels of pods with their rank, for topology; empty: none.
  std::string pod_index_label, sub_group_index_label;
  Expression sub_group_count;  // int
};

// A rule for objects of the kind, besides those that hold for every kind of job.
struct Validation {
  Expression rule;      // bool; true: the object is valid
  Expression message;   // string
  std::string field;    // of the error
  bool updates = true;  // the rule holds for updates, too
};

// What the pretend operator does with a job, in the embedded mode and the simulator.
struct OperatorRule {
  Expression status;            // map: the status of the job, from `pods` and `phase`
  std::string pod_index_label;  // gets the index of the pod in its pod set; empty: the label of the pod set
  // The job has succeeded when all pods of the first of these pod sets that it has did; when it has none of them, when
  // all pods did.
  std::vector<std::string> decides;
  bool serves = false;        // the job has no end: pods that end are made again
  Expression restart_policy;  // string, of a pod set: the restartPolicy of its pods; empty: that of the template

  explicit operator bool() const { return static_cast<bool>(status); }  // false: the kind has no pretend operator
};

// How jobs of the kind run on other clusters (docs/multikueue.md).
struct DispatchRule {
  Path managed_by;            // a text field of the job: who runs it. Empty: jobs of the kind run on no other cluster
  std::string operator_name;  // what stands there when the kind's own operator runs it; empty: only the absence
  std::vector<Path> dropped;  // what a job on a worker does not have, besides managed_by
  std::vector<Path> synced;   // what is written to the job on the worker when it changes on the manager

  explicit operator bool() const { return !managed_by.empty(); }  // false: the kind has no rule
};

// Objects of other kinds that the hook reads.
struct Lookup {
  api::GroupVersionResource resource;
  bool owned = false;  // only those whose controller is the job
};

struct JobKindSpec {
  api::GroupVersionResource resource;
  std::string kind;
  std::string framework;     // its name in integrations.frameworks
  std::string origin;        // the file that describes it
  std::string text;          // its content
  std::string webhook_name;  // of its validating webhook, as refusals name it: "vpytorchjob.kb.io"
  Path suspend;              // a bool field of the job: true while it must not run
  std::vector<PodSetRule> pod_sets;
  Expression priority_class;                      // string
  Expression finished, succeeded, active, ready;  // bool
  Expression message;                             // string, of a finished job
  Expression on_hold;                             // bool: its operator refuses it; its workload waits
  Expression skip;                                // bool: the job is not managed although it has a queue
  std::vector<Validation> validations;
  std::vector<Lookup> lookups;
  bool elastic = false;  // its jobs may change their numbers of pods while they run (jobs/slices.h)
  OperatorRule pretend;
  DispatchRule dispatch;
  const KindHook* hook = nullptr;  // what data cannot say; null: nothing

  std::string api_version() const {
    return resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
  }
  std::string controller() const { return framework + "-kueue-controller"; }  // in events
  std::string lower_kind() const;                                             // the kind in lower case: "pytorchjob"
  // Whether MultiKueue runs this job on another cluster: the kind's operator leaves it alone here.
  bool runs_elsewhere(const Json& job) const;
  // The end of the paths of its webhooks: "kubeflow-org-v1-pytorchjob".
  std::string webhook_path() const;
};
using JobKindPtr = std::shared_ptr<const JobKindSpec>;

// Kinds that are not managed are known to the webhooks only, which warn.
struct KnownKind {
  JobKindPtr description;
  bool managed = false;
};

}  // namespace berth::jobs::kinds
