#include "embedded/simulate/load_run.h"

#include <optional>
#include <utility>

#include "controller/controller.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/world.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::simulate {
namespace {
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr std::string_view kStart = "2026-01-01T00:00:00Z";
}  // namespace

Result<LoadReport> run_load(const Load& load, const LoadRunOptions& options) {
  WorldOptions world_options;
  world_options.start = *parse_time(kStart);
  world_options.node_manifests = load.nodes;
  world_options.seed = options.seed;
  world_options.leader_worker_sets = false;
  world_options.vcjobs = false;
  world_options.manage_pods = options.as == LoadAs::kPods;
  if (options.as == LoadAs::kJobSets) {
    world_options.external_kinds = "jobsets";
    for (const auto& kind : jobs::kinds::shipped_job_kinds()) {
      if (kind->kind == submitted_kind(options.as)) world_options.kinds.push_back({kind, true});
    }
  }
  if (auto applied = controller::apply_feature_gates(options.feature_gates, world_options.engine, world_options.jobs);
      !applied)
    return tl::unexpected(applied.error());
  auto made = World::make(world_options);
  if (!made) return tl::unexpected(made.error());
  World& world = **made;

  std::map<std::string, std::uint64_t> before;  // request counts of the controller at the start
  apiserver::Revision revision = 0;
  LoadPlayOptions play_options{options.as,
                               [&] {
                                 before = world.controller().request_counts();
                                 revision = world.server().revision();
                               },
                               options.on_progress, options.on_stall};
  LoadPlay play(load, world.client(), world.executor(), std::move(play_options));
  std::optional<Result<LoadReport>> outcome;
  play.start([&](Result<LoadReport> report) {
    outcome = std::move(report);
    if (!*outcome) return;
    LoadReport& r = **outcome;
    r.virtual_time = true;
    r.controller_requests = world.controller().request_counts();
    for (const auto& [what, count] : before) r.controller_requests[what] -= count;
    std::erase_if(r.controller_requests, [](const auto& entry) { return entry.second == 0; });
    r.api_writes = static_cast<std::uint64_t>(world.server().revision() - revision);
  });
  while (!outcome) world.run_for(kLookEvery);  // a play always ends, see kStall in load_play.cpp
  return std::move(*outcome);
}

}  // namespace berth::simulate
