#include "embedded/simulate/decode.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/core/node.h"
#include "api/kueue/types.h"
#include "api/volcano/types.h"
#include "controller/sources.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/world.h"

namespace berth::simulation {
namespace {

using Decoder = std::function<Result<void>(const Json&)>;

// For each kind, the number of distinct decoding errors that are checked for an event.
constexpr std::size_t kMostReasons = 5;
constexpr Duration kUntilReported = std::chrono::seconds(30);
constexpr int kLeastAccepted = 50;  // in thousandths of the drawn objects; with fewer, too little is tested
constexpr std::string_view kNamespace = "default";

// For kinds whose decoding never fails: invalid members count as absent.
Decoder by_event(engine::Event (*event)(const JsonPtr&, const JsonPtr&)) {
  return [event](const Json& object) -> Result<void> {
    static_cast<void>(event(nullptr, std::make_shared<const Json>(object)));
    return {};
  };
}

template <typename T>
Decoder by(Result<T> (*decode)(const Json&)) {
  return [decode](const Json& object) -> Result<void> {
    const auto decoded = decode(object);
    return decoded ? Result<void>() : tl::unexpected(decoded.error());
  };
}

const std::map<std::string, Decoder>& decoders() {
  static const std::map<std::string, Decoder> kDecoders = {
      {"workloads.kueue.x-k8s.io",
       [](const Json& object) -> Result<void> {
         const auto workload = api::kueue::decode_workload(object);
         return workload ? Result<void>() : tl::unexpected(workload.error());
       }},
      {"clusterqueues.kueue.x-k8s.io", by(api::kueue::decode_cluster_queue)},
      {"cohorts.kueue.x-k8s.io", by(api::kueue::decode_cohort)},
      {"localqueues.kueue.x-k8s.io", by(api::kueue::decode_local_queue)},
      {"resourceflavors.kueue.x-k8s.io", by(api::kueue::decode_resource_flavor)},
      {"topologies.kueue.x-k8s.io", by(api::kueue::decode_topology)},
      {"admissionchecks.kueue.x-k8s.io", by(api::kueue::decode_admission_check)},
      {"limitranges", by_event(controller::limit_range_event)},
      {"runtimeclasses.node.k8s.io", by_event(controller::runtime_class_event)},
      {"queues.scheduling.volcano.sh", by(api::volcano::decode_queue)},
      {"commands.bus.volcano.sh", by(api::volcano::decode_command)},
      // Decoding a node never fails: invalid members count as absent.
      {"nodes",
       [](const Json& object) -> Result<void> {
         static_cast<void>(api::decode_node(object));
         return {};
       }},
  };
  return kDecoders;
}

std::unique_ptr<simulate::World> world_of(bool controller, std::uint64_t seed) {
  simulate::WorldOptions options;
  options.start = parse_time("2026-01-01T00:00:00Z").value();
  options.controller = controller;
  options.job_controller = options.vcjobs = false;
  options.seed = seed;
  return simulate::World::make(options).value();
}

// The error message without its first part (up to ": ") and without digits, so that the same error of two objects
// gives the same text.
std::string kind_of_reason(const std::string& why) {
  std::string out;
  for (const char each : why.substr(why.find(": ") + 1)) {
    if (each < '0' || each > '9') out += each;
  }
  return out;
}

class DecodeRun {
 public:
  explicit DecodeRun(const DecodeOptions& options)
      : options_(options),
        random_(options.seed * 31 + 7),
        world_(world_of(false, options.seed)),
        kinds_(simulate::kinds_of(world_->server().registry())),
        actions_(kinds_, random_) {}

  DecodeCount run(const std::string& resource, const Decoder& decode) {
    DecodeCount count;
    count.resource = resource;
    const auto* kind = kinds_.find(resource);
    if (kind == nullptr) {
      count.broken.push_back("the server does not serve it");
      return count;
    }
    reasons_.clear();
    for (; count.drawn < options_.per_kind; ++count.drawn) draw(*kind, decode, count);
    if (count.accepted * 1000 < count.drawn * kLeastAccepted)
      count.broken.push_back("of " + std::to_string(count.drawn) + " objects only " + std::to_string(count.accepted) +
                             " are accepted: little is tested");
    return count;
  }

