// berth what-if: what would follow from changes, without making them.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <ostream>

#include "api/status.h"
#include "api/visibility/visibility.h"
#include "cli/object_files.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "cli/queues/job_workloads.h"
#include "cli/queues/what_if_question.h"
#include "cli/queues/words.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

struct WhatIfFlags {
  CommonFlags common;
  std::vector<std::string> files, without, drain;
};

// An object of spec.delete; for a job those workloads that belong to it and have not finished.
Result<JsonArray> deletions(const Session& session, Opened& opened, Discovery& discovery, const std::string& text) {
  auto what = parse_type_and_name("--without", text);
  if (!what) return tl::unexpected(what.error());
  auto found = discovery.by_type(what->type);
  if (!found) return wrong_value("--without", text, found.error().message);
  const auto object = [&](std::string_view kind, const std::string& name, bool namespaced) {
    JsonObject out{{"kind", kind}, {"name", name}};
    if (namespaced) out["namespace"] = opened.ns;
    return out;
  };
  if (is_no_job(*found)) return JsonArray{object(found->kind, what->name, found->namespaced)};
  const auto names = workloads_of_job(session, opened, what->type, what->name);
  if (!names) return wrong_value("--without", text, names.error().message);
  JsonArray out;
  for (const std::string& name : *names) out.push_back(object(kWorkload.name, name, true));
  return out;
}

// The question, and for each entry of its lists the flag that made it.
struct Question {
  Json what_if;
  std::vector<std::string> deleted_by, drained_by;
};

// The server names an entry ("spec.delete[2]: ..."); the user knows the flag.
std::string in_words_of_flags(const Question& asked, const std::string& refusal) {
  const auto replaced = [&](std::string_view list, std::string_view flag,
                            const std::vector<std::string>& values) -> std::string {
    if (!refusal.starts_with(list)) return "";
    std::size_t i = 0;
    const char* const end = refusal.data() + refusal.size();
    const auto number = std::from_chars(refusal.data() + list.size(), end, i);
    const std::string_view rest(number.ptr, static_cast<std::size_t>(end - number.ptr));
    if (number.ec != std::errc() || i >= values.size() || !rest.starts_with("]: ")) return "";
    return wrong_value(flag, values[i], rest.substr(3)).value().message;
  };
  for (std::string out : {replaced("spec.delete[", "--without", asked.deleted_by),
                          replaced("spec.drain[", "--drain", asked.drained_by)}) {
    if (!out.empty()) return out;
  }
  return refusal;
}

Result<Question> question(const Session& session, Opened& opened, const WhatIfFlags& flags) {
  Discovery discovery(*opened.server);
  Question out;
  JsonArray apply, remove, drain;
  if (!flags.files.empty()) {
    auto objects = read_objects(flags.files);
    if (!objects) return tl::unexpected(objects.error());
    if (objects->empty()) return fail("-f " + flags.files.front() + ": has no objects");
    for (const ObjectToApply& each : *objects) {
      auto stored = as_stored(opened, discovery, each);
      if (!stored) return tl::unexpected(stored.error());
      apply.push_back(std::move(*stored));
    }
  }
  for (const std::string& each : flags.without) {
    auto objects = deletions(session, opened, discovery, each);
    if (!objects) return tl::unexpected(objects.error());
    for (Json& object : *objects) {
      remove.push_back(std::move(object));
      out.deleted_by.push_back(each);
    }
  }
  for (const std::string& each : flags.drain) {
    const std::size_t equals = each.find('=');
    drain.push_back(JsonObject{{"key", each.substr(0, equals)}, {"value", each.substr(equals + 1)}});
  }
  out.drained_by = flags.drain;
  out.what_if =
      what_if_of(JsonObject{{"apply", std::move(apply)}, {"delete", std::move(remove)}, {"drain", std::move(drain)}});
  return out;
}

// What is wrong with the values of the flags; no server is asked for this.
Result<void> check(const WhatIfFlags& flags) {
  for (const std::string& each : flags.without) {
    if (const auto what = parse_type_and_name("--without", each); !what) return tl::unexpected(what.error());
  }
  for (const std::string& each : flags.drain) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrong_value("--drain", each, "expected LABEL=VALUE of nodes");
  }
  return {};
}

