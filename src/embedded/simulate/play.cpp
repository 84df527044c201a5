#include "embedded/simulate/play.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/status.h"
#include "base/log.h"
#include "controller/configure.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/simulate/capacity_watch.h"
#include "embedded/simulate/match.h"
#include "embedded/simulate/queue_watch.h"
#include "embedded/simulate/rack_picture.h"
#include "embedded/simulate/world.h"

namespace berth::simulate {
namespace {

// A scenario without `end` ends when all workloads are done, and after this time at the latest.
constexpr Duration kLongest = std::chrono::hours(24 * 7);
constexpr Duration kBetweenLooks = std::chrono::seconds(10);

std::string name_of(const Json& object) {
  std::string name(string_at(object, {"kind"}));
  name.append(" ");
  const auto ns = string_at(object, {"metadata", "namespace"});
  if (!ns.empty()) name.append(ns).append("/");
  return name.append(string_at(object, {"metadata", "name"}));
}

class Player {
 public:
  Player(const Scenario& scenario, const PlayOptions& options, World& world)
      : scenario_(scenario),
        options_(options),
        world_(world),
        observer_(world.client(), world.executor()),
        capacity_(world.client(), world.executor()),
        queues_(world.client(), world.executor()) {
    if (options_.on_moment) {
      observer_.on_moment(options_.on_moment);
      capacity_.on_moment(options_.on_moment);
      queues_.on_moment(options_.on_moment);
      queues_.start();
    }
    observer_.report_places([this](std::string_view host) { return capacity_.rack_of(host); });
    capacity_.start();
    observer_.keep_history();
    observer_.start();
  }

  Result<Played> run() {
    for (const auto& object : scenario_.manifests) {
      if (auto created = world_.apply(object); !created) return fail(name_of(object) + ": " + created.error().message);
    }
    for (const auto& step : scenario_.timeline) {
      world_.run_for(scenario_.start + step.at - world_.executor().now());
      if (auto done = perform(step); !done) return tl::unexpected(done.error());
    }
    finish();
    return Played{scenario_.start,         world_.executor().now(),  std::move(failures_), observer_.lives(),
                  observer_.utilisation(), observer_.all_finished(), observer_.history()};
  }

 private:
  Result<void> perform(const Step& step) {
    if (!step.say.empty() && options_.on_say) options_.on_say(world_.executor().now(), step.say);
    for (const auto& object : step.expect) expect(object, step.at);
    for (const auto& placed : step.placed) {
      const auto differences = placement_differences(placed, list("Workload"), list("Node"), list("Pod"));
      for (const auto& text : differences)
        failures_.push_back("at " + format_duration(step.at) + ": Job " + placed.ns + "/" + placed.job + ": " + text);
    }
    if (step.racks) show_racks();
    for (const auto& object : step.apply) {
      if (auto applied = world_.apply(object); !applied) return fail(name_of(object) + ": " + applied.error().message);
    }
    for (const auto& refusal : step.refuse) refuse(refusal, step.at);
    for (const auto& patch : step.patch) {
      auto request =
          world_.request_for(patch.object.api_version, patch.object.kind, patch.object.ns, patch.object.name);
      if (!request) return tl::unexpected(request.error());
      request->verb = api::Verb::kPatch;
      request->patch_type = api::PatchType::kMerge;
      request->subresource = patch.subresource;
      request->body = patch.patch;
      if (auto sent = send(std::move(*request), patch.object); !sent) return sent;
    }
    for (const auto& object : step.remove) {
      auto request = world_.request_for(object.api_version, object.kind, object.ns, object.name);
      if (!request) return tl::unexpected(request.error());
      request->verb = api::Verb::kDelete;
      request->body = JsonObject{{"propagationPolicy", "Background"}};
      if (auto sent = send(std::move(*request), object); !sent) return sent;
    }
    return {};
  }

  void refuse(const Refusal& refusal, Duration at) {
    const std::string who = name_of(refusal.object);
    const std::string where = "at " + format_duration(at) + ": " + who;
    const auto applied = world_.apply(refusal.object);
    if (applied) {
      failures_.push_back(where + " shall be refused, it is not");
    } else if (applied.error().message.find(refusal.because) == std::string::npos) {
      failures_.push_back(where + " shall be refused because \"" + refusal.because + "\", not because " +
                          applied.error().message);
    } else if (options_.on_moment) {
      options_.on_moment({world_.executor().now(), who, "is refused: " + applied.error().message});
    }
  }

  Result<void> send(api::RestRequest request, const Reference& object) {
    const auto response = world_.call(std::move(request));
    if (response.ok()) return {};
    return fail(object.kind + " " + (object.ns.empty() ? "" : object.ns + "/") + object.name + ": " +
                std::string(api::status_message(response)));
  }

