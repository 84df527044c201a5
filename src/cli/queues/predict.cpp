// berth predict: when the workload of a job, or the workloads of a queue, will start.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>

#include "api/visibility/visibility.h"
#include "cli/queues/commands.h"
#include "cli/queues/expected_start.h"
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

constexpr std::size_t kShownPredictions = 20;  // of a queue
constexpr std::size_t kStepsFromJournal = 50'000;

struct PredictFlags {
  CommonFlags common;
  std::string type, name;
  MomentFlags moment;
  bool calibration = false;
};

// The documents as the API gives them.
int print_predictions(const Session& session, const Format& format, JsonArray all, bool queue) {
  if (!format.text()) {
    Json out = queue ? Json(JsonObject{{"kind", "List"}, {"apiVersion", "v1"}, {"items", std::move(all)}})
                     : std::move(all.front());
    *session.out << printed(format, std::move(out));
    return 0;
  }
  if (all.empty()) {
    *session.out << "Nothing waits there.\n";
    return 0;
  }
  if (queue) {
    Table table({"NAMESPACE", "WORKLOAD", "P50", "P90", "PREDICTION"});
    for (const Json& each : all) {
      const auto text = [&](std::initializer_list<std::string_view> path) {
        const auto found = printable(string_at(each, path));
        return found.empty() ? "-" : found;
      };
      const ExpectedStart start = expected_start(each);
      table.add({{text({"metadata", "namespace"})},
                 {text({"metadata", "name"})},
                 {start.p50},
                 {start.p90},
                 {text({"summary"})}});
    }
    *session.out << table.text(session.colour);
    return 0;
  }
  const Json& one = all.front();
  *session.out << "Workload " << printable(string_at(one, {"metadata", "namespace"})) << "/"
               << printable(string_at(one, {"metadata", "name"})) << ": " << printable(string_at(one, {"summary"}))
               << ".\n";
  if (const auto pods = followed_pods_text(one); !pods.empty())
    *session.out << "It has quota, but not all of its pods run:\n" << pods;
  for (const Json& basis : array_at(one, {"restsOn"})) *session.out << "  " << basis_text(basis) << "\n";
  if (const auto limit = printable(string_at(one, {"limit"})); !limit.empty())
    *session.out << "  not complete: " << limit << "\n";
  return 0;
}

// A prediction that says nothing because nothing is known is an error of the one workload that was asked about.
bool nothing_known(const Json& prediction) {
  return find(prediction, "unknown") != nullptr && int_at(prediction, {"started"}) == 0;
}

Result<Json> prediction_of(Server& server, const std::string& ns, const std::string& name) {
  return ask_about(server, api::visibility::kPrediction, ns, name);
}

int predict_queue(const Session& session, Opened& opened, const PredictFlags& flags) {
  const std::string ns = means_local_queue(flags.type) ? opened.ns : "";
  const auto items = pending_in(*opened.server, {ns, flags.name}, kShownPredictions);
  if (!items) return session.failed(items.error().message);
  JsonArray all;
  for (const Json& item : *items) {
    auto prediction = prediction_of(*opened.server, std::string(string_at(item, {"metadata", "namespace"})),
                                    std::string(string_at(item, {"metadata", "name"})));
    if (prediction) all.push_back(std::move(*prediction));  // or it left the queue meanwhile
  }
  return print_predictions(session, opened.format, std::move(all), true);
}

int predict_live(const Session& session, Opened& opened, const PredictFlags& flags) {
  if (means_cluster_queue(flags.type) || means_local_queue(flags.type)) return predict_queue(session, opened, flags);
  std::vector<std::string> names{flags.name};
  if (!means_workload(flags.type)) {
    auto of_job = workloads_of_job(session, opened, flags.type, flags.name);
    if (!of_job) return session.failed(of_job.error().message);
    names = std::move(*of_job);
  }
  for (const std::string& name : names) {
    auto prediction = prediction_of(*opened.server, opened.ns, name);
    if (!prediction) return session.failed(prediction.error().message);
    if (find(*prediction, "admitted") != nullptr) follow_pods(session, opened, *prediction);
    if (nothing_known(*prediction))
      return session.failed("workload " + opened.ns + "/" + name + ": " +
                            printable(string_at(*prediction, {"summary"})));
    print_predictions(session, opened.format, {std::move(*prediction)}, false);
  }
  return 0;
}

Json document_of(const engine::Prediction& prediction) {
  return api::visibility::encode_answer(
      {std::string(api::visibility::kVersions.front()), prediction.ns, prediction.name, api::visibility::kPrediction},
      engine::to_json(prediction));
}

