#include "controller/multikueue_options.h"

#include <utility>

#include "kube/client.h"

namespace berth::controller {
namespace {

// A request to a worker is tried again by the look that sent it.
constexpr int kWorkerTries = 2;
constexpr Duration kWorkerTimeout = std::chrono::seconds(20);

}  // namespace

Result<std::unique_ptr<api::RestClient>> worker_client(Executor& executor, const kube::Access& access) {
  kube::ClientOptions options;
  options.user_agent = "berth-multikueue";
  options.timeout = kWorkerTimeout;
  options.max_tries = kWorkerTries;
  auto client = kube::Client::make(executor, access, std::move(options));
  if (!client) return tl::unexpected(client.error());
  return std::unique_ptr<api::RestClient>(std::move(*client));
}

}  // namespace berth::controller