 private:
  void draw(const simulate::MonkeyKind& kind, const Decoder& decode, DecodeCount& count) {
    Json object = actions_.make(kind, Json(), world_->executor().now());
    Json metadata = JsonObject{{"name", "d" + std::to_string(count.drawn)}};
    for (const std::string_view member : {"labels", "annotations"}) {
      if (const Json* value = find_path(object, {"metadata", member})) metadata.as_object()[member] = *value;
    }
    if (kind.namespaced) metadata.as_object()["namespace"] = kNamespace;
    object.as_object()["metadata"] = std::move(metadata);
    auto request = simulate::request_about(kind, object, api::Verb::kCreate);
    request.name.clear();
    request.body = object;
    const auto created = world_->call(std::move(request));
    if (!created.ok()) return;
    Json stored = created.body;
    ++count.accepted;
    look(kind, decode, stored, count);
    if (kind.has_status) write_status(kind, decode, stored, count);
    actions_.look_at(kind, stored);
    auto removal = simulate::request_about(kind, stored, api::Verb::kDelete);
    removal.body = JsonObject{{"gracePeriodSeconds", 0}, {"propagationPolicy", "Background"}};
    world_->call(std::move(removal));
  }

  void write_status(const simulate::MonkeyKind& kind, const Decoder& decode, Json& stored, DecodeCount& count) {
    Json wanted = stored;
    actions_.change_status(kind, wanted, world_->executor().now());
    auto request = simulate::request_about(kind, wanted, api::Verb::kUpdate);
    request.subresource = "status";
    request.body = std::move(wanted);
    const auto written = world_->call(std::move(request));
    if (!written.ok()) return;
    stored = written.body;
    ++count.accepted;
    look(kind, decode, stored, count);
  }

  void look(const simulate::MonkeyKind& kind, const Decoder& decode, const Json& stored, DecodeCount& count) {
    const auto decoded = decode(stored);
    if (decoded) return;
    ++count.unreadable;
    if (reasons_.size() == kMostReasons || !reasons_.insert(kind_of_reason(decoded.error().message)).second) return;
    if (!is_reported(kind, stored)) count.broken.push_back(decoded.error().message + ": " + to_string(stored));
  }

  // Creates the object in a cluster with a controller. Returns whether an event with reason CannotBeRead names it.
  static bool is_reported(const simulate::MonkeyKind& kind, const Json& stored) {
    const auto world = world_of(true, 1);
    Json object = simulate::without_server_metadata(stored);
    if (!world->create(object)) return false;
    if (const Json* status = find(stored, "status"); kind.has_status && status != nullptr) {
      auto request = simulate::request_about(kind, object, api::Verb::kPatch);
      request.subresource = "status";
      request.body = JsonObject{{"status", *status}};
      if (!world->call(std::move(request)).ok()) return false;
    }
    world->run_for(kUntilReported);
    for (const auto& event : list_all(*world, "events.k8s.io/v1", "Event")) {
      if (string_at(event, {"reason"}) == "CannotBeRead" && string_at(event, {"regarding", "kind"}) == kind.kind &&
          string_at(event, {"regarding", "name"}) == string_at(object, {"metadata", "name"}))
        return true;
    }
    return false;
  }

  DecodeOptions options_;
  simulate::Random random_;
  std::unique_ptr<simulate::World> world_;
  simulate::MonkeyKinds kinds_;
  simulate::MonkeyActions actions_;
  std::set<std::string> reasons_;  // distinct errors of the present kind
};

}  // namespace

std::vector<DecodeCount> run_decode(const DecodeOptions& options) {
  std::vector<DecodeCount> counts;
  for (const auto& [resource, decode] : decoders()) counts.push_back(DecodeRun(options).run(resource, decode));
  return counts;
}

}  // namespace berth::simulation
