#include "embedded/lab/monkeys/group.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "embedded/lab/faults.h"
#include "embedded/lab/monkeys/action.h"
#include "embedded/lab/monkeys/action_requests.h"
#include "embedded/lab/monkeys/actions.h"
#include "embedded/lab/monkeys/restore.h"

namespace berth::lab {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

constexpr std::string_view kNamespaces = "namespaces";
constexpr std::string_view kCrds = "customresourcedefinitions.apiextensions.k8s.io";
constexpr std::string_view kPods = "pods";
constexpr std::size_t kLookedAt = 4;                     // objects of a list that the monkey learns from
constexpr std::int64_t kMostListed = 200;                // of one kind, for one action
constexpr std::size_t kMostGone = 200;                   // objects that are to be created again
constexpr Duration kNextTry = std::chrono::seconds(10);  // wait before the next attempt to create a CRD again

}  // namespace

std::map<std::string, int, std::less<>> MonkeyOptions::kinds_that_berth_reads() {
  return {{"workloads.kueue.x-k8s.io", 30},
          {"clusterqueues.kueue.x-k8s.io", 12},
          {"localqueues.kueue.x-k8s.io", 10},
          {"cohorts.kueue.x-k8s.io", 6},
          {"resourceflavors.kueue.x-k8s.io", 6},
          {"topologies.kueue.x-k8s.io", 3},
          {"admissionchecks.kueue.x-k8s.io", 5},
          {"provisioningrequestconfigs.kueue.x-k8s.io", 3},
          {"workloadpriorityclasses.kueue.x-k8s.io", 2},
          {"provisioningrequests.autoscaling.x-k8s.io", 6},
          {"jobs.batch", 14},
          {"pods", 12},
          {"nodes", 5},
          {"namespaces", 3},
          {"limitranges", 2},
          {"podtemplates", 2},
          {"runtimeclasses.node.k8s.io", 1},
          {"deviceclasses.resource.k8s.io", 2},
          {"resourceclaimtemplates.resource.k8s.io", 2},
          {"resourceslices.resource.k8s.io", 2},
          {"priorityclasses.scheduling.k8s.io", 1},
          {"events.events.k8s.io", 1},
          {"queues.scheduling.volcano.sh", 5},
          {"podgroups.scheduling.volcano.sh", 6},
          {"jobs.batch.volcano.sh", 4},
          {"commands.bus.volcano.sh", 2}};
}

struct MonkeyGroup::Impl : std::enable_shared_from_this<Impl> {
  Impl(api::RestClient& c, Executor& e, const MonkeyKinds& k, std::uint64_t seed, MonkeyOptions o)
      : client(c),
        executor(e),
        kinds(k),
        options(std::move(o)),
        random(seed ^ 0x6d6f6e6b657973),
        actions(kinds, random),
        requests(actions, random) {
    for (const auto& [resource, weight] : options.weights) {
      const auto* kind = kinds.find(resource);
      if (kind == nullptr || weight <= 0) continue;
      played.push_back(kind);
      for (int i = 0; i < weight; ++i) lots.push_back(kind);
    }
    crd_kind = kinds.find(kCrds);
    std::vector<const MonkeyKind*> all = played;
    if (options.crds && crd_kind != nullptr) all.push_back(crd_kind);
    restorer = std::make_unique<MonkeyRestorer>(client, std::move(all));
  }

  // --- Requests. Results are only counted.

  // Sends nothing when there is no request.
  void send(std::optional<RestRequest> request, MonkeyAction action, const MonkeyKind& kind) {
    if (!request) return;
    client.call(std::move(*request), [weak = weak_from_this(), action, &kind](const RestResponse& response) {
      const auto self = weak.lock();
      if (!self) return;
      if (response.code == 0) {
        ++self->log.unanswered;
      } else if (!response.ok()) {
        ++self->log.refused;
      } else {
        ++self->log.accepted;
        ++self->log.accepted_by_action[std::string(word_of(action)) + " " + kind.gvr.resource];
      }
    });
  }

  using Listed = std::function<void(const JsonArray& items)>;
  void list(const MonkeyKind& kind, Listed then) {
    RestRequest request;
    request.verb = Verb::kList;
    request.resource = kind.gvr;
    request.limit = kMostListed;
    client.call(std::move(request), [weak = weak_from_this(), &kind, then = std::move(then)](RestResponse response) {
      const auto self = weak.lock();
      if (!self) return;
      Json& items = ensure_path(response.body, {"items"});
      if (!items.is_array()) items = JsonArray();
      self->leave_out_protected(kind, items.as_array());
      // the items of a real server's list do not have these members
      for (Json& item : items.as_array()) {
        item.as_object()["apiVersion"] = kind.api_version();
        item.as_object()["kind"] = kind.kind;
      }
      then(items.as_array());
    });
  }

