// Flags that the commands on queues share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/cluster_access.h"
#include "cli/commands.h"
#include "cli/queues/kinds.h"
#include "cli/queues/print.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

enum class DryRun { kNone, kClient, kServer };

struct CommonFlags {
  AccessFlags access;
  std::string ns;  // --namespace; empty: that of the context
  std::string output, dry_run = "none";
  bool managed_fields = false;
};

// --kubeconfig, --context and --namespace.
void add_place_flags(CLI::App& app, CommonFlags& flags);
// A NAME such as "team-a/train" names its namespace too: moves that to `flags`. Error: these cannot be names of
// objects. They become parts of paths, so this is checked before a server is asked.
Result<void> take_name(std::string& name, CommonFlags& flags);
void add_output_flag(CLI::App& app, CommonFlags& flags);   // --output
void add_format_flags(CLI::App& app, CommonFlags& flags);  // the same and --show-managed-fields, for stored objects
void add_dry_run_flag(CLI::App& app, CommonFlags& flags);
// An option that may be repeated, each with one value.
void add_list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& about);

Result<DryRun> parse_dry_run(std::string_view text);
std::string_view remark(DryRun dry_run);  // " (server dry run)", ...; "" for none

// A subcommand for a kind, with its aliases.
CLI::App* add_kind_command(CLI::App& group, const Kind& kind, const std::string& about);

// What most commands begin with: the parsed flags and the server. `run` gets them; errors are reported.
struct Opened {
  std::unique_ptr<Server> server;
  Format format;
  DryRun dry_run = DryRun::kNone;
  std::string ns;  // of namespaced objects
};
int with_server(const Session& session, const CommonFlags& flags, const std::function<int(Opened&)>& run);

// A command whose subcommands do the work.
Command group_of(CLI::App* app, std::vector<Command> subcommands);

}  // namespace berth::cli::queues
