#include "embedded/simulate/volcano_chaos.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/volcano/types.h"
#include "embedded/simulate/volcano_audit.h"
#include "embedded/simulate/volcano_people.h"

namespace berth::simulation {
namespace {

using api::volcano::JobPhase;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;
using volcano::testing::Drawing;

constexpr std::string_view kScheduling = "scheduling.volcano.sh/v1beta1";
constexpr std::size_t kEnoughText = 20'000;
// The run is divided into so many parts; after each the cluster must come to rest. kLongestRest is as long as the
// longest back-off of a status write.
constexpr std::uint64_t kRests = 4;
constexpr Duration kLongestRest = std::chrono::minutes(20);
constexpr Duration kRestStep = std::chrono::seconds(10);
// The longest time to settle after the faults end: several times the longest back-off and the longest job.
constexpr Duration kCalm = std::chrono::hours(6);
constexpr Duration kCalmStep = std::chrono::minutes(5);

bool is_over(JobPhase phase) {
  return phase == JobPhase::kCompleted || phase == JobPhase::kFailed || phase == JobPhase::kTerminated ||
         phase == JobPhase::kAborted;
}

bool waits(const PodGroup& group) {
  return group.status.phase == PodGroupPhase::kNone || group.status.phase == PodGroupPhase::kPending;
}

std::string without_fields(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

class VolcanoChaos {
 public:
  explicit VolcanoChaos(const ChaosOptions& options) : options_(options), lawful_(options.seed % 4 != 0) {}

  VolcanoChaosResult run() {
    if (set_up()) {
      storm_->begin();
      schedule_people();
      for (std::uint64_t rest = 1; rest <= kRests && storm_->healthy(); ++rest) {
        storm_->play_until(options_.events * rest / kRests);
        come_to_rest();
      }
      calm();
      count();
    }
    if (storm_) static_cast<StormLog&>(result_) = std::move(storm_->log());
    return std::move(result_);
  }

 private:
  bool set_up() {
    simulate::WorldOptions world = storm_world(options_.seed);
    world.nodes = "1x1x3";
    world.webhooks = lawful_;
    world_ = make_world(world, result_.broken);
    if (!world_) return false;
    storm_ = std::make_unique<Storm>(*world_, options_.seed);
    storm_->on_restart([this] { audit_.restarted(); });
    storm_->on_round([this] {
      if (!lawful_) return;
      for (const auto& sentence : audit_.after_round(storm_->controller())) storm_->complain(sentence);
    });
    people_ = std::make_unique<VolcanoPeople>(world_->client(), options_.seed, lawful_);
    return storm_->populate(people_->estate());
  }

  void schedule_people() {
    world_->executor().after(Duration(static_cast<Duration::rep>(storm_->random().below(6'000'000))), [this] {
      if (over_) return;
      if (!storm_->is_calm()) people_->act();
      schedule_people();
    });
  }

  // Stops users and faults. Complains if the queue statuses are not right within kLongestRest.
  void come_to_rest() {
    storm_->calm();
    const Time end = world_->executor().now() + kLongestRest;
    std::vector<std::string> wrong;
    do {
      world_->run_for(kRestStep);
      wrong = compare_statuses(*world_);
    } while (!wrong.empty() && world_->executor().now() < end && storm_->healthy());
    for (const auto& sentence : wrong) storm_->complain(sentence);
    ++result_.rests;
    storm_->blow();
  }

  void calm() {
    over_ = true;
    storm_->calm();
    const Time end = world_->executor().now() + kCalm;
    do {
      people_->calm_down();
      world_->run_for(kCalmStep);
    } while (world_->executor().now() < end && storm_->healthy() && !settled());
    if (!settled()) storm_->complain(unsettled_);
    for (const auto& sentence : compare_statuses(*world_)) storm_->complain(sentence);
  }

  // --- All queues are open, and everything that can be admitted has ended.

  struct Scene {
    Drawing drawing;
    std::vector<PodGroup> groups;
  };

  bool settled() {
    unsettled_.clear();
    Scene scene;
    const auto queues = list_all(*world_, kScheduling, "Queue");
    scene.drawing = draw_queues(queues);
    for (const Json& object : list_all(*world_, kScheduling, "PodGroup")) {
      if (auto group = api::volcano::decode_pod_group(object)) scene.groups.push_back(std::move(*group));
    }
    for (const Json& queue : queues) {
      if (string_at(queue, {"status", "state"}) != "Open") note("a queue does not open", queue);
    }
    for (const Json& job : list_all(*world_, "batch.volcano.sh/v1alpha1", "Job")) look_at_job(scene, job);
    for (const PodGroup& group : scene.groups) {
      const bool own = group.meta.owners.empty();
      if (own && group.status.phase != PodGroupPhase::kCompleted && !(waits(group) && is_hopeless(scene, group)))
        note("a PodGroup does not end",
             world_->get(kScheduling, "PodGroup", group.meta.ns, group.meta.name).value_or(Json()));
    }
    for (const Json& job : list_all(*world_, "batch/v1", "Job")) look_at_shared(scene, job);
    return unsettled_.empty();
  }

  void note(const std::string& what, const Json& object) {
    if (unsettled_.size() < kEnoughText) unsettled_ += what + ": " + without_fields(object) + "\n";
  }

  void look_at_job(const Scene& scene, const Json& object) {
    const auto job = api::volcano::decode_job(object);
    if (!job || is_over(job->status.phase)) return;
    const auto owned = [&](const PodGroup& group) {
      return std::ranges::any_of(group.meta.owners, [&](const auto& owner) { return owner.uid == job->meta.uid; });
    };
    const auto group = std::ranges::find_if(scene.groups, owned);
    if (group == scene.groups.end()) {
      // A PodGroup without a queue goes to the queue that its namespace names, instead of default. Admission refuses
      // a PodGroup in a queue that has children.
      const bool elsewhere = job->queue == "default" && job->meta.ns == kNamespaceWithQueue;
      if (takes_work(scene, elsewhere ? std::string(kQueueOfNamespace) : job->queue))
        note("a vcjob has no PodGroup", object);
    } else if (!waits(*group) || !is_hopeless(scene, *group)) {
      note("a vcjob does not end", object);
      note("its PodGroup", world_->get(kScheduling, "PodGroup", group->meta.ns, group->meta.name).value_or(Json()));
    }
  }

  void look_at_shared(const Scene& scene, const Json& job) {
    for (const auto& condition : array_at(job, {"status", "conditions"})) {
      const auto type = string_at(condition, {"type"});
      if ((type == "Complete" || type == "Failed") && string_at(condition, {"status"}) == "True") return;
    }
    const std::int64_t pods = int_at(job, {"spec", "parallelism"});
    const Quantity each = api::pod_requests(*find_path(job, {"spec", "template", "spec"})).at("cpu");
    if (pods * to_amount("cpu", each).count() <= scene.drawing.ceiling(std::string(kSharedQueue), "cpu"))
      note("a Job of Kueue's queue does not end", job);
  }

  bool takes_work(const Scene& scene, const std::string& queue) const {
    if (queue == "root" || !scene.drawing.queues.contains(queue) || !scene.drawing.children(queue).empty())
      return false;
    std::set<std::string> way;
    std::string at = queue;
    while (at != "root" && scene.drawing.queues.contains(at) && way.insert(at).second) at = scene.drawing.parent(at);
    return at == "root";
  }

  // True when the group could not be admitted even if nothing else held quota.
  bool does_not_fit(const Scene& scene, const PodGroup& group) const {
    if (!takes_work(scene, group.queue)) return true;
    if (!group.min_resources) return false;
    return std::ranges::any_of(*group.min_resources, [&](const auto& each) {
      return to_amount(each.first, each.second).count() > scene.drawing.ceiling(group.queue, each.first);
    });
  }
  // True when the group does not fit, or waits in a queue with dequeueStrategy fifo in which a waiting group does not
  // fit.
  bool is_hopeless(const Scene& scene, const PodGroup& group) const {
    if (does_not_fit(scene, group)) return true;
    if (scene.drawing.queues.at(group.queue).dequeue_strategy != api::volcano::DequeueStrategy::kFifo) return false;
    return std::ranges::any_of(scene.groups, [&](const PodGroup& other) {
      return other.queue == group.queue && waits(other) && does_not_fit(scene, other);
    });
  }

  void count() {
    result_.jobs = people_->jobs();
    result_.let_in = audit_.let_in();
    result_.gave_way = audit_.gave_way();
    for (const Json& object : list_all(*world_, "batch.volcano.sh/v1alpha1", "Job")) {
      const auto job = api::volcano::decode_job(object);
      result_.finished += job && is_over(job->status.phase) ? 1 : 0;
    }
  }

  ChaosOptions options_;
  bool lawful_, over_ = false;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<VolcanoPeople> people_;
  VolcanoAudit audit_;
  std::unique_ptr<Storm> storm_;
  std::string unsettled_;
  VolcanoChaosResult result_;
};

}  // namespace

VolcanoChaosResult run_volcano_chaos(const ChaosOptions& options) { return VolcanoChaos(options).run(); }

}  // namespace berth::simulation
