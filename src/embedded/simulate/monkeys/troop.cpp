#include "embedded/simulate/monkeys/troop.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "base/json_patch.h"
#include "base/merge_patch.h"
#include "embedded/simulate/faults.h"
#include "embedded/simulate/monkeys/deeds.h"
#include "embedded/simulate/monkeys/restore.h"

namespace berth::simulate {
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
constexpr std::string_view kMonkey = "monkey";

enum class Deed {
  kCreate,
  kChange,
  kStatus,
  kCondition,
  kMetadata,
  kRemove,
  kRecreate,
  kRelease,
  kRemoveMany,
  kEvict,
  kRemoveNamespace,
  kRemoveCrd
};

struct Chance {
  Deed deed;
  std::uint64_t weight;
};
constexpr std::array kDeeds = {
    Chance{Deed::kCreate, 20},   Chance{Deed::kChange, 22},         Chance{Deed::kStatus, 16},
    Chance{Deed::kCondition, 8}, Chance{Deed::kMetadata, 12},       Chance{Deed::kRemove, 9},
    Chance{Deed::kRecreate, 5},  Chance{Deed::kRelease, 6},         Chance{Deed::kRemoveMany, 1},
    Chance{Deed::kEvict, 1},     Chance{Deed::kRemoveNamespace, 1}, Chance{Deed::kRemoveCrd, 1}};

std::string_view word_of(Deed deed) {
  switch (deed) {
    case Deed::kCreate:
      return "create";
    case Deed::kChange:
      return "change";
    case Deed::kStatus:
      return "write the status of";
    case Deed::kCondition:
      return "write a condition of";
    case Deed::kMetadata:
      return "label or bind";
    case Deed::kRemove:
      return "delete";
    case Deed::kRecreate:
      return "delete and make anew";
    case Deed::kRelease:
      return "take finalizers from";
    case Deed::kRemoveMany:
      return "delete all of a namespace's";
    case Deed::kEvict:
      return "evict";
    case Deed::kRemoveNamespace:
      return "delete the whole";
    case Deed::kRemoveCrd:
      return "delete the kind with its";
  }
  return "";
}

RestRequest about(const MonkeyKind& kind, const Json& object, Verb verb) {
  RestRequest request = request_about(kind, object, verb);
  request.field_manager = kMonkey;
  return request;
}

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
          {"priorityclasses.scheduling.k8s.io", 1},
          {"events.events.k8s.io", 1},
          {"queues.scheduling.volcano.sh", 5},
          {"podgroups.scheduling.volcano.sh", 6},
          {"jobs.batch.volcano.sh", 4},
          {"commands.bus.volcano.sh", 2}};
}

