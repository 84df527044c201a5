// berth delete clusterqueue, localqueue and resourceflavor.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>
#include <utility>

#include "base/time.h"
#include "cli/queues/commands.h"
#include "cli/queues/deletion.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

struct DeleteFlags {
  CommonFlags common;
  std::vector<std::string> names;
  std::string timeout = "0s";
  bool wait = true, ignore_missing = false;
};

constexpr Duration kLookAgain = std::chrono::milliseconds(500);
constexpr Duration kLongestWait = std::chrono::seconds(5);  // until the command prints what it waits for

// Waits until the object with this uid is gone. `limit` 0: no limit.
Result<void> wait_for_end(const Session& session, Server& server, const Target& target, const std::string& uid,
                          Duration limit) {
  Progress progress(session);
  const Time begin = server.now();
  bool reported = false;
  while (true) {
    api::RestRequest request;
    request.resource = target.resource;
    request.ns = target.ns;
    request.name = target.name;
    const api::RestResponse found = server.call(std::move(request));
    if (found.code == 404 || (found.ok() && string_at(found.body, {"metadata", "uid"}) != uid)) return {};
    if (!found.ok()) return fail(server.explain(found, target.resource));
    const Duration waited = server.now() - begin;
    if (limit > Duration::zero() && waited >= limit)
      return fail(target.shown + " is still there after " + format_duration(limit) +
                  ": its finalizers keep it while something uses it");
    const std::string waiting = "waiting for the end of " + target.shown + " (--wait=false does not wait)";
    progress.show(waiting);
    if (!session.progress && !reported && waited >= kLongestWait) {
      reported = true;
      *session.err << "berth: " << waiting << "\n";
    }
    server.sleep(kLookAgain);
  }
}

int delete_named(const Session& session, const DeleteFlags& flags, const Kind& kind) {
  const auto limit = parse_duration(flags.timeout);
  if (!limit || *limit < Duration::zero())
    return session.misused(wrong_value("--timeout", flags.timeout, "expected a duration such as 30s").value().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    int code = 0;
    for (const std::string& name : flags.names) {
      const Target target{kind.resource(), kind.namespaced ? opened.ns : "", name,
                          std::string(kind.singular) + "." + kind.resource().group + "/" + name};
      const auto deleted = delete_target(opened, target);
      if (deleted.missing && flags.ignore_missing) continue;
      if (!deleted.error.empty()) {
        code = session.failed(deleted.error);
        continue;
      }
      const std::string type = std::string(kind.singular) + "." + kind.resource().group;
      if (opened.format.kind == Format::Kind::kName) {
        *session.out << target.shown << "\n";
      } else {
        *session.out << type << " \"" << name << "\" deleted" << remark(opened.dry_run) << "\n";
      }
      session.out->flush();
      if (!flags.wait || opened.dry_run != DryRun::kNone) continue;
      if (auto gone = wait_for_end(session, *opened.server, target, deleted.uid, *limit); !gone)
        code = session.failed(gone.error().message);
    }
    return code;
  });
}

Command add_delete_kind(CLI::App& group, const Session& session, const Kind& kind) {
  CLI::App* app = add_kind_command(group, kind, "Delete a " + std::string(kind.name));
  auto flags = std::make_shared<DeleteFlags>();
  app->add_option("NAME", flags->names, "The names of the objects")->required();
  add_place_flags(*app, flags->common);
  add_dry_run_flag(*app, flags->common);
  app->add_option("-o,--output", flags->common.output, "Output format: name");
  app->add_flag("--wait", flags->wait, "Wait until it is gone (default); --wait=false does not wait");
  app->add_option("--timeout", flags->timeout, "The longest wait; 0s: no limit")->capture_default_str();
  app->add_flag("--ignore-not-found", flags->ignore_missing, "Do not fail if the object does not exist");
  return {app, [session, flags, &kind] { return delete_named(session, *flags, kind); }};
}

}  // namespace

Command add_delete(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("delete", "Delete workloads with their jobs, queues or flavors");
  return group_of(app, {add_delete_workloads(*app, session), add_delete_kind(*app, session, kClusterQueue),
                        add_delete_kind(*app, session, kLocalQueue), add_delete_kind(*app, session, kResourceFlavor)});
}

}  // namespace berth::cli::queues