// As it was at a time that a journal holds; no server is asked.
int predict_then(const Session& session, const Format& format, const PredictFlags& flags, Time at) {
  const auto replayed = replayed_at(flags.moment, at);
  if (!replayed) return session.failed(replayed.error().message);
  const auto history = journal::run_history(flags.moment.journal, at);
  if (!history) return session.failed(history.error().message);
  const std::string ns = namespace_then(flags.common);
  const auto& engine = *replayed->engine;
  std::vector<std::string> keys{ns + "/" + flags.name};
  const bool queue = !means_workload(flags.type);
  if (queue) {
    const bool local = means_local_queue(flags.type);
    const auto pending = local ? engine.pending_in_local_queue(ns, flags.name, 0, kShownPredictions)
                               : engine.pending_in_cluster_queue(flags.name, 0, kShownPredictions);
    if (!pending)
      return session.failed(did_not_exist(local ? "LocalQueue " + ns + "/" + flags.name : "ClusterQueue " + flags.name,
                                          flags.moment, *replayed));
    keys.clear();
    for (const auto& each : *pending) keys.push_back(api::object_key(each.object->meta));
  }
  engine::PredictLimits limits;
  limits.steps = kStepsFromJournal;
  JsonArray all;
  for (const auto& prediction : engine::predict(engine, *history, replayed->at, keys, limits)) {
    if (!prediction.found)
      return session.failed(did_not_exist("workload " + ns + "/" + flags.name, flags.moment, *replayed) +
                            ", or had finished");
    if (!queue && prediction.unknown_count > 0 && prediction.started == 0)
      return session.failed("workload " + ns + "/" + flags.name + ": " + engine::summary(prediction));
    all.push_back(document_of(prediction));
  }
  return print_predictions(session, format, std::move(all), queue);
}

int show_calibration(const Session& session, const Format& format, const PredictFlags& flags) {
  const auto found = journal::calibrate(flags.moment.journal);
  if (!found) return session.failed(found.error().message);
  const journal::Calibration& c = *found;
  if (!format.text()) {
    *session.out << printed(format, JsonObject{{"moments", c.moments},
                                               {"predictions", c.predictions},
                                               {"without", c.without},
                                               {"byP50", c.by_p50},
                                               {"byP90", c.by_p90},
                                               {"between", c.between},
                                               {"exact", c.exact}});
    return 0;
  }
  const std::size_t said = c.predictions - c.without;
  *session.out << c.predictions << " predictions at " << c.moments
               << " moments of the journal, of workloads that waited then and started later\n";
  if (c.without > 0) *session.out << c.without << " of them could say nothing: no run times were known\n";
  if (said == 0) return 0;
  const auto line = [&](std::string_view what, std::size_t count, std::string_view wanted) {
    *session.out << "  " << what << count << " of " << said << " (" << 100 * count / said << "%; " << wanted << ")\n";
  };
  line("started by p50:          ", c.by_p50, "half, or more where the start was known exactly");
  line("started by p90:          ", c.by_p90, "nine of ten");
  line("started from p10 to p90: ", c.between, "eight of ten");
  line("started as said, exactly: ", c.exact, "where all run times were known");
  return 0;
}

int run_predict(const Session& session, PredictFlags& flags) {
  const auto moment = moment_of(flags.moment);
  if (!moment) return session.misused(moment.error().message);
  if (!flags.type.empty()) {
    if (const auto split = split_type_and_name(flags.type, flags.name); !split)
      return session.misused(split.error().message);
    if (const auto taken = take_name(flags.name, flags.common); !taken) return session.misused(taken.error().message);
  }
  if (flags.moment.journal.empty()) {
    if (flags.calibration) return session.misused("--calibration needs --journal: it compares with what happened");
    if (flags.name.empty()) return session.misused("expected TYPE and NAME");
    return with_server(session, flags.common, [&](Opened& opened) { return predict_live(session, opened, flags); });
  }
  auto format = parse_format(flags.common.output);
  if (!format) return session.misused(format.error().message);
  if (flags.calibration && !(flags.type + flags.moment.at).empty())
    return session.misused("--calibration is about the whole journal: leave out TYPE, NAME and --at");
  if (flags.calibration) return show_calibration(session, *format, flags);
  if (flags.name.empty()) return session.misused("expected TYPE and NAME, or --calibration");
  if (!means_workload(flags.type) && !means_cluster_queue(flags.type) && !means_local_queue(flags.type))
    return session.misused(
        "--journal predicts workloads and queues: expected TYPE workload, clusterqueue or localqueue");
  return predict_then(session, *format, flags, *moment);
}

}  // namespace

Command add_predict(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("predict", "Say when waiting workloads will start");
  auto flags = std::make_shared<PredictFlags>();
  app->add_option("TYPE", flags->type,
                  "workload, clusterqueue, localqueue, or a kind of job: job, pod, rayjob, ...; or TYPE/NAME");
  app->add_option("NAME", flags->name, "Its name, or NAMESPACE/NAME");
  add_moment_flags(*app, flags->moment, "Predict");
  app->add_flag("--calibration", flags->calibration,
                "With --journal: how often predictions held for workloads that started in it");
  add_place_flags(*app, flags->common);
  add_output_flag(*app, flags->common);
  app->footer(
      "Copies of the queues are played forward, with the run times of similar workloads that finished and at most the\n"
      "maximum execution times (spec.maximumExecutionTimeSeconds). P50: it starts by then in half of these futures; "
      "P90:\n"
      "in nine of ten. Workloads come as they did lately.\n"
      "Example: berth predict job train -n team-a");
  return {app, [session, flags] { return run_predict(session, *flags); }};
}

}  // namespace berth::cli::queues
