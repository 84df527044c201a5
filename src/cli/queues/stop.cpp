// berth stop and berth resume: workloads and queues.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>
#include <utility>

#include "base/merge_patch.h"
#include "cli/queues/commands.h"
#include "cli/queues/flags.h"

namespace berth::cli::queues {
namespace {

struct StopFlags {
  CommonFlags common;
  std::vector<std::string> names;
  bool keep_running = false;
};

// What a command does to an object.
struct Change {
  Json patch;             // a merge patch
  std::string_view done;  // "stopped"
};

// The object after the change; the client alone makes it in a dry run of the client.
Result<Json> changed(Opened& opened, const Kind& kind, const std::string& name, const Change& change) {
  api::RestRequest request;
  request.resource = kind.resource();
  request.name = name;
  if (kind.namespaced) request.ns = opened.ns;
  request.wants_managed_fields = opened.format.managed_fields;
  if (opened.dry_run != DryRun::kClient) {
    request.verb = api::Verb::kPatch;
    request.body = change.patch;
    request.field_manager = "berth";
    request.dry_run = opened.dry_run == DryRun::kServer;
  }
  api::RestResponse response = opened.server->call(std::move(request));
  if (!response.ok()) return fail(opened.server->explain(response, kind.resource()));
  if (opened.dry_run == DryRun::kClient) return apply_merge_patch(response.body, change.patch);
  return std::move(response.body);
}

int change_all(const Session& session, const StopFlags& flags, const Kind& kind, const Change& change) {
  return with_server(session, flags.common, [&](Opened& opened) {
    int code = 0;
    for (const std::string& name : flags.names) {
      auto object = changed(opened, kind, name, change);
      if (!object) {
        code = session.failed(object.error().message);
      } else if (opened.format.text()) {
        *session.out << object_name(*object) << " " << change.done << remark(opened.dry_run) << "\n";
      } else {
        *session.out << printed(opened.format, std::move(*object));
      }
    }
    return code;
  });
}

Change queue_change(std::string_view policy, std::string_view done) {
  return {JsonObject{{"spec", JsonObject{{"stopPolicy", policy}}}}, done};
}
Change workload_change(bool active, std::string_view done) {
  return {JsonObject{{"spec", JsonObject{{"active", active}}}}, done};
}

std::shared_ptr<StopFlags> stop_flags(CLI::App& app) {
  auto flags = std::make_shared<StopFlags>();
  app.add_option("NAME", flags->names, "The names of the objects")->required();
  add_place_flags(app, flags->common);
  add_dry_run_flag(app, flags->common);
  add_format_flags(app, flags->common);
  return flags;
}

Command add_stop_queue(CLI::App& group, const Session& session, const Kind& kind) {
  const std::string name(kind.name);
  CLI::App* app =
      add_kind_command(group, kind, "Let a " + name + " admit nothing more, and evict what it has admitted");
  auto flags = stop_flags(*app);
  app->add_flag("--keep-already-running", flags->keep_running, "Let admitted workloads run to their end");
  return {app, [session, flags, &kind] {
            return change_all(session, *flags, kind,
                              queue_change(flags->keep_running ? "Hold" : "HoldAndDrain", "stopped"));
          }};
}

Command add_resume_queue(CLI::App& group, const Session& session, const Kind& kind) {
  CLI::App* app = add_kind_command(group, kind, "Let a " + std::string(kind.name) + " admit workloads again");
  auto flags = stop_flags(*app);
  return {app, [session, flags, &kind] { return change_all(session, *flags, kind, queue_change("None", "resumed")); }};
}

Command add_workload(CLI::App& group, const Session& session, bool active) {
  CLI::App* app = add_kind_command(group, kWorkload,
                                   active ? "Let a stopped workload wait for quota again"
                                          : "Evict a workload, and do not consider it until it is resumed");
  auto flags = stop_flags(*app);
  return {app, [session, flags, active] {
            return change_all(session, *flags, kWorkload, workload_change(active, active ? "resumed" : "stopped"));
          }};
}

}  // namespace

Command add_stop(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("stop", "Stop workloads or queues");
  return group_of(app, {add_workload(*app, session, false), add_stop_queue(*app, session, kClusterQueue),
                        add_stop_queue(*app, session, kLocalQueue)});
}

Command add_resume(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("resume", "Resume workloads or queues that are stopped");
  return group_of(app, {add_workload(*app, session, true), add_resume_queue(*app, session, kClusterQueue),
                        add_resume_queue(*app, session, kLocalQueue)});
}

}  // namespace berth::cli::queues
