// berth watch: follows a job to its end, one line per change.
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "api/kueue/names.h"
#include "base/time.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "cli/queues/followed_pods.h"
#include "cli/queues/job_workloads.h"
#include "cli/queues/kinds.h"
#include "cli/queues/lister.h"
#include "cli/queues/watch_facts.h"
#include "cli/queues/words.h"
#include "cli/queues/workload_facts.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(1);
constexpr Duration kBetweenPositions = std::chrono::seconds(10);  // a queue of thousands is read for one position
constexpr Duration kBetweenLists = std::chrono::seconds(3);       // all workloads of a namespace are read for one
constexpr Duration kBetweenPods = std::chrono::seconds(3), kBetweenQuietPods = std::chrono::seconds(10);
constexpr int kJobFailed = 1, kJobDeleted = 3, kTimedOut = 4;  // exit codes

struct WatchFlags {
  CommonFlags common;
  std::string type, name;
  std::string timeout = "0s";
};

class Watcher {
 public:
  Watcher(const Session& session, Opened& opened, const WatchFlags& flags)
      : session_(session), opened_(opened), server_(*opened.server), flags_(flags), discovery_(server_) {}

  int follow(Duration limit) {
    const Time begin = server_.now();
    while (true) {
      if (const auto code = look()) return *code;
      if (limit > Duration::zero() && server_.now() - begin >= limit) {
        report({"Timeout", shown() + " has not ended after " + format_duration(limit)});
        return kTimedOut;
      }
      server_.sleep(kBetweenLooks);
    }
  }

 private:
  std::string shown() const { return flags_.type + "/" + flags_.name; }

  // One look at the job and its workload; an exit code when there is nothing more to follow.
  std::optional<int> look() {
    if (!resource_) {
      if (means_workload(flags_.type)) {
        resource_ = FoundResource{kWorkload.resource(), std::string(kWorkload.name), true};
      } else if (const auto found = discovery_.by_type(flags_.type); !found) {
        return session_.failed(found.error().message);
      } else if (!found->namespaced) {
        return session_.failed(shown() + ": " + found->kind + " is no kind of job");
      } else {
        resource_ = *found;
      }
    }
    const api::RestResponse watched = read(resource_->resource, flags_.name);
    if (!watched.ok() && watched.code != 404) return refused(watched, resource_->resource);
    answered();
    const std::string uid(watched.ok() ? string_at(watched.body, {"metadata", "uid"}) : "");
    if (uid.empty() || (!uid_.empty() && uid != uid_)) return is_gone();
    uid_ = uid;
    if (means_workload(flags_.type)) return report_about(watched.body);
    const auto workload = workload_of(watched.body);
    if (!workload) return report_trouble(workload.error().message);
    return workload->is_null() ? has_none() : report_about(*workload);
  }

  api::RestResponse read(const api::GroupVersionResource& resource, const std::string& name) {
    api::RestRequest request;
    request.verb = api::Verb::kGet;
    request.resource = resource;
    request.ns = opened_.ns;
    request.name = name;
    return server_.call(std::move(request));
  }

  // The workload of the job that has not finished, else one that has; null: it has none. An elastic job may have a
  // second one, by which it waits to grow.
  Result<Json> workload_of(const Json& job) {
    const bool elastic = string_at(job, {"metadata", "annotations", api::kueue::kElasticJob}) == "true";
    const bool may_list = !listed_ || server_.now() - *listed_ >= kBetweenLists;
    if (!workload_.empty() && !(elastic && may_list)) {
      api::RestResponse known = read(kWorkload.resource(), workload_);
      if (!known.ok() && known.code != 404) return fail(server_.explain(known, kWorkload.resource()));
      if (known.ok() && belongs_to(known.body, job) && !end_of(known.body)) return std::move(known.body);
    } else if (!may_list) {
      return Json();
    }
    listed_ = server_.now();
    auto all = list_objects(session_, server_, {kWorkload.resource(), std::string(kWorkload.name), opened_.ns, {}, {}});
    if (!all) return tl::unexpected(all.error());
    JsonArray own;
    for (Json& workload : *all) {
      if (belongs_to(workload, job)) own.push_back(std::move(workload));
    }
    Json found = main_workload(own);
    growth_ = growth_fact(found, own);
    workload_ = found.is_null() ? "" : std::string(string_at(found, {"metadata", "name"}));
    return found;
  }

  std::optional<int> has_none() {
    if (facts_.empty()) {  // why is asked once
      const auto why = workloads_of_job(session_, opened_, flags_.type, flags_.name);
      report_changes({{"Queue", why ? "it has no workload yet" : why.error().message}});
    } else if (!had_none_) {
      report_changes({{"Queue", "its workload is gone"}});
    }
    had_none_ = true;
    return std::nullopt;
  }

  std::optional<int> report_about(const Json& workload) {
    had_none_ = false;
    const WorkloadState state = state_of(workload);
    WatchFacts now = facts_of(workload, state == WorkloadState::kPending ? position_of(workload) : std::nullopt);
    if (state == WorkloadState::kAdmitted) {
      look_at_pods(workload);
      if (pods_) now.push_back(*pods_);
    } else {
      pods_.reset();
    }
    if (growth_ && state != WorkloadState::kFinished) now.push_back(*growth_);
    report_changes(now);
    const auto end = end_of(workload);
    if (!end) return std::nullopt;
    return *end == Ended::kSucceeded ? 0 : kJobFailed;
  }

