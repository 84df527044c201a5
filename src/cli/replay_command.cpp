// berth replay: repeats what a journal recorded, and compares.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/amount.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "journal/replay.h"

namespace berth::cli {
namespace {

using journal::SegmentReplay;

struct ReplayFlags {
  std::string journal, until, format = "text";
};

// --- The state at a moment.

struct QueueState {
  std::string name;
  engine::ClusterQueueStatus status;
};

std::vector<QueueState> queues_of(const engine::Engine& engine) {
  std::vector<QueueState> out;
  for (const auto& event : engine.inputs()) {
    const auto* seen = std::get_if<engine::ClusterQueueSeen>(&event);
    if (seen == nullptr) continue;
    const std::string& name = seen->object->meta.name;
    if (auto status = engine.cluster_queue_status(name)) out.push_back({name, std::move(*status)});
  }
  return out;
}

std::string usage_text(const engine::ClusterQueueStatus& status) {
  std::string out;
  for (const auto& flavor : status.reservation) {
    for (const auto& resource : flavor.resources) {
      if (resource.total.is_zero()) continue;
      out += (out.empty() ? "" : ", ") + flavor.flavor + "/" + resource.name + " " +
             format_amount(resource.name, resource.total);
    }
  }
  return out.empty() ? "-" : out;
}

void print_state(const journal::Replayed& replayed, Time until) {
  std::printf("state at %s (last record at %s)\n", format_time(until).c_str(), format_micro_time(replayed.at).c_str());
  std::printf("%-32s %8s %9s %8s  %s\n", "CLUSTERQUEUE", "PENDING", "RESERVING", "ADMITTED", "RESERVED");
  for (const auto& [name, status] : queues_of(*replayed.engine))
    std::printf("%-32s %8d %9d %8d  %s\n", name.c_str(), status.pending, status.reserving, status.admitted,
                usage_text(status).c_str());
}

Json state_json(const journal::Replayed& replayed) {
  JsonArray queues;
  for (const auto& [name, status] : queues_of(*replayed.engine)) {
    JsonArray reserved;
    for (const auto& flavor : status.reservation) {
      for (const auto& resource : flavor.resources)
        reserved.push_back(JsonObject{{"flavor", flavor.flavor},
                                      {"resource", resource.name},
                                      {"total", format_amount(resource.name, resource.total)},
                                      {"borrowed", format_amount(resource.name, resource.borrowed)}});
    }
    queues.push_back(JsonObject{{"clusterQueue", name},
                                {"active", status.active},
                                {"pending", status.pending},
                                {"reserving", status.reserving},
                                {"admitted", status.admitted},
                                {"reservation", std::move(reserved)}});
  }
  return JsonObject{{"at", format_micro_time(replayed.at)}, {"clusterQueues", std::move(queues)}};
}

// --- What was replayed.

unsigned long long wide(std::uint64_t n) { return n; }

std::string end_of(const SegmentReplay& segment) {
  if (segment.cut_bytes > 0)
    return "; its last " + std::to_string(segment.cut_bytes) + " bytes are cut off (the writer was killed, or writes)";
  return segment.closed ? "" : "; it was not closed (the writer was killed, or still writes)";
}

void print_segment(const SegmentReplay& segment, bool whole) {
  if (segment.version.empty() && segment.good()) {
    std::printf("%s: empty%s\n", segment.name.c_str(), end_of(segment).c_str());
    return;
  }
  if (!segment.version.empty())
    std::printf(
        "%s: %s to %s, Berth %s: checkpoint of %llu, %llu events, %llu rounds, %llu decisions, %llu answers: %s%s\n",
        segment.name.c_str(), format_time(segment.from).c_str(), format_time(segment.to).c_str(),
        segment.version.c_str(), wide(segment.checkpoint_events), wide(segment.events), wide(segment.rounds),
        wide(segment.decisions), wide(segment.compared), segment.good() ? "reproduced" : "NOT REPRODUCED",
        whole && segment.good() ? end_of(segment).c_str() : "");
  if (!segment.damage.empty()) std::printf("  %s\n", segment.damage.c_str());
  if (!segment.difference) return;
  std::printf("  %s\n", journal::describe(*segment.difference).c_str());
  if (segment.version != this_build().version)
    std::printf("  Berth %s wrote it and %s replays it: where the rules changed, decisions differ\n",
                segment.version.c_str(), this_build().version.c_str());
  for (const auto& effect : segment.difference->effects) std::printf("    came: %s\n", effect.c_str());
}

JsonArray decisions_json(const std::vector<journal::Decision>& decisions) {
  JsonArray out;
  for (const auto& each : decisions)
    out.push_back(JsonObject{{"decision", name(each.action)}, {"workload", each.workload}, {"write", each.write}});
  return out;
}

Json segment_json(const SegmentReplay& segment) {
  JsonObject out{{"segment", segment.name},
                 {"version", segment.version},
                 {"from", format_micro_time(segment.from)},
                 {"to", format_micro_time(segment.to)},
                 {"checkpointEvents", segment.checkpoint_events},
                 {"events", segment.events},
                 {"rounds", segment.rounds},
                 {"decisions", segment.decisions},
                 {"answersCompared", segment.compared},
                 {"closed", segment.closed},
                 {"cutBytes", segment.cut_bytes},
                 {"reproduced", segment.good()}};
  if (!segment.damage.empty()) out["damage"] = segment.damage;
  if (const auto& d = segment.difference) {
    JsonArray came;
    for (const auto& effect : d->effects) came.push_back(Json(effect));
    out["difference"] = JsonObject{{"message", journal::describe(*d)},
                                   {"record", d->record},
                                   {"chunkAtByte", d->position},
                                   {"at", format_micro_time(d->at)},
                                   {"call", d->call},
                                   {"expected", decisions_json(d->expected)},
                                   {"came", decisions_json(d->came)},
                                   {"effectsThatCame", std::move(came)}};
  }
  return out;
}

int report(const std::vector<SegmentReplay>& segments, bool json, bool whole, Json state) {
  SegmentReplay all;
  std::size_t good = 0;
  JsonArray list;
  for (const auto& segment : segments) {
    good += segment.good() ? 1 : 0;
    all.events += segment.events;
    all.rounds += segment.rounds;
    all.decisions += segment.decisions;
    all.compared += segment.compared;
    if (json) {
      list.push_back(segment_json(segment));
    } else {
      print_segment(segment, whole);
    }
  }
  const bool reproduced = good == segments.size();
  if (json) {
    JsonObject out{{"reproduced", reproduced}, {"segments", std::move(list)}};
    if (!state.is_null()) out["state"] = std::move(state);
    std::printf("%s\n", to_pretty_string(out).c_str());
  } else {
    std::printf(
        "%zu of %zu segments reproduced: %llu events, %llu rounds, %llu decisions, %llu answers byte for byte\n", good,
        segments.size(), wide(all.events), wide(all.rounds), wide(all.decisions), wide(all.compared));
  }
  return reproduced ? 0 : 1;
}

int run_replay(const ReplayFlags& flags) {
  const bool json = flags.format == "json";
  if (flags.until.empty()) {
    const auto segments = journal::replay_all(flags.journal, {});
    if (!segments) return failure(segments.error().message);
    return report(*segments, json, true, nullptr);
  }
  const auto until = parse_time(flags.until);
  if (!until) return misuse("--until: " + until.error().message);
  const auto replayed = journal::replay_until(flags.journal, *until);
  if (!replayed) return failure(replayed.error().message);
  const int code = report({replayed->segment}, json, false, json ? state_json(*replayed) : Json());
  if (!json) print_state(*replayed, *until);
  return code;
}

}  // namespace

Command add_replay(CLI::App& root) {
  auto* app = root.add_subcommand("replay", "Repeat the decisions of a journal and compare them byte for byte");
  auto flags = std::make_shared<ReplayFlags>();
  app->add_option("JOURNAL", flags->journal, "The journal's directory, or one of its files")->required();
  app->add_option("--until", flags->until,
                  "Stop at this time, such as 2026-11-23T17:05:00Z, and print the state of all queues. Reads only the\n"
                  "segment that holds it");
  add_output_option(*app, flags->format);
  app->footer("The exit code is 1 when a decision is not reproduced or a file is damaged.");
  return {app, [flags] { return run_replay(*flags); }};
}

}  // namespace berth::cli