  // Lists the objects of all namespaces.
  std::vector<Json> list(std::string_view kind) {
    auto request = world_.request_for(kind == "Workload" ? "kueue.x-k8s.io/v1beta2" : "", kind, "", "");
    if (!request) return {};
    request->verb = api::Verb::kList;
    request->ns.clear();
    const auto response = world_.call(std::move(*request));
    const auto& items = array_at(response.body, {"items"});
    return {items.begin(), items.end()};
  }

  void show_racks() {
    if (!options_.on_racks) return;
    PictureOptions picture;
    picture.rack_label = rack_label_of(list("Topology"));
    picture.colour = options_.colour;
    const auto pods = list("Pod");
    for (auto& holder : holders_of(pods)) {  // a holder keeps its letter
      if (std::find(holders_.begin(), holders_.end(), holder) == holders_.end()) holders_.push_back(std::move(holder));
    }
    picture.holders = holders_;
    options_.on_racks(rack_picture(list("Node"), pods, picture));
  }

  void expect(Json wanted, Duration at) {
    if (const std::string job(string_at(wanted, {"job"})); !job.empty()) {
      const auto workloads = list("Workload");
      const Json* workload = workload_of(workloads, string_at(wanted, {"metadata", "namespace"}, "default"), job);
      ensure_path(wanted, {"metadata", "name"}) =
          workload == nullptr ? "of-job-" + job : std::string(string_at(*workload, {"metadata", "name"}));
      wanted.as_object().erase("job");
    }
    Json expected = wanted;
    const bool absent = bool_at(wanted, {"absent"});
    expected.as_object().erase("absent");
    const auto actual =
        world_.get(string_at(wanted, {"apiVersion"}), string_at(wanted, {"kind"}),
                   string_at(wanted, {"metadata", "namespace"}), string_at(wanted, {"metadata", "name"}));
    const std::string where = "at " + format_duration(at) + ": " + name_of(wanted);
    if (absent) {
      if (actual) failures_.push_back(where + " shall not exist, it does");
    } else if (!actual) {
      failures_.push_back(where + ": " + actual.error().message);
    } else {
      for (const auto& difference : differences(expected, *actual, "")) failures_.push_back(where + " " + difference);
    }
  }

  void finish() {
    if (scenario_.end) {
      world_.run_for(scenario_.start + *scenario_.end - world_.executor().now());
      return;
    }
    const Time latest = world_.executor().now() + kLongest;
    while (!observer_.all_finished() && world_.executor().now() < latest) world_.run_for(kBetweenLooks);
  }

  const Scenario& scenario_;
  const PlayOptions& options_;
  World& world_;
  Observer observer_;
  CapacityWatch capacity_;
  QueueWatch queues_;
  std::vector<std::string> holders_;  // in the order of their letters in pictures
  std::vector<std::string> failures_;
};

// The kinds of jobs that the scenario has objects of, and LeaderWorkerSets.
std::string external_kinds_of(const Scenario& scenario) {
  std::string names = WorldOptions().external_kinds;
  const auto add = [&names](const Json& object) {
    const auto name = apiserver::external_kind_of(string_at(object, {"apiVersion"}), string_at(object, {"kind"}));
    if (!name.empty()) names.append(",").append(name);
  };
  std::ranges::for_each(scenario.manifests, add);
  for (const Step& step : scenario.timeline) {
    std::ranges::for_each(step.apply, add);
    for (const Refusal& refusal : step.refuse) add(refusal.object);
  }
  return names;
}

}  // namespace

Result<Played> play(const Scenario& scenario, const PlayOptions& options) {
  WorldOptions world_options;
  world_options.start = scenario.start;
  world_options.nodes = scenario.nodes;
  world_options.node_resources = scenario.node_resources;
  world_options.devices_of_nodes = scenario.devices;
  world_options.scale_up = scenario.scale_up;
  world_options.provisioning_delay = scenario.provisioning_delay;
  world_options.apps_controllers = true;
  world_options.external_kinds = external_kinds_of(scenario);
  world_options.seed = options.seed;
  world_options.between = options.between;
  controller::FeatureGates gates = options.feature_gates;
  gates.insert(scenario.feature_gates.begin(), scenario.feature_gates.end());
  auto configured = controller::controller_options(scenario.configuration, gates);
  if (!configured) return tl::unexpected(configured.error());
  for (const auto& each : configured->not_honoured) log::warn(each.line);
  world_options.configure(*configured);
  auto world = World::make(world_options);
  if (!world) return tl::unexpected(world.error());
  return Player(scenario, options, **world).run();
}

}  // namespace berth::simulate
