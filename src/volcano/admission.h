// Which changes of Volcano's queues, and which new jobs and PodGroups, are let in: what Volcano's validating webhooks
// decide, with their verdicts, and stricter where Volcano lets in what breaks the tree. Each of those improvements can
// be switched off.
//
// What an object must satisfy on its own is checked before, in api/volcano/validation.h.
#pragma once

#include <functional>
#include <string_view>

#include "api/config/volcano.h"
#include "api/field_error.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

using AdmissionOptions = api::config::VolcanoAdmission;

// How many workloads hold quota in this queue itself, not below it: from the ledger, so nothing lies between the
// question and a status that is written later.
using HoldersIn = std::function<std::size_t(std::string_view queue)>;

class Admission {
 public:
  // `forest` as it is before the change that is asked about.
  Admission(const QueueForest& forest, AdmissionOptions options, HoldersIn holders_in)
      : forest_(forest), options_(options), holders_in_(std::move(holders_in)) {}

  // Empty: let in. `old`: the queue as it is.
  api::FieldErrors create(const api::volcano::Queue& queue) const;
  api::FieldErrors update(const api::volcano::Queue& queue, const api::volcano::Queue& old) const;
  Result<void> remove(std::string_view name) const;

  // The queue of a new object exists, takes work and is a leaf.
  api::FieldErrors create(const api::volcano::PodGroup& group) const;
  api::FieldErrors create(const api::volcano::Job& job) const;

 private:
  api::FieldErrors parent_check(const api::volcano::Queue& queue) const;
  api::FieldErrors way_check(const api::volcano::Queue& queue, const QueueNode& parent) const;
  std::string occupation(const QueueNode& node) const;  // "3 pods are allocated"; "": nothing is in it
  api::FieldErrors hierarchy_path_check(const api::volcano::Queue& queue) const;
  api::FieldErrors takes_work(std::string_view name, bool leaf_only) const;

  const QueueForest& forest_;
  AdmissionOptions options_;
  HoldersIn holders_in_;
};

}  // namespace berth::volcano