  void leave_out_protected(const MonkeyKind& kind, JsonArray& items) const {
    const std::string_view place = kind.gvr.resource == kNamespaces ? "name" : "namespace";
    const auto protected_namespaces = [&](const Json& item) {
      return options.protected_namespaces.contains(string_at(item, {"metadata", place}));
    };
    items.erase(std::remove_if(items.begin(), items.end(), protected_namespaces), items.end());
  }

  // --- Actions.

  void step() {
    ++log.actions;
    if (lots.empty()) return;
    bring_back();
    MonkeyAction action = draw_action(random);
    const MonkeyKind* kind = lots[random.below(lots.size())];
    if (action == MonkeyAction::kEvict) kind = kinds.find(kPods);
    if (action == MonkeyAction::kRemoveNamespace) kind = options.namespaces ? kinds.find(kNamespaces) : nullptr;
    if (action == MonkeyAction::kRemoveCrd) kind = options.crds ? crd_kind : nullptr;
    if (action == MonkeyAction::kStatus || action == MonkeyAction::kCondition) {
      for (int i = 0; i < 4 && !kind->has_status; ++i) kind = lots[random.below(lots.size())];
    }
    if (kind == nullptr) return;
    list(*kind, [this, kind, action](const JsonArray& items) { play(*kind, action, items); });
  }

  void play(const MonkeyKind& kind, MonkeyAction action, const JsonArray& items) {
    for (std::size_t i = 0; i < kLookedAt && !items.empty(); ++i)
      actions.look_at(kind, items[random.below(items.size())]);
    if (kind.gvr.resource == kNamespaces) learn_namespaces(items);
    if (items.size() > options.most_of_a_kind && action != MonkeyAction::kRemoveCrd &&
        action != MonkeyAction::kRemoveNamespace && random.chance(500))
      action = action == MonkeyAction::kCreate || random.chance(300) ? MonkeyAction::kRemove : action;
    if (items.empty() && action != MonkeyAction::kCreate) return;
    const Json none;
    const Json& object = items.empty() ? none : items[random.below(items.size())];
    switch (action) {
      case MonkeyAction::kCreate:
        return create(kind, object);
      case MonkeyAction::kChange:
      case MonkeyAction::kStatus:
      case MonkeyAction::kCondition:
      case MonkeyAction::kMetadata:
        return send(requests.change(kind, action, object, executor.now()), action, kind);
      case MonkeyAction::kRecreate:
        return recreate(kind, object);
      case MonkeyAction::kRelease:
        return send(requests.release_one(kind, items), action, kind);
      case MonkeyAction::kRemoveMany:
        return send(requests.remove_many(kind, object), action, kind);
      case MonkeyAction::kEvict:
        return send(requests.evict(kind, object), action, kind);
      case MonkeyAction::kRemove:
      case MonkeyAction::kRemoveNamespace:
      case MonkeyAction::kRemoveCrd:
        return remove(kind, action, object);
    }
  }

  void learn_namespaces(const JsonArray& items) {
    namespaces.clear();
    for (const auto& item : items) {
      const std::string name(string_at(item, {"metadata", "name"}));
      if (!name.starts_with("kube-")) namespaces.push_back(name);
    }
  }

  void create(const MonkeyKind& kind, const Json& pattern) {
    send(requests.create(kind, pattern, namespaces, executor.now()), MonkeyAction::kCreate, kind);
  }

  static bool is_of_the_house(const MonkeyKind& kind,
                              const Json& object) {  // namespaces that a cluster needs
    const auto name = string_at(object, {"metadata", "name"});
    return kind.gvr.resource == kNamespaces && (name == "default" || name.starts_with("kube-"));
  }

  void remove(const MonkeyKind& kind, MonkeyAction action, const Json& object) {
    if (is_of_the_house(kind, object)) return;
    if (action == MonkeyAction::kRemoveCrd || action == MonkeyAction::kRemoveNamespace || random.chance(500))
      will_be_back(kind, object);
    send(requests.remove(kind, object), action, kind);
  }

