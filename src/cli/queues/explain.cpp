// berth explain: why a workload, the workload of a job, or the workloads of a queue wait.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>

#include "api/status.h"
#include "api/visibility/visibility.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/explain_text.h"
#include "cli/queues/flags.h"
#include "cli/queues/lister.h"
#include "cli/queues/visibility_group.h"
#include "cli/queues/workload_facts.h"
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
  Discovery discovery(*opened.server);
  auto found = find_for(*opened.server, discovery, {flags.type, flags.name}, opened.ns);
  if (!found) return session.failed(found.error().message);
  const std::string what = flags.type + "/" + flags.name;
  if (!found->object) return session.failed(what + " does not exist in namespace " + opened.ns);
  auto workloads =
      list_objects(session, *opened.server, {kWorkload.resource(), std::string(kWorkload.name), opened.ns, {}, {}});
  if (!workloads) return session.failed(workloads.error().message);
  bool any = false, finished = false;
  for (const Json& workload : *workloads) {
    if (!belongs_to(workload, *found->object)) continue;
    finished = finished || state_of(workload) == WorkloadState::kFinished;
    if (state_of(workload) == WorkloadState::kFinished) continue;
    auto explanation =
        explanation_of(*opened.server, opened.ns, std::string(string_at(workload, {"metadata", "name"})));
    if (!explanation) return session.failed(explanation.error().message);
    if (any && opened.format.text()) *session.out << "\n";
    any = true;
    print(session, opened.format, std::move(*explanation));
  }
  if (any) return 0;
  if (finished) return session.failed(what + " has finished: its workload waits for nothing");
  const bool queued = !string_at(*found->object, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}).empty();
  return session.failed(
      what + " has no workload: " +
      (queued ? "its owner is queued in its place, its kind or namespace is not managed, or it is too new"
              : "it has no label kueue.x-k8s.io/queue-name, so it is not queued"));
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

bool names_workload(const ExplainFlags& flags) {
  return flags.type == "workload" || flags.type == "wl" || flags.type == "workloads";
}

// As it was at a time that a journal holds; no server is asked.
int explain_then(const Session& session, const ExplainFlags& flags) {
  if (!names_workload(flags)) return session.misused("--journal explains workloads: expected TYPE workload");
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
               api::visibility::encode_explanation({std::string(api::visibility::kVersions.front()), ns, flags.name},
                                                   engine::to_json(*explanation)));
}

int explain(const Session& session, const ExplainFlags& flags) {
  if (!flags.journal.empty()) return explain_then(session, flags);
  if (!flags.at.empty()) return session.misused("--at needs --journal: only a journal knows what was");
  return with_server(session, flags.common, [&](Opened& opened) {
    if (flags.type == "clusterqueue" || flags.type == "cq" || flags.type == "clusterqueues")
      return explain_queue(session, opened, flags);
    if (!names_workload(flags)) return explain_job(session, opened, flags);
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
  app->add_option("NAME", flags->name, "Its name")->required();
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
  return {app, [session, flags] { return explain(session, *flags); }};
}

}  // namespace berth::cli::queues
