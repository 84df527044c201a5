// berth load: plays a load file, in virtual time or against an API server, and reports how long workloads waited.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/read_file.h"
#include "cli/output.h"
#include "cli/shared_flags.h"
#include "controller/feature_gates.h"
#include "embedded/commands/commands.h"
#include "embedded/commands/load_live.h"
#include "embedded/simulate/load.h"
#include "embedded/simulate/load_run.h"

namespace berth::cli {
namespace {

struct Options {
  std::string file;
  std::string as = "jobs";
  std::string format = "text";
  std::string feature_gates;
  std::size_t limit = simulate::kMaxSubmissions;
  std::uint64_t seed = 1;
  LiveLoadOptions live;
  bool is_live = false;
  bool remove = false;
};

// Real time between two progress lines.
constexpr std::chrono::seconds kTellTerminal(3), kTellFile(20);

// CPU time and peak memory of this process so far.
struct Used {
  double cpu_seconds = 0;
  std::int64_t peak_mib = 0;
};

Used used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024};
}

// Prints the progress of a play to stderr: often to a terminal, rarely to a file.
class ProgressReporter {
 public:
  explicit ProgressReporter(const simulate::Load& load) : load_(load) {}

  void progress(const simulate::LoadProgress& p) {
    const auto now = std::chrono::steady_clock::now();
    const auto each = isatty(STDERR_FILENO) != 0 ? kTellTerminal : kTellFile;
    if (now - reported_ < each) return;
    reported_ = now;
    if (p.made < load_.objects.size()) {
      std::fprintf(stderr, "made %zu of %zu queues and other objects\n", p.made, load_.objects.size());
      return;
    }
    std::fprintf(stderr, "%4llds  submitted %zu, admitted %zu, finished %zu of %zu\n",
                 static_cast<long long>(std::chrono::round<std::chrono::seconds>(p.at).count()), p.submitted,
                 p.admitted, p.finished, load_.submissions.size());
  }
  // In virtual time, what is said again says nothing new.
  void stall(const std::string& why, bool once = false) {
    if (!reasons_.insert(why).second && once) return;
    std::fprintf(stderr, "No progress: %s.\n", why.c_str());
  }

 private:
  const simulate::Load& load_;
  std::set<std::string> reasons_;
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

constexpr const char* kPodGroups = "pod-groups";

simulate::LoadAs as(const Options& options) {
  return options.as == "jobs"        ? simulate::LoadAs::kJobs
         : options.as == "jobsets"   ? simulate::LoadAs::kJobSets
         : options.as == "workloads" ? simulate::LoadAs::kWorkloads
                                     : simulate::LoadAs::kPods;
}

Result<simulate::LoadReport> play_virtual(const Options& options, const simulate::Load& load) {
  auto gates = controller::parse_feature_gates(options.feature_gates);
  if (!gates) return fail("--feature-gates: " + gates.error().message);
  for (const auto& each : controller::not_honoured(*gates)) log::warn(each.line);
  simulate::LoadRunOptions run_options;
  run_options.feature_gates = std::move(*gates);
  run_options.as = as(options);
  run_options.seed = options.seed;
  ProgressReporter reporter(load);
  run_options.on_progress = [&](const simulate::LoadProgress& progress) { reporter.progress(progress); };
  run_options.on_stall = [&](const std::string& why) { reporter.stall(why, true); };
  return simulate::run_load(load, run_options);
}

Result<LiveLoadReport> play_live(const Options& options, const simulate::Load& load) {
  LiveLoadOptions live = options.live;
  live.as = as(options);
  ProgressReporter reporter(load);
  live.on_progress = [&](const simulate::LoadProgress& progress) { reporter.progress(progress); };
  live.on_stall = [&](const std::string& why) { reporter.stall(why); };
  return run_live_load(load, live);
}

// `requests`: the requests of a live play to the API server.
int show(const Options& options, const simulate::LoadReport& report,
         const std::map<std::string, std::uint64_t>& requests) {
  const Used process = used();
  if (options.format == "json") {
    Json json = simulate::to_json(report);
    ensure_path(json, {"process", "cpuSeconds"}) = process.cpu_seconds;
    ensure_path(json, {"process", "peakMiB"}) = process.peak_mib;
    for (const auto& [what, count] : requests) ensure_path(json, {"process", "requests", what}) = count;
    std::printf("%s\n", to_pretty_string(json).c_str());
  } else {
    std::printf("%s\nThis process used %.1f s of a core and at most %lld MiB%s.\n", simulate::to_table(report).c_str(),
                process.cpu_seconds, static_cast<long long>(process.peak_mib),
                options.is_live ? "" : ": server, controller and cluster together");
  }
  return report.finished == report.count ? 0 : 1;
}

int run(const Options& options) {
  const auto text = read_file(options.file);
  if (!text) return failure(text.error().message + "; name a load file (see config/samples/load.yaml)");
  const auto load = simulate::parse_load(*text, {options.limit, options.as == kPodGroups ? simulate::kLoadGroup : 1});
  if (!load) return failure(options.file + ": " + load.error().message);

  if (options.remove) {
    LiveLoadOptions live = options.live;
    live.as = as(options);
    const auto removed = remove_live_load(*load, live);
    return removed ? 0 : failure(removed.error().message);
  }
  if (options.is_live) {
    const auto played = play_live(options, *load);
    if (!played) return failure(options.file + ": " + played.error().message);
    return show(options, played->load, played->requests);
  }
  const auto played = play_virtual(options, *load);
  if (!played) return failure(options.file + ": " + played.error().message);
  return show(options, *played, {});
}

}  // namespace

