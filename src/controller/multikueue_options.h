// Settings of MultiKueue (Configuration: multiKueue).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/kubeconfig.h"
#include "multikueue/dispatch.h"

namespace berth::controller {

// A client for a worker cluster, with a rate limit of its own. The executor outlives it.
Result<std::unique_ptr<api::RestClient>> worker_client(Executor& executor, const kube::Access& access);

struct MultiKueueOptions {
  std::string ns = "kueue-system";  // of the Secrets with kubeconfigs
  std::string origin = "multikueue";
  Duration gc_interval = std::chrono::minutes(1);  // zero: garbage is only looked for when something changes
  multikueue::Settings dispatch;
  // What one worker may show. One that shows more counts as lost: its users could fill the memory here.
  std::size_t most_objects = 100'000;             // copies and their jobs
  std::size_t most_bytes = 256ull * 1024 * 1024;  // of what is kept of them
  // Makes the client of a worker cluster. Tests connect to servers in the same process.
  std::function<Result<std::unique_ptr<api::RestClient>>(Executor&, const kube::Access&)> connect = worker_client;
};

}  // namespace berth::controller
