// berth explain: why a workload, the workload of a job, or the workloads of a queue wait.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>

#include "api/status.h"
#include "api/visibility/visibility.h"
#include "cli/queues/commands.h"
#include "cli/queues/explain_text.h"
#include "cli/queues/flags.h"
#include "cli/queues/job_workloads.h"
#include "cli/queues/visibility_group.h"
#include "cli/table.h"
#include "journal/replay.h"

namespace berth::cli::queues {
namespace {

constexpr int kShownOfQueue = 20;  // each costs a request

struct ExplainFlags {
  CommonFlags common;
  std::string type, name, journal, at;
};

std::string group_path() { return visibility_path() + "/" + std::string(api::visibility::kVersions.front()); }

// With the names of objects of other namespaces, if the user may see them.
Result<Json> explanation_of(Server& server, const std::string& ns, const std::string& name) {
  const std::string path = group_path() + "/namespaces/" + ns + "/workloads/" + name + "/explanation";
  api::RestResponse response = server.get(path + "?all=true");
  if (response.code == 403) response = server.get(path);
  if (response.ok()) return std::move(response.body);
  if (response.code == 404) {
    if (const std::string why = why_not_served(server); !why.empty()) return fail(why);
    return fail("workload " + ns + "/" + name + " has no explanation: it does not exist, or it has finished");
  }
  return fail(server.explain(response, {std::string(api::visibility::kGroup), "v1beta2", "workloads"}));
}

int print(const Session& session, const Format& format, Json explanation) {
  if (format.text()) {
    *session.out << explanation_text(explanation, session.colour);
  } else {
    *session.out << printed(format, std::move(explanation));
  }
  return 0;
}

int explain_job(const Session& session, Opened& opened, const ExplainFlags& flags) {
  const auto names = workloads_of_job(session, opened, flags.type, flags.name);
  if (!names) return session.failed(names.error().message);
  bool any = false;
  for (const std::string& name : *names) {
    auto explanation = explanation_of(*opened.server, opened.ns, name);
    if (!explanation) return session.failed(explanation.error().message);
    if (any && opened.format.text()) *session.out << "\n";
    any = true;
    print(session, opened.format, std::move(*explanation));
  }
  return 0;
}

int explain_queue(const Session& session, Opened& opened, const ExplainFlags& flags) {
  const auto response = opened.server->get(group_path() + "/clusterqueues/" + flags.name +
                                           "/pendingworkloads?limit=" + std::to_string(kShownOfQueue));
  if (!response.ok()) {
    const std::string why = response.code == 404 ? why_not_served(*opened.server) : "";
    if (!why.empty()) return session.failed(why);
    return session.failed(
        opened.server->explain(response, {std::string(api::visibility::kGroup), "v1beta2", "clusterqueues"}));
  }
  JsonArray all;
  Table table({"POSITION", "NAMESPACE", "WORKLOAD", "PRIORITY", "WHY IT WAITS"});
  for (const Json& item : array_at(response.body, {"items"})) {
    const std::string ns(string_at(item, {"metadata", "namespace"})), name(string_at(item, {"metadata", "name"}));
    auto explanation = explanation_of(*opened.server, ns, name);
    if (!explanation) continue;  // it left the queue meanwhile
    table.add({{std::to_string(int_at(item, {"positionInClusterQueue"}))},
               {ns},
               {name},
               {std::to_string(int_at(item, {"priority"}))},
               {std::string(string_at(*explanation, {"summary"}))}});
    all.push_back(std::move(*explanation));
  }
  if (!opened.format.text()) {
    *session.out << printed(opened.format,
                            JsonObject{{"kind", "List"}, {"apiVersion", "v1"}, {"items", std::move(all)}});
  } else if (table.empty()) {
    *session.out << "Nothing waits in ClusterQueue " << flags.name << ".\n";
  } else {
    *session.out << table.text(session.colour);
  }
  return 0;
}

// As it was at a time that a journal holds; no server is asked.
int explain_then(const Session& session, const ExplainFlags& flags) {
  if (!means_workload(flags.type)) return session.misused("--journal explains workloads: expected TYPE workload");
  if (!flags.at.empty() && !parse_time(flags.at))
    return session.misused("--at \"" + flags.at + "\": expected a time such as 2026-11-22T18:30:00Z");
  auto format = parse_format(flags.common.output);
  if (!format) return session.misused(format.error().message);
  const Time at = flags.at.empty() ? Time::max() : *parse_time(flags.at);
  auto replayed = journal::replay_until(flags.journal, at);
  if (!replayed) return session.failed(replayed.error().message);
  const std::string ns = flags.common.ns.empty() ? "default" : flags.common.ns;
  const auto explanation = replayed->engine->explain(replayed->at, ns, flags.name);
  if (!explanation)
    return session.failed("workload " + ns + "/" + flags.name + " did not exist at " + format_time(replayed->at) +
                          ", or had finished");
  return print(session, *format,
               api::visibility::encode_answer({std::string(api::visibility::kVersions.front()), ns, flags.name},
                                              engine::to_json(*explanation)));
}

int explain(const Session& session, const ExplainFlags& flags) {
  if (!flags.journal.empty()) return explain_then(session, flags);
  if (!flags.at.empty()) return session.misused("--at needs --journal: only a journal knows what was");
  return with_server(session, flags.common, [&](Opened& opened) {
    if (means_cluster_queue(flags.type)) return explain_queue(session, opened, flags);
    if (!means_workload(flags.type)) return explain_job(session, opened, flags);
    auto explanation = explanation_of(*opened.server, opened.ns, flags.name);
    if (!explanation) return session.failed(explanation.error().message);
    return print(session, opened.format, std::move(*explanation));
  });
}

}  // namespace

Command add_explain(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("explain", "Say why a workload waits, and what would change that");
  auto flags = std::make_shared<ExplainFlags>();
  app->add_option("TYPE", flags->type, "workload, clusterqueue, or a kind of job: job, pod, rayjob, ...")->required();
  app->add_option("NAME", flags->name, "Its name, or NAMESPACE/NAME")->required();
  app->add_option("--journal", flags->journal, "Explain from this journal instead of asking a server");
  app->add_option("--at", flags->at, "With --journal: as it was at this time (default: at its end)");
  add_place_flags(*app, flags->common);
  add_format_flags(*app, flags->common);
  app->footer(
      "For a waiting workload: its position and who is before it, what is missing in each flavor and who holds it, "
      "when\n"
      "enough is free at the latest, and for each kind of change the smallest one that gives it quota now. Each "
      "change\n"
      "was tried on a copy of the queues. For an admitted workload: what it got, and who was preempted for it.\n"
      "Example: berth explain job train -n team-a");
  return {app, [session, flags] {
            take_namespace(flags->name, flags->common);
            return explain(session, *flags);
          }};
}

}  // namespace berth::cli::queues
