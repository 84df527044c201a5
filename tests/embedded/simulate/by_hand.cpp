#include "embedded/simulate/by_hand.h"

#include <string>
#include <utility>

#include "api/meta.h"
#include "api/status.h"
#include "embedded/simulate/hands.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kVersion = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kKind = "Workload";
constexpr std::string_view kName = "by-hand";
constexpr Duration kWait = std::chrono::minutes(1);

}  // namespace

void live_by_hand(Storm& storm, const std::string& ns, const std::string& queue) {
  auto& world = storm.world();
  const auto made = world.create(
      yaml("{apiVersion: " + std::string(kVersion) + ", kind: Workload, metadata: {name: " + std::string(kName) +
           ", namespace: " + ns + "}, spec: {queueName: " + queue +
           ", podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: "
           "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}"));
  if (!made) return storm.complain("a workload cannot be made by hand: " + made.error().message);
  storm.run_for(kWait);
  const Json object = world.get(kVersion, kKind, ns, kName).value_or(Json());
  JsonArray conditions = array_at(object, {"status", "conditions"});
  if (conditions.empty())
    storm.complain("a workload made by hand is neither admitted nor told why not: " + to_string(object));
  conditions.push_back(JsonObject{{"type", "Finished"},
                                  {"status", "True"},
                                  {"reason", "Succeeded"},
                                  {"message", "by hand"},
                                  {"lastTransitionTime", format_time(world.executor().now())}});
  auto finish = world.request_for(kVersion, kKind, ns, kName).value();
  finish.verb = api::Verb::kPatch;
  finish.subresource = "status";
  finish.body = JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}};
  if (const auto response = world.call(std::move(finish)); !response.ok())
    return storm.complain("a workload cannot be finished by hand: " + std::string(api::status_message(response)));
  storm.run_for(kWait);
  auto removal = world.request_for(kVersion, kKind, ns, kName).value();
  removal.verb = api::Verb::kDelete;
  world.call(std::move(removal));
  storm.run_for(kWait);
  if (const auto left = world.get(kVersion, kKind, ns, kName))
    storm.complain("a finished workload that nobody owns is kept from going: " + to_string(*left));
}

}  // namespace berth::simulation
