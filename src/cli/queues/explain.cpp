// berth explain: why a workload, the workload of a job, or the workloads of a queue wait.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>

#include "api/visibility/visibility.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/expected_start.h"
#include "cli/queues/explain_text.h"
#include "cli/queues/flags.h"
#include "cli/queues/followed_pods.h"
#include "cli/queues/job_workloads.h"
#include "cli/queues/moment_flags.h"
#include "cli/queues/questions.h"
#include "cli/table.h"
#include "engine/explain/predict.h"
#include "journal/predictions.h"

namespace berth::cli::queues {
namespace {

constexpr std::size_t kShownOfQueue = 20;  // each costs a request

struct ExplainFlags {
  CommonFlags common;
  std::string type, name;
  MomentFlags moment;
};

Result<Json> explanation_of(Server& server, const std::string& ns, const std::string& name) {
  return ask_about(server, api::visibility::kExplanation, ns, name);
}

// With what keeps the pods of an admitted workload from running, or when a workload that waits is expected to start.
Result<Json> followed_explanation_of(const Session& session, Opened& opened, const std::string& name) {
  auto explanation = explanation_of(*opened.server, opened.ns, name);
  if (!explanation) return explanation;
  if (string_at(*explanation, {"state"}) == "Admitted") follow_pods(session, opened, *explanation);
  add_expected_start(*opened.server, *explanation);
  return explanation;
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
    auto explanation = followed_explanation_of(session, opened, name);
    if (!explanation) return session.failed(explanation.error().message);
    if (any && opened.format.text()) *session.out << "\n";
    any = true;
    print(session, opened.format, std::move(*explanation));
  }
  return 0;
}

int explain_queue(const Session& session, Opened& opened, const ExplainFlags& flags) {
  const bool local = means_local_queue(flags.type);
  const auto items = pending_in(*opened.server, {local ? opened.ns : "", flags.name}, kShownOfQueue);
  if (!items) return session.failed(items.error().message);
  JsonArray all;
  Table table({"POSITION", "NAMESPACE", "WORKLOAD", "PRIORITY", "WHY IT WAITS"});
  for (const Json& item : *items) {
    const std::string ns(string_at(item, {"metadata", "namespace"})), name(string_at(item, {"metadata", "name"}));
    auto explanation = explanation_of(*opened.server, ns, name);
    if (!explanation) continue;  // it left the queue meanwhile
    table.add({{std::to_string(int_at(item, {"positionInClusterQueue"}) + 1)},
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
    *session.out << "Nothing waits in " << (local ? "LocalQueue " : "ClusterQueue ") << flags.name << ".\n";
  } else {
    *session.out << table.text(session.colour);
  }
  return 0;
}

// As it was at a time that a journal holds; no server is asked.
int explain_then(const Session& session, const ExplainFlags& flags, Time at) {
  if (!means_workload(flags.type)) return session.misused("--journal explains workloads: expected TYPE workload");
  auto format = parse_format(flags.common.output);
  if (!format) return session.misused(format.error().message);
  const auto replayed = replayed_at(flags.moment, at);
  if (!replayed) return session.failed(replayed.error().message);
  const std::string ns = namespace_then(flags.common);
  const auto explanation = replayed->engine->explain(replayed->at, ns, flags.name);
  if (!explanation)
    return session.failed(did_not_exist("workload " + ns + "/" + flags.name, flags.moment, *replayed) +
                          ", or had finished");
  Json document = api::visibility::encode_answer({std::string(api::visibility::kVersions.front()), ns, flags.name},
                                                 engine::to_json(*explanation));
  if (explanation->state != "Admitted") {
    const auto history = journal::run_history(flags.moment.journal, at);
    if (!history) return session.failed(history.error().message);
    const auto predictions = engine::predict(*replayed->engine, *history, replayed->at, {ns + "/" + flags.name});
    add_expected_start(engine::to_json(predictions.front()), document);
  }
  return print(session, *format, std::move(document));
}

int explain(const Session& session, const ExplainFlags& flags) {
  const auto moment = moment_of(flags.moment);
  if (!moment) return session.misused(moment.error().message);
  if (!flags.moment.journal.empty()) return explain_then(session, flags, *moment);
  return with_server(session, flags.common, [&](Opened& opened) {
    if (means_cluster_queue(flags.type) || means_local_queue(flags.type)) return explain_queue(session, opened, flags);
    if (!means_workload(flags.type)) return explain_job(session, opened, flags);
    auto explanation = followed_explanation_of(session, opened, flags.name);
    if (!explanation) return session.failed(explanation.error().message);
    return print(session, opened.format, std::move(*explanation));
  });
}

}  // namespace

Command add_explain(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("explain", "Say why a workload waits, and what would change that");
  auto flags = std::make_shared<ExplainFlags>();
  app->add_option("TYPE", flags->type,
                  "workload, clusterqueue, localqueue, or a kind of job: job, pod, rayjob, ...; or TYPE/NAME")
      ->required();
  app->add_option("NAME", flags->name, "Its name, or NAMESPACE/NAME");
  add_moment_flags(*app, flags->moment, "Explain");
  add_place_flags(*app, flags->common);
  add_output_flag(*app, flags->common);
  app->footer(
      "For a waiting workload: its position and who is before it, what is missing in each flavor and who holds it,\n"
      "when it is expected to start, and for each kind of change the smallest one that gives it quota now. Each "
      "change\n"
      "was tried on a copy of the queues. For an admitted workload: what it got, who was preempted for it, and what\n"
      "its pods wait for that do not run.\n"
      "Example: berth explain job train -n team-a");
  return {app, [session, flags] {
            if (const auto split = split_type_and_name(flags->type, flags->name); !split)
              return session.misused(split.error().message);
            if (const auto taken = take_name(flags->name, flags->common); !taken)
              return session.misused(taken.error().message);
            return explain(session, *flags);
          }};
}

}  // namespace berth::cli::queues