void print_items(const Session& session, const Json& status, std::string_view key, std::string_view title) {
  Table table({"WORKLOAD", "CLUSTERQUEUE", "BEFORE", "AFTER", "WHY"});
  for (const Json& each : array_at(status, {key}))
    table.add({{at(each, "workload")},
               {at(each, "clusterQueue")},
               {at(each, "before")},
               {at(each, "after")},
               {at(each, "text")}});
  if (!table.empty()) *session.out << title << "\n" << table.text(session.colour) << "\n";
}

std::string arrow(std::string_view before, std::string_view after) {
  return before == after ? std::string(after) : std::string(before) + " -> " + std::string(after);
}
std::string arrow(const Json& object, std::string_view key) {
  return arrow(std::to_string(int_at(object, {key, "before"})), std::to_string(int_at(object, {key, "after"})));
}

void print_text(const Session& session, const Json& status) {
  print_items(session, status, "admitted", "Would get quota:");
  print_items(session, status, "preempted", "Would be preempted:");
  print_items(session, status, "moved", "Would get something else:");
  print_items(session, status, "waiting", "Would wait:");
  print_items(session, status, "gone", "Would be deleted:");
  Table table({"CLUSTERQUEUE", "PENDING", "RESERVING", "SHARE", "RESERVED QUOTA"});
  for (const Json& queue : array_at(status, {"queues"})) {
    std::string reserved;
    for (const Json& each : array_at(queue, {"reserved"}))
      reserved += (reserved.empty() ? "" : ", ") + at(each, "flavor") + "/" + at(each, "resource") + " " +
                  arrow(at(each, "before"), at(each, "after"));
    table.add({{at(queue, "name")},
               {arrow(queue, "pending")},
               {arrow(queue, "reserving")},
               {find(queue, "weightedShare") == nullptr ? "" : arrow(queue, "weightedShare")},
               {reserved}});
  }
  if (table.empty()) {
    *session.out << "Nothing would change.\n";
  } else {
    *session.out << "Queues:\n" << table.text(session.colour);
  }
  if (!bool_at(status, {"complete"}, true))
    *session.out << "Some workloads preempt each other again and again; this is one state of many.\n";
}

int what_if(const Session& session, const WhatIfFlags& flags) {
  if (flags.files.empty() && flags.without.empty() && flags.drain.empty())
    return session.misused("nothing to try: name changes with -f, --without or --drain");
  if (const auto checked = check(flags); !checked) return session.misused(checked.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    auto asked = question(session, opened, flags);
    if (!asked) return session.failed(asked.error().message);
    const auto answer = ask_what_if(*opened.server, std::move(asked->what_if));
    if (!answer) return session.failed(in_words_of_flags(*asked, answer.error().message));
    if (opened.format.text()) {
      print_text(session, *find(*answer, "status"));
    } else {
      *session.out << printed(opened.format, *answer);
    }
    return 0;
  });
}

}  // namespace

Command add_what_if(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("what-if", "Say what would follow from changes; nothing is changed");
  auto flags = std::make_shared<WhatIfFlags>();
  add_list_option(*app, "-f,--filename", flags->files, "A file or directory with objects to apply; may be repeated");
  add_list_option(*app, "--without", flags->without,
                  "As if this object were deleted: TYPE/NAME, for example node/n1 or job/train");
  add_list_option(*app, "--drain", flags->drain, "As if all nodes with this label were gone: LABEL=VALUE");
  add_place_flags(*app, flags->common);
  add_output_flag(*app, flags->common);
  app->footer(
      "The objects go through the API server first (a dry run), so they get its defaults, or its refusal. Then the "
      "changes\n"
      "are made on a copy of the queues, in which evicted jobs stop at once and time stands still. What would happen\n"
      "without them is left out. Queues, cohorts, flavors, topologies, checks, Workloads, Nodes and jobs can be "
      "tried.\n"
      "--without of a job means the workload that belongs to it.\n"
      "Example: berth what-if -f bigger-queue.yaml --without node/gpu-7");
  return {app, [session, flags] { return what_if(session, *flags); }};
}

}  // namespace berth::cli::queues
