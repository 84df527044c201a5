// Any bytes as a Configuration file: reading never crashes, an error is one line that names the file, and a
// Configuration that was read satisfies the invariants that the controller relies on.
#include "api/config/configuration.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = berth::api::config::read_configuration({reinterpret_cast<const char*>(data), size}, "file");
  if (!read) {
    BERTH_INVARIANT(read.error().message.starts_with("file: "));
    return 0;
  }
  const auto& wait = read->wait_for_pods_ready;
  BERTH_INVARIANT(wait.timeout > berth::Duration(0) && wait.recovery_timeout >= berth::Duration(0));
  BERTH_INVARIANT(wait.backoff_base_seconds >= 0 && wait.backoff_max_seconds >= 0);
  BERTH_INVARIANT(read->leader_election.lease_duration > read->leader_election.renew_deadline);
  BERTH_INVARIANT(!read->frameworks.empty() && read->cache_sync_timeout > berth::Duration(0));
  return 0;
}