  // The pods of the namespace are read for it, seldom once nothing moves.
  void look_at_pods(const Json& workload) {
    const Time now = server_.now();
    if (pods_ && now < next_pods_) return;
    const auto pods = live_pods(session_, opened_, workload);
    if (!pods) return;
    WatchFact fact = pods_fact(workload, pods->pods, pods->waits);
    next_pods_ = now + (pods_ == fact ? kBetweenQuietPods : kBetweenPods);
    pods_ = std::move(fact);
  }

  std::optional<std::int64_t> position_of(const Json& workload) {
    const Time now = server_.now();
    if (asked_ && now - *asked_ < kBetweenPositions) return position_;
    asked_ = now;
    Positions positions;
    const std::string queue(string_at(workload, {"spec", "queueName"}));
    (void)add_positions(server_, opened_.ns, queue, positions);  // without an answer there is no position to show
    const auto found = positions.find({opened_.ns, std::string(string_at(workload, {"metadata", "name"}))});
    position_ = found == positions.end() ? std::nullopt : std::optional(found->second + 1);
    return position_;
  }

  std::optional<int> is_gone() {
    if (uid_.empty()) return session_.failed(shown() + " does not exist in namespace " + opened_.ns);
    report({"End", shown() + " was deleted"});
    return kJobDeleted;
  }

  // A server that does not answer, or that has too much to do, may come back; one that refuses does not change its
  // mind.
  std::optional<int> refused(const api::RestResponse& response, const api::GroupVersionResource& resource) {
    const std::string why = server_.explain(response, resource);
    const bool for_good = response.code >= 400 && response.code < 500 && response.code != 408 && response.code != 429;
    if (uid_.empty() || for_good) return session_.failed(why);
    return report_trouble(why);
  }
  std::optional<int> report_trouble(const std::string& why) {
    if (!std::exchange(silent_, true)) *session_.err << "berth: " << why << "; trying again\n" << std::flush;
    return std::nullopt;
  }
  void answered() {
    if (std::exchange(silent_, false)) *session_.err << "berth: the server answers again\n" << std::flush;
  }

  void report_changes(const WatchFacts& now) {
    for (const WatchFact& fact : changed(facts_, now)) report(fact);
    facts_ = now;
  }

  void report(const WatchFact& fact) {
    const Time now = server_.now();
    if (opened_.format.text()) {
      *session_.out << format_time(now).substr(11, 8) << "  " << fact.topic << std::string(11 - fact.topic.size(), ' ')
                    << fact.text << "\n";
    } else {
      *session_.out << to_string(JsonObject{{"time", format_time(now)},
                                            {"topic", fact.topic},
                                            {"text", fact.text},
                                            {"namespace", opened_.ns},
                                            {"workload", means_workload(flags_.type) ? flags_.name : workload_}})
                    << "\n";
    }
    session_.out->flush();
  }

  const Session& session_;
  Opened& opened_;
  Server& server_;
  const WatchFlags& flags_;
  Discovery discovery_;
  std::optional<FoundResource> resource_;
  std::string uid_;                         // of what is watched; empty: not seen yet
  std::string workload_;                    // its name; empty: not known
  WatchFacts facts_;                        // that were told
  std::optional<WatchFact> pods_, growth_;  // as they were read last
  Time next_pods_{};
  std::optional<Time> listed_;  // when all workloads of the namespace were read
  std::optional<Time> asked_;   // when the position was
  std::optional<std::int64_t> position_;
  bool had_none_ = false;  // it had no workload at the last look
  bool silent_ = false;    // the server does not answer
};

int watch(const Session& session, WatchFlags& flags) {
  const auto limit = parse_duration(flags.timeout);
  if (!limit || *limit < Duration::zero())
    return session.misused(wrong_value("--timeout", flags.timeout, "expected a duration such as 30m").value().message);
  if (const auto split = split_type_and_name(flags.type, flags.name); !split)
    return session.misused(split.error().message);
  if (const auto taken = take_name(flags.name, flags.common); !taken) return session.misused(taken.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    if (!opened.format.text() && opened.format.kind != Format::Kind::kJson)
      return session.misused("-o: expected json; each line is an object");
    return Watcher(session, opened, flags).follow(*limit);
  });
}

}  // namespace

Command add_watch(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("watch", "Follow a job to its end, with one line per change");
  auto flags = std::make_shared<WatchFlags>();
  app->add_option("TYPE", flags->type, "workload, or a kind of job: job, pod, rayjob, ...; or TYPE/NAME")->required();
  app->add_option("NAME", flags->name, "Its name, or NAMESPACE/NAME");
  add_place_flags(*app, flags->common);
  app->add_option("-o,--output", flags->common.output, "json: one object per line");
  app->add_option("--timeout", flags->timeout, "Give up after this time; 0s: never")->capture_default_str();
  app->footer(
      "It tells the position in the queue, why the job waits, its quota and places, evictions, how many of its pods "
      "run, and\nits end. A server that does not answer is asked again.\n"
      "Exit code: 0 it succeeded, 1 it failed or could not be watched, 3 it was deleted, 4 the timeout has passed.\n"
      "Example: berth watch job/train -n team-a");
  return {app, [session, flags] { return watch(session, *flags); }};
}

}  // namespace berth::cli::queues
