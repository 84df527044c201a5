// A kind of job, as far as its jobs on worker clusters go. What a job there does not have and what comes back is data;
// what its status means, other rooms say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::multikueue {

struct RemoteKind {
  using Path = std::vector<std::string>;

  api::GroupVersionResource resource;
  std::string kind;
  Path suspend;               // a bool: the job must not run while it is true
  Path managed_by;            // a text: who runs the job
  std::vector<Path> dropped;  // what a job on a worker does not have
  std::vector<Path> synced;   // what is written to the job on the worker when it changes on the manager
  bool is_batch_job = false;  // batch/v1 Job
  // The status of a job that was read from a worker, with what is copied. An error says what is wrong with it.
  std::function<Result<Json>(const Json& job)> read_status;
  // Of a job whose status could be read: it has pods; it has ended for good.
  std::function<bool(const Json& job)> active, ended;

  std::string api_version() const {
    return resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
  }
  // Whether the job is suspended.
  bool suspended(const Json& job) const;
  // Who runs the job; "": nobody is named.
  std::string managed_by_of(const Json& job) const;
};

// Null: there is none.
const Json* value_at(const Json& object, const RemoteKind::Path& path);

// batch/v1 Job.
const RemoteKind& batch_jobs();

// A status of a job of another kind: any object of at most kMaxStatusBytes as JSON. What its members may be, the
// manager's API server says.
constexpr std::size_t kMaxStatusBytes = 256u << 10;
Result<Json> bounded_status(const Json& job);

}  // namespace berth::multikueue