  void recreate(const MonkeyKind& kind, const Json& object) {
    if (is_of_the_house(kind, object)) return;
    RestRequest deletion = requests.remove(kind, object);
    deletion.body.as_object()["gracePeriodSeconds"] = 0;
    send(std::move(deletion), MonkeyAction::kRecreate, kind);
    RestRequest again = requests.create_again(kind, object, executor.now());
    if (random.chance(500)) return send(std::move(again), MonkeyAction::kRecreate, kind);
    executor.after(Duration(static_cast<Duration::rep>(random.below(3'000'000))),
                   [weak = weak_from_this(), again = std::move(again), &kind] {
                     if (const auto self = weak.lock()) self->send(again, MonkeyAction::kRecreate, kind);
                   });
  }

  // --- Deleted objects that come back.

  struct Gone {
    const MonkeyKind* kind;
    Json object;
    Time due;
  };

  void will_be_back(const MonkeyKind& kind, const Json& object) {
    if (gone.size() >= kMostGone) gone.pop_front();
    const auto longest = static_cast<std::uint64_t>(options.longest_gone.count());
    gone.push_back({&kind, without_server_metadata(object),
                    executor.now() + Duration(static_cast<Duration::rep>(random.below(longest)))});
  }

  void bring_back(bool all = false) {
    for (std::size_t n = gone.size(); n > 0; --n) {
      Gone first = std::move(gone.front());
      gone.pop_front();
      if (first.due > executor.now() && !all) {
        gone.push_back(std::move(first));
        continue;
      }
      RestRequest request = ActionRequests::create_as_it_was(*first.kind, first.object);
      if (first.kind == crd_kind) {
        bring_back_crd(std::move(request), std::move(first));
      } else {
        send(std::move(request), MonkeyAction::kRecreate, *first.kind);
      }
    }
  }

  // Objects of the kind may still block the deletion of the old CRD: try again later.
  void bring_back_crd(RestRequest request, Gone crd) {
    client.call(std::move(request),
                [weak = weak_from_this(), crd = std::move(crd)](const RestResponse& response) mutable {
                  const auto self = weak.lock();
                  if (!self || response.ok()) return;
                  crd.due = self->executor.now() + kNextTry;
                  self->gone.push_back(std::move(crd));
                });
  }

  // A CRD that is being deleted takes no new objects. Remove the monkeys' finalizers from it and from its objects, so
  // that its deletion completes.
  void release_crds() {
    if (crd_kind == nullptr || !options.crds) return;
    list(*crd_kind, [this](const JsonArray& items) {
      for (const auto& item : items) {
        if (find_path(item, {"metadata", "deletionTimestamp"}) == nullptr) continue;
        send(ActionRequests::release(*crd_kind, item), MonkeyAction::kRelease, *crd_kind);
        for (const MonkeyKind* kind : played) {
          if (kind->gvr.group != string_at(item, {"spec", "group"}) ||
              kind->gvr.resource != string_at(item, {"spec", "names", "plural"}))
            continue;
          list(*kind, [this, kind](const JsonArray& objects) {
            for (const auto& object : objects)
              send(ActionRequests::release(*kind, object), MonkeyAction::kRelease, *kind);
          });
        }
      }
    });
  }

  api::RestClient& client;
  Executor& executor;
  const MonkeyKinds& kinds;
  MonkeyOptions options;
  Random random;
  MonkeyActions actions;
  ActionRequests requests;
  std::vector<const MonkeyKind*> played;
  std::vector<const MonkeyKind*> lots;  // each kind as often as its weight
  const MonkeyKind* crd_kind = nullptr;
  std::vector<std::string> namespaces;
  std::deque<Gone> gone;
  std::unique_ptr<MonkeyRestorer> restorer;
  MonkeyLog log;
};

MonkeyGroup::MonkeyGroup(api::RestClient& client, Executor& executor, const MonkeyKinds& kinds, std::uint64_t seed,
                         MonkeyOptions options)
    : impl_(std::make_shared<Impl>(client, executor, kinds, seed, std::move(options))) {}
MonkeyGroup::~MonkeyGroup() = default;

void MonkeyGroup::step() { impl_->step(); }
void MonkeyGroup::end() {
  impl_->release_crds();
  impl_->bring_back(true);
}
void MonkeyGroup::remember(std::function<void(Result<void>)> done) { impl_->restorer->remember(std::move(done)); }
void MonkeyGroup::restore(std::function<void(std::vector<std::string>)> done) {
  impl_->gone.clear();
  impl_->restorer->restore(std::move(done));
}
const MonkeyLog& MonkeyGroup::log() const { return impl_->log; }

}  // namespace berth::lab
