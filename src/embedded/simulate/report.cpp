#include "embedded/simulate/report.h"

#include <fmt/format.h>

#include <vector>

#include "embedded/simulate/columns.h"

namespace berth::simulate {
namespace {

std::string rounded(Duration d) { return format_duration(std::chrono::round<std::chrono::seconds>(d)); }

double share(const Utilisation& u, const Played& played) {
  const double available = static_cast<double>(u.nominal.count()) * in_seconds(played.end - played.start);
  return available > 0 ? u.used_seconds / available : 0;
}

std::vector<QueueShare> shares_in(const Played& played) {
  std::vector<std::string> queue_of;
  for (const auto& life : played.lives) queue_of.push_back(life.ns + "/" + life.queue);
  return queue_shares(played.history, played.end, queue_of);
}

}  // namespace

std::string state_of(const Life& life) {
  if (life.finished) return life.succeeded ? "Succeeded" : life.replaced ? "Replaced" : "Failed";
  return life.waiting_for.empty() ? "Running" : "Waiting";
}

std::string format_since(Time when, Time start) {
  const auto total = std::chrono::floor<std::chrono::seconds>(when - start).count();
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

std::string to_line(const Moment& moment, Time start) {
  return fmt::format("{}  {} {}", format_since(moment.when, start), moment.who, moment.what);
}

std::string to_table(const Scenario& scenario, const Played& played) {
  std::vector<std::vector<std::string>> rows = {
      {"WORKLOAD", "QUEUE", "SUBMITTED", "WAITED", "EVICTED", "FINISHED", "STATE"}};
  for (const auto& life : played.lives) {
    rows.push_back({life.ns + "/" + life.name, life.queue, format_since(life.submitted, played.start),
                    rounded(life.waited_until(played.end)), std::to_string(life.evictions.size()),
                    life.finished ? format_since(*life.finished, played.start) : "-",
                    state_of(life) + (life.waiting_for.empty() || life.finished ? "" : ": " + life.waiting_for)});
  }
  std::string out = fmt::format("{}: {} of virtual time\n", scenario.name, rounded(played.end - played.start));
  if (rows.size() > 1) out += "\n" + columns(rows);
  rows = {{"FLAVOR", "RESOURCE", "NOMINAL", "PEAK", "UTILISATION"}};
  for (const auto& u : played.utilisation) {
    rows.push_back({u.flavor, u.resource, format_amount(u.resource, u.nominal), format_amount(u.resource, u.peak),
                    fmt::format("{:.0f}%", 100 * share(u, played))});
  }
  if (rows.size() > 1) out += "\n" + columns(rows);
  rows = {{"CLUSTERQUEUE", "LOCALQUEUE", "RESOURCE", "SHARE"}};
  for (const auto& share : shares_in(played))
    rows.push_back({share.cluster_queue, share.local_queue, share.resource, fmt::format("{:.0f}%", 100 * share.share)});
  if (rows.size() > 1) out += "\n" + columns(rows);
  if (!played.failures.empty()) {
    out += "\nNot as expected:\n";
    for (const auto& failure : played.failures) out += "  " + failure + "\n";
  }
  return out;
}

Json to_json(const Scenario& scenario, const Played& played) {
  JsonArray workloads;
  for (const auto& life : played.lives) {
    JsonArray evictions;
    for (const auto& e : life.evictions) {
      evictions.push_back(JsonObject{{"time", format_time(e.when)}, {"reason", e.reason}, {"message", e.message}});
    }
    JsonObject workload{{"namespace", life.ns},
                        {"name", life.name},
                        {"queue", life.queue},
                        {"clusterQueue", life.cluster_queue},
                        {"priority", life.priority},
                        {"submitted", format_time(life.submitted)},
                        {"waitedSeconds", in_seconds(life.waited_until(played.end))},
                        {"evictions", std::move(evictions)},
                        {"state", state_of(life)}};
    if (life.admitted) workload["admitted"] = format_time(*life.admitted);
    if (life.finished) workload["finished"] = format_time(*life.finished);
    if (!life.waiting_for.empty() && !life.finished) workload["waitingFor"] = life.waiting_for;
    workloads.push_back(std::move(workload));
  }
  JsonArray flavors;
  for (const auto& u : played.utilisation) {
    flavors.push_back(JsonObject{{"flavor", u.flavor},
                                 {"resource", u.resource},
                                 {"nominal", format_amount(u.resource, u.nominal)},
                                 {"peak", format_amount(u.resource, u.peak)},
                                 {"utilisation", share(u, played)}});
  }
  JsonArray queues;
  for (const auto& share : shares_in(played)) {
    queues.push_back(JsonObject{{"clusterQueue", share.cluster_queue},
                                {"localQueue", share.local_queue},
                                {"resource", share.resource},
                                {"share", share.share}});
  }
  JsonArray failures;
  for (const auto& failure : played.failures) failures.emplace_back(failure);
  return JsonObject{{"scenario", scenario.name},      {"start", format_time(played.start)},
                    {"end", format_time(played.end)}, {"workloads", std::move(workloads)},
                    {"flavors", std::move(flavors)},  {"shares", std::move(queues)},
                    {"failures", std::move(failures)}};
}

}  // namespace berth::simulate
