// Deletes one object, and the command that deletes workloads with their jobs.
#pragma once

#include <string>
#include <tuple>

#include "api/rest.h"
#include "cli/queues/flags.h"

namespace berth::cli::queues {

struct Target {
  api::GroupVersionResource resource;
  std::string ns, name;
  std::string shown;  // how messages call it: "jobs.batch/train"
  bool operator<(const Target& o) const { return std::tie(ns, shown) < std::tie(o.ns, o.shown); }
};

struct Deleted {
  std::string error;  // empty: it is deleted, or will be when its finalizers are gone
  bool missing = false;
  std::string uid;
};
// Deletes in the background: the server deletes dependents too. In a dry run it only looks.
Deleted delete_target(Opened& opened, const Target& target);

Command add_delete_workloads(CLI::App& group, const Session& session);

}  // namespace berth::cli::queues
