// Decides which changes of Volcano's queues, and which new Jobs and PodGroups, are admitted. The verdicts are those
// of Volcano's validating webhooks, but stricter where Volcano admits what breaks the tree. Each stricter rule can be
// switched off.
//
// The rules for a single object are checked before, in api/volcano/validation.h.
#pragma once

#include <functional>
#include <string_view>

#include "api/config/volcano.h"
#include "api/field_error.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

using AdmissionOptions = api::config::VolcanoAdmission;

// The number of workloads that hold quota in this queue itself, not below it. It comes from the ledger, so it
// includes workloads whose status has not been written yet.
using HoldersIn = std::function<std::size_t(std::string_view queue)>;

class Admission {
 public:
  // `forest`: the queues before the change to be checked.
  Admission(const QueueForest& forest, AdmissionOptions options, HoldersIn holders_in)
      : forest_(forest), options_(options), holders_in_(std::move(holders_in)) {}

  // No errors: the change is admitted. `old`: the queue before the change.
  api::FieldErrors create(const api::volcano::Queue& queue) const;
  api::FieldErrors update(const api::volcano::Queue& queue, const api::volcano::Queue& old) const;
  Result<void> remove(std::string_view name) const;

  // Checks that the queue of a new object exists, takes work and is a leaf (for a PodGroup only with
  // pod_groups_in_leaves_only).
  api::FieldErrors create(const api::volcano::PodGroup& group) const;
  api::FieldErrors create(const api::volcano::Job& job) const;

 private:
  api::FieldErrors parent_check(const api::volcano::Queue& queue) const;
  api::FieldErrors way_check(const api::volcano::Queue& queue, const QueueNode& parent) const;
  std::string occupation(const QueueNode& node) const;  // "3 pods are allocated"; "": the queue is empty
  api::FieldErrors hierarchy_path_check(const api::volcano::Queue& queue) const;
  api::FieldErrors takes_work(std::string_view name, bool leaf_only) const;

  const QueueForest& forest_;
  AdmissionOptions options_;
  HoldersIn holders_in_;
};

}  // namespace berth::volcano
