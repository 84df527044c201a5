#include "embedded/simulate/monkey_act.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/amount.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/rest_audit.h"

namespace berth::simulation {
namespace {

constexpr std::uint64_t kBetweenActions = 400'000;  // microseconds; upper bound of the random time between two actions
// The longest time to come to rest: several times the longest back-off of any client, and the time in which the past
// usage of a tenant fades, however much it was (less than 100 half-lives of a minute).
constexpr Duration kLongestUnrest = std::chrono::hours(6);
constexpr Duration kRest = std::chrono::minutes(12);  // at rest: no write for this long
constexpr Duration kStep = std::chrono::minutes(1);
constexpr Duration kFirstLook = std::chrono::minutes(3);  // time for a new controller to read and decide
constexpr int kMostRounds = 60;                           // rounds of restoring until all objects must be right
constexpr Duration kRound = std::chrono::seconds(20);
constexpr int kMostReturns = 4;  // a CRD must be gone before it is created again, and only then its objects
constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kLastWrites = 8;
constexpr std::size_t kMostPending = 200;

std::string brief(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

std::string counts(const std::map<std::string, Amount>& amounts) {
  std::string out;
  for (const auto& [resource, amount] : amounts) out += " " + resource + "=" + format_amount(resource, amount);
  return out;
}

}  // namespace

MonkeyAct::MonkeyAct(Storm& storm, std::uint64_t seed)
    : storm_(storm), random_(seed * 104'729 + 3), kinds_(simulate::kinds_of(storm.world().server().registry())) {
  simulate::MonkeyOptions options;
  options.crds = seed % 5 == 0;
  group_ = std::make_unique<simulate::MonkeyGroup>(storm.world().client(), storm.world().executor(), kinds_, seed,
                                                   std::move(options));
}

void MonkeyAct::remember() {
  bool known = false;
  group_->remember([&known](const Result<void>& done) { known = done.has_value(); });
  storm_.run_for(std::chrono::seconds(1));
  if (!known) storm_.complain("the objects that are to be put right again could not be read");
}

void MonkeyAct::play(std::uint64_t events) {
  playing_ = true;
  schedule();
  storm_.play_until(storm_.log().events + events);
  playing_ = false;
}

void MonkeyAct::schedule() {
  storm_.world().executor().after(Duration(static_cast<Duration::rep>(random_.below(kBetweenActions))), [this] {
    if (!playing_) return;
    group_->step();
    schedule();
  });
}

// Whether time alone makes the controller write while a fresh one is compared with it: a backoff or a deadline ends.
bool MonkeyAct::acts_soon() const {
  engine::Engine later = storm_.controller().engine().copy();
  const Time then = storm_.world().executor().now() + kFirstLook;
  later.handle(then, engine::TimePassed{});
  return std::ranges::any_of(later.schedule(then), [](const engine::Effect& effect) {
    return std::holds_alternative<engine::WriteWorkloadStatus>(effect) ||
           std::holds_alternative<engine::DeactivateWorkload>(effect);
  });
}

bool MonkeyAct::rests() {
  auto& world = storm_.world();
  const Time end = world.executor().now() + kLongestUnrest;
  Time since = world.executor().now();
  std::uint64_t written = storm_.writes().writes();
  while (world.executor().now() < end && storm_.healthy()) {
    storm_.run_for(kStep);
    if (const auto now_written = storm_.writes().writes(); now_written != written) {
      written = now_written;
      since = world.executor().now();
    }
    if (world.executor().now() - since >= kRest && !acts_soon()) return true;
  }
  return false;
}

void MonkeyAct::come_to_rest() {
  storm_.calm();
  // Several times: objects can come back only after their CustomResourceDefinition is back.
  for (int i = 0; i < kMostReturns; ++i) {
    group_->end();
    storm_.run_for(kRound);
  }
  if (!rests()) {
    return storm_.complain("the controller does not come to rest; it wrote last:" + last_writes(kLastWrites));
  }
  for (const auto& sentence : without_reason(storm_.world())) storm_.complain(sentence);
  for (const auto& sentence : orphaned_requests(storm_.world())) storm_.complain(sentence);
  compare_with_a_fresh_controller();
}

std::map<std::string, std::string> MonkeyAct::picture() const {
  std::map<std::string, std::string> out;
  const auto& engine = storm_.controller().engine();
  for (const auto& held : engine.held_quotas())
    out["what " + held.workload.meta.ns + "/" + held.workload.meta.name + " holds"] =
        held.cluster_queue + counts(held.amounts);
  for (const auto& queue : list_all(storm_.world(), "kueue.x-k8s.io/v1beta2", "ClusterQueue")) {
    const std::string name(string_at(queue, {"metadata", "name"}));
    const auto pending = engine.pending_in_cluster_queue(name, 0, kMostPending);
    std::string& line = out["waiting in " + name];
    if (!pending) continue;
    for (const auto& waiting : *pending) line += waiting.object->meta.ns + "/" + waiting.object->meta.name + " ";
    const auto status = engine.cluster_queue_status(name);
    out["the state of " + name] =
        status ? status->reason + " " + std::to_string(status->reserving) + " " + std::to_string(status->admitted)
               : "none";
  }
  return out;
}

std::string MonkeyAct::last_writes(std::size_t most) const {
  const auto& last = storm_.writes().last();
  std::string out;
  for (std::size_t i = last.size() - std::min(most, last.size()); i < last.size(); ++i)
    out += "\n  " + format_time(last[i].when) + " " + last[i].what + " " + last[i].body;
  return out;
}

void MonkeyAct::compare_with_a_fresh_controller() {
  if (!storm_.healthy()) return;
  const auto before = picture();
  const std::uint64_t changes = storm_.writes().changes(), written = storm_.writes().writes();
  storm_.restart();
  storm_.run_for(kFirstLook);
  if (storm_.writes().changes() > changes)
    storm_.complain("a controller that starts on objects at rest changes something:" +
                    last_writes(std::min<std::size_t>(storm_.writes().writes() - written, kLastWrites)));
  const auto after = picture();
  std::size_t named = 0;
  for (const auto& [what, now] : after) {
    const auto it = before.find(what);
    const std::string then = it == before.end() ? "nothing" : it->second;
    if (then != now && named++ < kMostNamed)
      storm_.complain("a controller that starts sees something else: " + what + ": " + now + "; before: " + then);
  }
  for (const auto& [what, then] : before) {
    if (!after.contains(what) && named++ < kMostNamed)
      storm_.complain("a controller that starts does not see " + what + ": " + then);
  }
}

void MonkeyAct::put_right() {
  std::optional<std::vector<std::string>> wrong;
  for (int round = 0; round < kMostRounds && storm_.healthy(); ++round) {
    wrong.reset();
    group_->restore([&wrong](std::vector<std::string> what) { wrong = std::move(what); });
    storm_.run_for(kRound);
    if (wrong && wrong->empty()) return;
  }
  if (storm_.healthy()) complain_of_what_stays(wrong.value_or(std::vector<std::string>{"the answers are missing"}));
}

void MonkeyAct::complain_of_what_stays(const std::vector<std::string>& wrong) {
  std::size_t named = 0;
  for (const auto& [resource, weight] : simulate::MonkeyOptions::kinds_that_berth_reads()) {
    const auto* kind = kinds_.find(resource);
    if (kind == nullptr) continue;
    for (const auto& object : list_all(storm_.world(), kind->api_version(), kind->kind)) {
      if (find_path(object, {"metadata", "deletionTimestamp"}) != nullptr && named++ < kMostNamed)
        storm_.complain("this is kept from going: " + brief(object));
    }
  }
  std::string all;
  for (const auto& sentence : wrong) all += "\n  " + sentence;
  storm_.complain("the cluster cannot be put right:" + all);
}

}  // namespace berth::simulation
