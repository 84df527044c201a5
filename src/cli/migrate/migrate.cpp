// berth migrate: what changes when Berth takes over from Kueue.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/cluster_access.h"
#include "cli/migrate/commands.h"
#include "cli/migrate/migrate_check.h"
#include "cli/output.h"
#include "cli/table.h"

namespace berth::cli::migrate {
namespace {

using queues::Session;

struct MigrateFlags {
  AccessFlags access;
  std::string config_map, format = "text";
};

std::string_view heading(Weight weight) {
  if (weight == Weight::kFirst) return "To be changed before Berth takes over:";
  return weight == Weight::kDiffers ? "Different under Berth:" : "To know:";
}

void print_text(const Session& session, const std::vector<Difference>& found, const TakenOver& kept) {
  const Difference* before = nullptr;
  for (const Difference& one : found) {
    if (before == nullptr || before->weight != one.weight) *session.out << heading(one.weight) << "\n";
    before = &one;
    *session.out << "  " << printable(one.kind + " " + one.name + ": " + one.what) << "\n    " << printable(one.to_do)
                 << "\n";
  }
  *session.out << "Taken over as they are: " << kept.admitted << " admitted, " << kept.waiting << " waiting and "
               << kept.finished << " finished workloads, " << kept.queues << " queues\n";
}

void print_json(const Session& session, const std::vector<Difference>& found, const TakenOver& kept) {
  JsonArray differences;
  for (const Difference& one : found)
    differences.push_back(JsonObject{
        {"weight", word(one.weight)}, {"kind", one.kind}, {"name", one.name}, {"what", one.what}, {"toDo", one.to_do}});
  const Json out = JsonObject{
      {"differences", std::move(differences)},
      {"workloads", JsonObject{{"admitted", kept.admitted}, {"waiting", kept.waiting}, {"finished", kept.finished}}},
      {"queues", kept.queues}};
  *session.out << to_pretty_string(out) << "\n";
}

int check(const Session& session, const MigrateFlags& flags) {
  const auto server = session.connect(flags.access);
  if (!server) return session.failed(server.error().message);
  const auto cluster = read_cluster(session, **server, flags.config_map);
  if (!cluster) return session.failed(cluster.error().message);
  const std::vector<Difference> found = differences(*cluster);
  const TakenOver kept = taken_over(*cluster);
  flags.format == "json" ? print_json(session, found, kept) : print_text(session, found, kept);
  return std::ranges::find(found, Weight::kFirst, &Difference::weight) == found.end() ? 0 : 1;
}

}  // namespace

Command add_migrate(CLI::App& root, const Session& session) {
  auto* app = root.add_subcommand("migrate", "Prepare the way from Kueue to Berth");
  app->require_subcommand(1);
  auto flags = std::make_shared<MigrateFlags>();
  auto* checks = app->add_subcommand(
      "check", "Read a cluster of Kueue's and list, object by object, what would differ under Berth; writes nothing");
  checks->add_option("--configmap", flags->config_map,
                     "NAMESPACE/NAME of Kueue's Configuration (default: " + std::string(queues::kConfigMap) + ")");
  add_access_flags(*checks, flags->access);
  add_output_option(*checks, flags->format);
  checks->footer(
      "Exit code 0: Berth may take over. 1: something must be changed first, or the cluster cannot be read.");
  return {app, [session, flags] { return check(session, *flags); }};
}

}  // namespace berth::cli::migrate
