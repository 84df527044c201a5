// berth usage: what queues and namespaces used, waited for and lost, from a journal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>

#include "cli/queues/commands.h"
#include "cli/queues/words.h"
#include "cli/table.h"
#include "journal/usage.h"

namespace berth::cli::queues {
namespace {

using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;
constexpr int kMostDays = 36'500;

struct UsageFlags {
  std::string journal, since = "30d", until, output = "table";
};

// "30d", or as parse_duration() reads it; more than zero.
std::optional<Duration> parse_since(std::string_view text) {
  if (text.ends_with('d')) {
    int days = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, days);
    if (error != std::errc() || end != text.data() + text.size() - 1 || days < 1 || days > kMostDays)
      return std::nullopt;
    return Days(days);
  }
  const auto duration = parse_duration(text);
  if (!duration || *duration <= Duration(0)) return std::nullopt;
  return *duration;
}

struct UsageUnit {
  std::string_view name;
  double size;  // in the units of journal::UsageLine
};
UsageUnit unit_of(std::string_view resource) {
  if (resource == "cpu") return {"core-hours", 1};
  if (resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-"))
    return {"GiB-hours", 1024.0 * 1024 * 1024};
  return {"unit-hours", 1};
}

std::string usage_json(const journal::Usage& usage) {
  JsonArray lines, damaged;
  const auto rounded = [](double value) { return std::round(value * 1e6) / 1e6; };
  for (const auto& line : usage.lines) {
    const UsageUnit unit = unit_of(line.resource);
    lines.push_back(JsonObject{{"clusterQueue", line.cluster_queue},
                               {"namespace", line.ns},
                               {"resource", line.resource},
                               {"unit", unit.name},
                               {"used", rounded(line.used / unit.size)},
                               {"waited", rounded(line.waited / unit.size)},
                               {"lost", rounded(line.lost / unit.size)}});
  }
  for (const auto& each : usage.damaged) damaged.emplace_back(each);
  Format json;
  json.kind = Format::Kind::kJson;
  return printed(json, JsonObject{{"from", format_time(usage.from)},
                                  {"to", format_time(usage.to)},
                                  {"workloads", usage.workloads},
                                  {"truncated", usage.truncated},
                                  {"cut", usage.cut},
                                  {"damaged", std::move(damaged)},
                                  {"usage", std::move(lines)}});
}

// What is missing in the numbers.
void report_gaps(std::ostream& stream, const journal::Usage& usage) {
  if (usage.truncated) stream << "The period has more workloads than are kept in memory: the oldest are not counted.\n";
  if (usage.cut > 0)
    stream << "Of " << usage.cut << " workloads that were admitted and evicted many times the beginning is missing.\n";
  for (const auto& each : usage.damaged) stream << "Not read to its end: " << printable(each) << "\n";
}

void usage_csv(const Session& session, const journal::Usage& usage) {
  *session.out << "clusterQueue,namespace,resource,unit,used,waited,lost\n";
  for (const auto& line : usage.lines) {
    const UsageUnit unit = unit_of(line.resource);
    *session.out << fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f}\n", line.cluster_queue, line.ns, line.resource,
                                unit.name, line.used / unit.size, line.waited / unit.size, line.lost / unit.size);
  }
  report_gaps(*session.err, usage);
}

void usage_table(const Session& session, const journal::Usage& usage) {
  *session.out << usage.workloads << (usage.workloads == 1 ? " workload" : " workloads") << " from "
               << format_time(usage.from) << " to " << format_time(usage.to) << "\n";
  Table table({"CLUSTERQUEUE", "NAMESPACE", "RESOURCE", "UNIT", "USED", "WAITED", "LOST"});
  for (const auto& line : usage.lines) {
    const UsageUnit unit = unit_of(line.resource);
    const auto number = [&](double value) { return fmt::format("{:.2f}", value / unit.size); };
    table.add({{line.cluster_queue.empty() ? "-" : line.cluster_queue},
               {line.ns},
               {line.resource},
               {std::string(unit.name)},
               {number(line.used)},
               {number(line.waited)},
               {number(line.lost), line.lost > 0 ? Tone::kBad : Tone::kPlain}});
  }
  if (!table.empty()) *session.out << table.text(session.colour);
  report_gaps(*session.out, usage);
}

int run_usage(const Session& session, const UsageFlags& flags) {
  const auto since = parse_since(flags.since);
  if (!since) {
    return session.misused(
        wrong_value("--since", flags.since, "expected a duration such as 30d, 12h or 90m, more than zero")
            .value()
            .message);
  }
  journal::UsagePeriod period;
  period.since = *since;
  if (!flags.until.empty()) {
    const auto until = parse_time(flags.until);
    if (!until)
      return session.misused(
          wrong_value("--until", flags.until, "expected a time such as 2026-11-22T18:30:00Z").value().message);
    period.until = *until;
  }
  if (flags.output != "table" && flags.output != "csv" && flags.output != "json")
    return session.misused(wrong_value("--output", flags.output, "expected table, csv or json").value().message);
  const auto usage = journal::usage_of(flags.journal, period);
  if (!usage) return session.failed(usage.error().message);
  if (flags.output == "json")
    *session.out << usage_json(*usage);
  else if (flags.output == "csv")
    usage_csv(session, *usage);
  else
    usage_table(session, *usage);
  return 0;
}

}  // namespace

Command add_usage(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("usage", "Say what queues and namespaces used, waited for and lost over time");
  auto flags = std::make_shared<UsageFlags>();
  app->add_option("--journal", flags->journal, "The directory of the journal, such as ~/.local/share/berth/journal")
      ->required();
  app->add_option("--since", flags->since, "How long before the end to begin: a duration such as 30d or 12h")
      ->capture_default_str();
  app->add_option("--until", flags->until, "The end (default: that of the journal), such as 2026-11-22T18:30:00Z");
  app->add_option("-o,--output", flags->output, "Output format: table, csv or json")->capture_default_str();
  app->footer(
      "Amounts are resources times hours: core-hours of cpu, GiB-hours of memory and storage, and units times hours "
      "of\n"
      "anything else, such as GPU-hours. USED: while quota was held. LOST: the part of it that ended with an "
      "eviction.\n"
      "WAITED: what waiting workloads asked for.\n"
      "Example: berth usage --journal ~/.local/share/berth/journal --since 7d -o csv");
  return {app, [session, flags] { return run_usage(session, *flags); }};
}

}  // namespace berth::cli::queues