struct MonkeyTroop::Impl : std::enable_shared_from_this<Impl> {
  Impl(api::RestClient& c, Executor& e, const MonkeyKinds& k, std::uint64_t seed, MonkeyOptions o)
      : client(c), executor(e), kinds(k), options(std::move(o)), random(seed ^ 0x6d6f6e6b657973), deeds(kinds, random) {
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

  void send(RestRequest request, Deed deed, const MonkeyKind& kind) {
    client.call(std::move(request), [weak = weak_from_this(), deed, &kind](const RestResponse& response) {
      const auto self = weak.lock();
      if (!self) return;
      if (response.code == 0) {
        ++self->log.unanswered;
      } else if (!response.ok()) {
        ++self->log.refused;
      } else {
        ++self->log.accepted;
        ++self->log.accepted_by_deed[std::string(word_of(deed)) + " " + kind.gvr.resource];
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
      self->leave_out_spared(kind, items.as_array());
      // the items of a real server's list do not have these members
      for (Json& item : items.as_array()) {
        item.as_object()["apiVersion"] = kind.api_version();
        item.as_object()["kind"] = kind.kind;
      }
      then(items.as_array());
    });
  }

  void leave_out_spared(const MonkeyKind& kind, JsonArray& items) const {
    const std::string_view place = kind.gvr.resource == kNamespaces ? "name" : "namespace";
    const auto spared = [&](const Json& item) { return options.spared.contains(string_at(item, {"metadata", place})); };
    items.erase(std::remove_if(items.begin(), items.end(), spared), items.end());
  }

  // --- Deeds.

  Deed choose() {
    std::uint64_t sum = 0;
    for (const auto& chance : kDeeds) sum += chance.weight;
    auto lot = random.below(sum);
    for (const auto& chance : kDeeds) {
      if (lot < chance.weight) return chance.deed;
      lot -= chance.weight;
    }
    return Deed::kCreate;
  }

  void step() {
    ++log.deeds;
    if (lots.empty()) return;
    bring_back();
    Deed deed = choose();
    const MonkeyKind* kind = lots[random.below(lots.size())];
    if (deed == Deed::kEvict) kind = kinds.find(kPods);
    if (deed == Deed::kRemoveNamespace) kind = options.namespaces ? kinds.find(kNamespaces) : nullptr;
    if (deed == Deed::kRemoveCrd) kind = options.crds ? crd_kind : nullptr;
    if (deed == Deed::kStatus || deed == Deed::kCondition) {
      for (int i = 0; i < 4 && !kind->has_status; ++i) kind = lots[random.below(lots.size())];
    }
    if (kind == nullptr) return;
    list(*kind, [this, kind, deed](const JsonArray& items) { play(*kind, deed, items); });
  }

  void play(const MonkeyKind& kind, Deed deed, const JsonArray& items) {
    for (std::size_t i = 0; i < kLookedAt && !items.empty(); ++i)
      deeds.look_at(kind, items[random.below(items.size())]);
    if (kind.gvr.resource == kNamespaces) learn_namespaces(items);
    if (items.size() > options.most_of_a_kind && deed != Deed::kRemoveCrd && deed != Deed::kRemoveNamespace &&
        random.chance(500))
      deed = deed == Deed::kCreate || random.chance(300) ? Deed::kRemove : deed;
    if (items.empty() && deed != Deed::kCreate) return;
    const Json none;
    const Json& object = items.empty() ? none : items[random.below(items.size())];
    switch (deed) {
      case Deed::kCreate:
        return create(kind, object);
      case Deed::kChange:
      case Deed::kStatus:
      case Deed::kCondition:
      case Deed::kMetadata:
        return change(kind, deed, object);
      case Deed::kRecreate:
        return recreate(kind, object);
      case Deed::kRelease:
        return release(kind, items);
      case Deed::kRemoveMany:
        return remove_many(kind, object);
      case Deed::kEvict:
        return evict(kind, object);
      case Deed::kRemove:
      case Deed::kRemoveNamespace:
      case Deed::kRemoveCrd:
        return remove(kind, deed, object);
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
    RestRequest request;
    request.verb = Verb::kCreate;
    request.resource = kind.gvr;
    request.field_manager = kMonkey;
    request.body = deeds.make(kind, pattern, executor.now());
    if (kind.namespaced) {
      std::string ns(string_at(pattern, {"metadata", "namespace"}, "default"));
      if (!namespaces.empty() && random.chance(400)) ns = namespaces[random.below(namespaces.size())];
      request.ns = ns;
      ensure_path(request.body, {"metadata", "namespace"}) = ns;
    } else {
      erase_path(request.body, {"metadata", "namespace"});
    }
    send(std::move(request), Deed::kCreate, kind);
  }

  void change(const MonkeyKind& kind, Deed deed, const Json& object) {
    Json wanted = object;
    const bool status = deed == Deed::kStatus || deed == Deed::kCondition;
    if (deed == Deed::kStatus) deeds.change_status(kind, wanted, executor.now());
    if (deed == Deed::kCondition) deeds.change_condition(wanted, executor.now());
    if (deed == Deed::kMetadata) deeds.change_metadata(wanted);
    if (deed == Deed::kChange) deeds.change(kind, wanted, executor.now());
    RestRequest request = about(kind, object, Verb::kPatch);
    if (status && kind.has_status) request.subresource = "status";
    switch (random.below(5)) {
      case 0:
        request.verb = Verb::kUpdate;
        if (random.chance(200)) erase_path(wanted, {"metadata", "resourceVersion"});
        request.body = std::move(wanted);
        break;
      case 1:
        request.patch_type = api::PatchType::kJson;
        request.body = make_json_patch(object, wanted);
        break;
      case 2:
        request.patch_type = api::PatchType::kApply;
        request.force = random.chance(700);
        request.body = applied(object, wanted, deed);
        break;
      default:
        request.patch_type = api::PatchType::kMerge;
        request.body = make_merge_patch(object, wanted);
        if (random.chance(200))
          ensure_path(request.body, {"metadata", "resourceVersion"}) =
              string_at(object, {"metadata", "resourceVersion"});
    }
    send(std::move(request), deed, kind);
  }

  // The body of a server-side apply: identity, and the top-level members that are to change.
  static Json applied(const Json& object, const Json& wanted, Deed deed) {
    Json out = JsonObject{{"apiVersion", string_at(object, {"apiVersion"})}, {"kind", string_at(object, {"kind"})}};
    Json& metadata = ensure_path(out, {"metadata"});
    metadata = JsonObject{{"name", string_at(object, {"metadata", "name"})}};
    if (find_path(object, {"metadata", "namespace"}) != nullptr)
      metadata.as_object()["namespace"] = string_at(object, {"metadata", "namespace"});
    if (deed == Deed::kMetadata) {
      for (const std::string_view member : {"labels", "annotations", "finalizers", "ownerReferences"}) {
        if (const Json* value = find_path(wanted, {"metadata", member})) metadata.as_object()[member] = *value;
      }
      return out;
    }
    for (const auto& member : wanted.get_object()) {
      if (member.key() == "metadata" || out.get_object().contains(member.key())) continue;
      const Json* before = find(object, member.key());
      if (before == nullptr || !json_equal(*before, member.value())) out.as_object()[member.key()] = member.value();
    }
    return out;
  }

  RestRequest deletion(const MonkeyKind& kind, const Json& object) {
    RestRequest request = about(kind, object, Verb::kDelete);
    Json options_of_deletion = JsonObject();
    auto& body = options_of_deletion.as_object();
    constexpr std::array<std::string_view, 3> kPolicies = {"Background", "Foreground", "Orphan"};
    if (random.chance(700)) body["propagationPolicy"] = kPolicies[random.below(kPolicies.size())];
    if (random.chance(300)) body["gracePeriodSeconds"] = static_cast<std::int64_t>(random.below(2) * 5);
    if (random.chance(200)) {
      const bool right = random.chance(700);
      body["preconditions"] =
          random.chance(500)
              ? JsonObject{{"uid", right ? string_at(object, {"metadata", "uid"}) : std::string_view("another")}}
              : JsonObject{{"resourceVersion",
                            right ? string_at(object, {"metadata", "resourceVersion"}) : std::string_view("1")}};
    }
    request.body = std::move(options_of_deletion);
    return request;
  }

  static bool is_of_the_house(const MonkeyKind& kind,
                              const Json& object) {  // namespaces that a cluster needs
    const auto name = string_at(object, {"metadata", "name"});
    return kind.gvr.resource == kNamespaces && (name == "default" || name.starts_with("kube-"));
  }

  void remove(const MonkeyKind& kind, Deed deed, const Json& object) {
    if (is_of_the_house(kind, object)) return;
    if (deed == Deed::kRemoveCrd || deed == Deed::kRemoveNamespace || random.chance(500)) will_be_back(kind, object);
    send(deletion(kind, object), deed, kind);
  }

  void recreate(const MonkeyKind& kind, const Json& object) {
    if (is_of_the_house(kind, object)) return;
    RestRequest request = deletion(kind, object);
    request.body.as_object()["gracePeriodSeconds"] = 0;
    send(std::move(request), Deed::kRecreate, kind);
    RestRequest again = about(kind, object, Verb::kCreate);
    again.name.clear();
    again.body = without_server_metadata(object);
    if (random.chance(500)) deeds.change(kind, again.body, executor.now());
    if (random.chance(300)) erase_path(again.body, {"metadata", "finalizers"});
    if (random.chance(500)) return send(std::move(again), Deed::kRecreate, kind);
    executor.after(Duration(static_cast<Duration::rep>(random.below(3'000'000))),
                   [weak = weak_from_this(), again = std::move(again), &kind] {
                     if (const auto self = weak.lock()) self->send(again, Deed::kRecreate, kind);
                   });
  }

  // Removes finalizers from an object that is being deleted.
  void release(const MonkeyKind& kind, const JsonArray& items) {
    std::vector<const Json*> kept;
    for (const auto& item : items) {
      if (find_path(item, {"metadata", "deletionTimestamp"}) != nullptr) kept.push_back(&item);
    }
    if (kept.empty()) return;
    const Json& object = *kept[random.below(kept.size())];
    RestRequest request = about(kind, object, Verb::kPatch);
    Json wanted = object;
    if (random.chance(200)) {
      erase_path(wanted, {"metadata", "finalizers"});
    } else {
      without_monkey_finalizers(wanted);
    }
    request.body = make_merge_patch(object, wanted);
    send(std::move(request), Deed::kRelease, kind);
  }

  void remove_many(const MonkeyKind& kind, const Json& object) {
    if (kind.gvr.resource == kNamespaces) return;
    RestRequest request = about(kind, object, Verb::kDeleteCollection);
    request.name.clear();
    for (const auto& label : object_at(object, {"metadata", "labels"})) {
      if (label.value().is_string() && random.chance(500))
        request.label_selector = std::string(label.key()) + "=" + std::string(view(label.value().get_string()));
    }
    if (!kind.namespaced && request.label_selector.empty())
      return;  // without a label selector this would delete all nodes or all queues
    send(std::move(request), Deed::kRemoveMany, kind);
  }

  void evict(const MonkeyKind& kind, const Json& object) {
    RestRequest request = about(kind, object, Verb::kCreate);
    request.subresource = "eviction";
    request.body = JsonObject{{"apiVersion", "policy/v1"},
                              {"kind", "Eviction"},
                              {"metadata", JsonObject{{"name", request.name}, {"namespace", request.ns}}}};
    send(std::move(request), Deed::kEvict, kind);
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
      RestRequest request = about(*first.kind, first.object, Verb::kCreate);
      request.name.clear();
      request.body = first.object;
      if (first.kind == crd_kind) {
        bring_back_crd(std::move(request), std::move(first));
      } else {
        send(std::move(request), Deed::kRecreate, *first.kind);
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

  void release(const MonkeyKind& kind, const Json& item) {
    if (find_path(item, {"metadata", "deletionTimestamp"}) == nullptr) return;
    Json wanted = item;
    without_monkey_finalizers(wanted);
    if (json_equal(wanted, item)) return;
    RestRequest request = about(kind, item, Verb::kPatch);
    request.body = make_merge_patch(item, wanted);
    send(std::move(request), Deed::kRelease, kind);
  }

  // A CRD that is being deleted takes no new objects. Remove the monkeys' finalizers from it and from its objects, so
  // that its deletion completes.
  void release_crds() {
    if (crd_kind == nullptr || !options.crds) return;
    list(*crd_kind, [this](const JsonArray& items) {
      for (const auto& item : items) {
        if (find_path(item, {"metadata", "deletionTimestamp"}) == nullptr) continue;
        release(*crd_kind, item);
        for (const MonkeyKind* kind : played) {
          if (kind->gvr.group != string_at(item, {"spec", "group"}) ||
              kind->gvr.resource != string_at(item, {"spec", "names", "plural"}))
            continue;
          list(*kind, [this, kind](const JsonArray& objects) {
            for (const auto& object : objects) release(*kind, object);
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
  MonkeyDeeds deeds;
  std::vector<const MonkeyKind*> played;
  std::vector<const MonkeyKind*> lots;  // each kind as often as its weight
  const MonkeyKind* crd_kind = nullptr;
  std::vector<std::string> namespaces;
  std::deque<Gone> gone;
  std::unique_ptr<MonkeyRestorer> restorer;
  MonkeyLog log;
};

MonkeyTroop::MonkeyTroop(api::RestClient& client, Executor& executor, const MonkeyKinds& kinds, std::uint64_t seed,
                         MonkeyOptions options)
    : impl_(std::make_shared<Impl>(client, executor, kinds, seed, std::move(options))) {}
MonkeyTroop::~MonkeyTroop() = default;

void MonkeyTroop::step() { impl_->step(); }
void MonkeyTroop::end() {
  impl_->release_crds();
  impl_->bring_back(true);
}
void MonkeyTroop::remember(std::function<void(Result<void>)> done) { impl_->restorer->remember(std::move(done)); }
void MonkeyTroop::restore(std::function<void(std::vector<std::string>)> done) {
  impl_->gone.clear();
  impl_->restorer->restore(std::move(done));
}
const MonkeyLog& MonkeyTroop::log() const { return impl_->log; }

}  // namespace berth::simulate