Command add_load(CLI::App& root) {
  auto* app = root.add_subcommand(
      "load",
      "Play a load file, in virtual time or against an API server: makespan, utilisation, waiting times per class");
  auto options = std::make_shared<Options>();
  app->add_option("FILE", options->file, "YAML file: topology, queues and workloads, as Kueue's benchmarks")
      ->required();
  app->add_option("--as", options->as,
                  "Submit jobs, whose pods the pretend cluster runs; bare workloads, which are pretended to run once "
                  "they are admitted; jobsets, each of two replicated jobs with pods of half the request; pods (groups "
                  "of pods for workloads with a podCount); or pod-groups: ten "
                  "workloads become a group of ten pods, each with a tenth of the request and ten times the runtime")
      ->check(CLI::IsMember({"jobs", "workloads", "jobsets", "pods", kPodGroups}))
      ->capture_default_str();
  app->add_option("--limit", options->limit, "At most this many times through each workloadsSet: a short try")
      ->check(whole_number(1, simulate::kMaxSubmissions));
  auto* kubeconfig = app->add_option("--kubeconfig", options->live.kubeconfig,
                                     "Play in real time against this API server, whose controller decides");
  app->add_option("--qps", options->live.qps, "Requests per second to the API server at most; 0: no limit")
      ->check([](const std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value >= 0 ? "" : "expected a number from 0, got " + text;
      })
      ->needs(kubeconfig);
  app->add_flag("--keep", options->live.keep, "Leave everything that was made on the API server")->needs(kubeconfig);
  app->add_flag("--remove", options->remove, "Play nothing: delete what an earlier --keep has left")->needs(kubeconfig);
  add_feature_gates_flag(*app, options->feature_gates)->excludes(kubeconfig);
  app->add_option("--seed", options->seed, "Seed of generated names and delays")
      ->check(whole_number())
      ->capture_default_str()
      ->excludes(kubeconfig);
  add_output_option(*app, options->format);
  app->footer(
      "Without --kubeconfig everything runs in this process: an API server in memory, the controller and pretend "
      "machines.\n"
      "With it, queues, namespaces and workloads are made on that server, played with, and deleted at the end.\n"
      "Exit code 1 when not all workloads have finished.");
  return {app, [options, kubeconfig] {
            options->is_live = kubeconfig->count() > 0;
            return run(*options);
          }};
}

}  // namespace berth::cli
