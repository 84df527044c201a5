// berth import: running pods become admitted workloads, as Kueue's importer does.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <utility>

#include "api/field_error.h"
#include "base/read_file.h"
#include "cli/cluster_access.h"
#include "cli/migrate/commands.h"
#include "cli/migrate/import_check.h"
#include "cli/migrate/import_run.h"
#include "cli/output.h"
#include "cli/table.h"

namespace berth::cli::migrate {
namespace {

using queues::Server;
using queues::Session;

struct ImportFlags {
  AccessFlags access;
  std::vector<std::string> namespaces, mapping, add_labels, exclude_prefixes;
  std::string label, mapping_file, config, format = "text";
  double qps = 50, burst = 50;
};

Result<Mapping> read_mapping(const ImportFlags& flags) {
  if (flags.mapping_file.empty()) return mapping_of_label(flags.label, flags.mapping);
  const auto text = read_file(flags.mapping_file);
  if (!text) return tl::unexpected(text.error());
  return parse_mapping(*text, flags.mapping_file);
}

Result<api::StringMap> read_labels(const std::vector<std::string>& pairs) {
  api::StringMap labels;
  for (const std::string& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return fail("--add-labels \"" + pair + "\": expected LABEL=VALUE");
    labels.insert_or_assign(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return labels;
}

Result<ImportTerms> terms_of(const ImportFlags& flags) {
  ImportTerms terms;
  terms.namespaces = flags.namespaces;
  std::ranges::sort(terms.namespaces);
  terms.namespaces.erase(std::ranges::unique(terms.namespaces).begin(), terms.namespaces.end());
  auto mapping = read_mapping(flags);
  if (!mapping) return tl::unexpected(mapping.error());
  terms.mapping = std::move(*mapping);
  auto labels = read_labels(flags.add_labels);
  if (!labels) return tl::unexpected(labels.error());
  terms.add_labels = std::move(*labels);
  if (!flags.config.empty()) {
    const auto text = read_file(flags.config);
    if (!text) return tl::unexpected(text.error());
    auto configuration = api::config::read_configuration(*text, flags.config);
    if (!configuration) return tl::unexpected(configuration.error());
    terms.configuration = std::move(*configuration);
  }
  for (const std::string& prefix : flags.exclude_prefixes)
    terms.configuration.resources.exclude_prefixes.push_back(prefix);
  return terms;
}

// What a check found.
struct Report {
  std::vector<PodFinding> findings;
  std::vector<std::string> warnings;
  std::string refused;  // why the server takes no writes; "": it takes them

  std::size_t count(PodVerdict verdict) const {
    return static_cast<std::size_t>(std::ranges::count(findings, verdict, &PodFinding::verdict));
  }
  bool good() const { return refused.empty() && count(PodVerdict::kRefused) == 0; }
};

Result<Report> look(const Session& session, Server& server, const ImportTerms& terms) {
  const auto facts = read_import_facts(session, server, terms);
  if (!facts) return tl::unexpected(facts.error());
  QueuedOwners owners(server);
  auto findings = check_pods(*facts, terms, owners);
  if (!findings) return tl::unexpected(findings.error());
  Report report;
  report.findings = std::move(*findings);
  report.warnings = over_quota(*facts, report.findings);
  if (report.count(PodVerdict::kRefused) > 0) return report;
  if (const auto tried = try_writes(server, terms, report.findings); !tried) report.refused = tried.error().message;
  return report;
}

std::string flavors_text(const PodFinding& pod) {
  if (!pod.workload.status.admission) return "";
  std::string text;
  for (const auto& [resource, flavor] : pod.workload.status.admission->pod_set_assignments.front().flavors)
    text += (text.empty() ? "" : ",") + resource + "=" + flavor;
  return text;
}

Tone tone_of(PodVerdict verdict) {
  if (verdict == PodVerdict::kRefused) return Tone::kBad;
  return verdict == PodVerdict::kSkipped ? Tone::kWaiting : Tone::kGood;
}

std::string summary(const Report& report) {
  return std::to_string(report.count(PodVerdict::kReady)) + " ready, " +
         std::to_string(report.count(PodVerdict::kImported)) + " imported before, " +
         std::to_string(report.count(PodVerdict::kSkipped)) + " skipped, " +
         std::to_string(report.count(PodVerdict::kRefused)) + " refused";
}

// Of a run only those pods that did not become workloads.
void print_pods(const Session& session, const Report& report, bool all) {
  Table table({"NAMESPACE", "POD", "RESULT", "LOCALQUEUE", "CLUSTERQUEUE", "FLAVORS", "REASON"});
  for (const PodFinding& pod : report.findings) {
    if (!all && pod.verdict != PodVerdict::kRefused) continue;
    table.add({{pod.ns},
               {pod.name},
               {std::string(word(pod.verdict)), tone_of(pod.verdict)},
               {pod.local_queue},
               {pod.cluster_queue},
               {flavors_text(pod)},
               {pod.reason}});
  }
  if (!table.empty()) *session.out << table.text(session.colour);
  for (const std::string& warning : report.warnings) *session.out << "Over quota: " << printable(warning) << "\n";
}

Json pods_json(const Report& report) {
  JsonArray pods;
  for (const PodFinding& pod : report.findings) {
    JsonObject flavors;
    if (pod.workload.status.admission) {
      for (const auto& [resource, flavor] : pod.workload.status.admission->pod_set_assignments.front().flavors)
        flavors[resource] = flavor;
    }
    pods.push_back(JsonObject{{"namespace", pod.ns},
                              {"name", pod.name},
                              {"result", word(pod.verdict)},
                              {"reason", pod.reason},
                              {"localQueue", pod.local_queue},
                              {"clusterQueue", pod.cluster_queue},
                              {"flavors", std::move(flavors)},
                              {"workload", pod.workload.meta.name}});
  }
  return pods;
}

void print_json(const Session& session, const Report& report, const Imported* imported) {
  JsonObject out{{"ready", report.count(PodVerdict::kReady)},
                 {"importedBefore", report.count(PodVerdict::kImported)},
                 {"skipped", report.count(PodVerdict::kSkipped)},
                 {"refused", report.count(PodVerdict::kRefused)},
                 {"error", report.refused},
                 {"overQuota", JsonArray(report.warnings.begin(), report.warnings.end())},
                 {"pods", pods_json(report)}};
  if (imported != nullptr) {
    out["imported"] = imported->pods;
    out["gone"] = imported->gone;
    if (!imported->error.empty()) out["error"] = imported->error;
  }
  *session.out << to_pretty_string(out) << "\n";
}

int check(const Session& session, const ImportFlags& flags, const Report& report) {
  if (flags.format == "json") {
    print_json(session, report, nullptr);
    return report.good() ? 0 : 1;
  }
  print_pods(session, report, true);
  *session.out << summary(report) << "\n";
  if (!report.refused.empty()) return session.failed(report.refused);
  return report.good() ? 0 : 1;
}

int run(const Session& session, const ImportFlags& flags, const ImportTerms& terms, Server& server,
        const Report& report) {
  const bool json = flags.format == "json";
  if (!report.good()) {
    if (json) {
      print_json(session, report, nullptr);
      return 1;
    }
    print_pods(session, report, false);
    return session.failed("nothing is imported: " + (report.refused.empty() ? summary(report) : report.refused));
  }
  kube::RateLimitOptions rate;
  rate.per_second = flags.qps;
  rate.burst = flags.burst;
  const Imported imported = import_pods(session, server, terms, report.findings, rate);
  if (json) {
    print_json(session, report, &imported);
    return imported.error.empty() ? 0 : 1;
  }
  for (const std::string& warning : report.warnings) *session.out << "Over quota: " << printable(warning) << "\n";
  *session.out << imported.pods << " pods are imported, " << report.count(PodVerdict::kImported) << " were before, "
               << imported.gone << " ended meanwhile, " << report.count(PodVerdict::kSkipped) << " are skipped\n";
  if (imported.error.empty()) return 0;
  return session.failed(imported.error + "; what is imported stays so: run the command again to go on");
}

int with_report(const Session& session, const ImportFlags& flags, bool runs) {
  const auto terms = terms_of(flags);
  if (!terms) return session.misused(terms.error().message);
  const auto server = session.connect(flags.access);
  if (!server) return session.failed(server.error().message);
  const auto report = look(session, **server, *terms);
  if (!report) return session.failed(report.error().message);
  return runs ? run(session, flags, *terms, **server, *report) : check(session, flags, *report);
}

void add_import_flags(CLI::App& app, ImportFlags& flags) {
  app.add_option("-n,--namespace", flags.namespaces, "The namespaces of the pods: a,b")->delimiter(',')->required();
  auto* file = app.add_option("--queuemapping-file", flags.mapping_file,
                              "YAML file with rules: the local queue of pods by their labels and priority class");
  auto* label = app.add_option("--queuelabel", flags.label, "The label whose value tells the local queue");
  auto* mapping = app.add_option("--queuemapping", flags.mapping, "VALUE=LOCALQUEUE,... of that label")
                      ->delimiter(',')
                      ->needs(label)
                      ->excludes(file);
  label->needs(mapping)->excludes(file);
  app.add_option("--add-labels", flags.add_labels, "LABEL=VALUE,... that imported pods and their workloads get")
      ->delimiter(',');
  app.add_option("--exclude-resource-prefixes", flags.exclude_prefixes,
                 "Resources whose names begin so do not count: a.com/,b.com/")
      ->delimiter(',');
  app.add_option("--config", flags.config,
                 "Kueue's Configuration as the controller has it: which resources count, and which labels are copied");
  add_access_flags(app, flags.access);
  add_output_option(app, flags.format);
  app.callback([&flags] {
    if (flags.mapping_file.empty() && flags.label.empty())
      throw CLI::RequiredError("--queuemapping-file, or --queuelabel with --queuemapping");
  });
}

}  // namespace

Command add_import(CLI::App& root, const Session& session) {
  auto* app = root.add_subcommand("import", "Make running pods admitted workloads, without a restart");
  app->require_subcommand(1);
  auto flags = std::make_shared<ImportFlags>();
  auto* checks = app->add_subcommand("check", "List each pod and what would become of it; nothing is written");
  add_import_flags(*checks, *flags);
  checks->footer("Exit code 0: all pods can be imported. 1: some cannot, or the cluster cannot be read.");
  auto* runs = app->add_subcommand("run", "Import the pods, if check refuses none of them");
  add_import_flags(*runs, *flags);
  runs->add_option("--qps", flags->qps, "Writes per second")->capture_default_str()->check(CLI::Range(0.1, 10000.0));
  runs->add_option("--burst", flags->burst, "Writes at once")->capture_default_str()->check(CLI::Range(1.0, 10000.0));
  runs->footer("May be repeated: what is imported stays as it is. Exit code 0: all are imported.");
  return {app, [session, flags, runs] { return with_report(session, *flags, runs->parsed()); }};
}

}  // namespace berth::cli::migrate
