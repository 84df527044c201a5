// The workloads of a job that a user names by its kind and name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

// Their names, in the namespace of `opened`; those that have finished are left out. Error: the kind or the object is
// unknown, or it has no workload that waits or runs, and why.
Result<std::vector<std::string>> workloads_of_job(const Session& session, Opened& opened, const std::string& type,
                                                  const std::string& name);

// Which other objects have the workloads of an object of this kind; "" for kinds that have their own.
std::string_view where_its_workloads_are(const FoundResource& resource);

// Whether a TYPE on the command line means these objects.
bool means_workload(std::string_view type);
bool means_cluster_queue(std::string_view type);
bool means_local_queue(std::string_view type);

}  // namespace berth::cli::queues
