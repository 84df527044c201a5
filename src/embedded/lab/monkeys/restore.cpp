#include "embedded/lab/monkeys/restore.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/meta.h"
#include "api/owners.h"
#include "api/status.h"
#include "base/merge_patch.h"
#include "embedded/lab/monkeys/actions.h"

namespace berth::lab {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

// Kinds whose objects come and go in a cluster.
constexpr std::array<std::string_view, 8> kPassing = {
    "workloads", "jobs", "pods", "podgroups", "commands", "podtemplates", "provisioningrequests", "events"};
// Finalizers that a controller removes by itself, and the kinds for which it does.
struct Kept {
  std::string_view finalizer;
  std::array<std::string_view, 5> resources;
};
constexpr std::array kKept = {
    Kept{"kueue.x-k8s.io/resource-in-use",
         {"clusterqueues", "resourceflavors", "admissionchecks", "topologies", "workloads"}},
    Kept{"batch.kubernetes.io/job-tracking", {"pods"}},
};
// Kinds whose status is written only once, by a controller that does not run here.
constexpr std::array<std::string_view, 1> kStatusKept = {"nodes"};
// Kinds whose objects can refer to others and so block their deletion.
constexpr std::array<std::string_view, 3> kUsers = {"clusterqueues", "cohorts", "resourceflavors"};
constexpr std::array<std::string_view, 3> kOfTheServer = {"foregroundDeletion", "orphan",
                                                          "customresourcecleanup.apiextensions.k8s.io"};

bool passes(const MonkeyKind& kind) { return std::ranges::find(kPassing, kind.gvr.resource) != kPassing.end(); }

// A finalizer on an object that a controller of another kind owns waits for that controller, which does not run here;
// and no controller tracks pods without a job.
bool is_of_a_stranger(std::string_view resource, const Json& object) {
  const Json* controller = api::controller_of(object);
  if (controller == nullptr) return resource == "pods";
  return (resource == "workloads" || resource == "pods") &&
         !(string_at(*controller, {"kind"}) == "Job" && string_at(*controller, {"apiVersion"}) == "batch/v1");
}

bool somebody_takes_away(std::string_view resource, std::string_view finalizer) {
  if (std::ranges::find(kOfTheServer, finalizer) != kOfTheServer.end()) return true;
  return std::ranges::any_of(kKept, [&](const Kept& kept) {
    return kept.finalizer == finalizer && std::ranges::find(kept.resources, resource) != kept.resources.end();
  });
}

void without_stray_finalizers(std::string_view resource, Json& object) {
  const bool strange = is_of_a_stranger(resource, object);
  Json* list = const_cast<Json*>(find_path(object, {"metadata", "finalizers"}));
  if (list == nullptr || !list->is_array()) return;
  JsonArray kept;
  for (const Json& item : list->get_array()) {
    if (item.is_string() && !strange && somebody_takes_away(resource, view(item.get_string()))) kept.push_back(item);
  }
  *list = std::move(kept);
}

bool is_terminating(const Json& object) { return find_path(object, {"metadata", "deletionTimestamp"}) != nullptr; }

// The parts of an object that its author writes: spec and other members, labels, annotations, owner references.
Json as_wanted(const Json& object) {
  Json out = JsonObject();
  for (const auto& member : object_at(object, {})) {
    if (member.key() != "metadata" && member.key() != "status") out.as_object()[member.key()] = member.value();
  }
  for (const std::string_view member : {"labels", "annotations", "ownerReferences"}) {
    const Json* value = find_path(object, {"metadata", member});
    const bool empty = value == nullptr || (value->is_object() && value->get_object().empty()) ||
                       (value->is_array() && value->get_array().empty());
    if (!empty) ensure_path(out, {"metadata", member}) = *value;
  }
  return out;
}

std::string key_of(const Json& object) {
  return api::object_key(string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"}));
}

}  // namespace

void without_monkey_finalizers(Json& object) {
  const Json* list = find_path(object, {"metadata", "finalizers"});
  if (list == nullptr || !list->is_array()) return;
  JsonArray kept;
  for (const Json& item : list->get_array()) {
    if (!item.is_string() || view(item.get_string()) != kMonkeyFinalizer) kept.push_back(item);
  }
  ensure_path(object, {"metadata", "finalizers"}) = std::move(kept);
}

struct MonkeyRestorer::State : std::enable_shared_from_this<State> {
  State(api::RestClient& c, std::vector<const MonkeyKind*> k) : client(c), kinds(std::move(k)) {}

  using Lists = std::vector<std::vector<Json>>;  // one for each kind
  // `failed`: "cannot list pods: ...", one sentence for each kind whose list failed. A kind that is not served has an
  // empty list.
  void list_all(std::function<void(const Lists&, std::vector<std::string> failed)> then) {
    auto lists = std::make_shared<Lists>(kinds.size());
    auto missing = std::make_shared<std::size_t>(kinds.size());
    auto failed = std::make_shared<std::vector<std::string>>();
    if (kinds.empty()) return then(*lists, *failed);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      RestRequest request;
      request.verb = Verb::kList;
      request.resource = kinds[i]->gvr;
      client.call(
          std::move(request), [weak = weak_from_this(), i, lists, missing, failed, then](const RestResponse& response) {
            const auto self = weak.lock();
            if (!self) return;
            if (!response.ok() && response.code != 404)
              failed->push_back("cannot list " + self->kinds[i]->gvr.resource + ": " + api::failure_text(response));
            for (Json item : array_at(response.body, {"items"})) {
              item.as_object()["apiVersion"] = self->kinds[i]->api_version();
              item.as_object()["kind"] = self->kinds[i]->kind;
              (*lists)[i].push_back(std::move(item));
            }
            if (--*missing == 0) then(*lists, *failed);
          });
    }
  }

  void write(const MonkeyKind& kind, RestRequest request, std::function<void(const RestResponse&)> then = {}) {
    const auto name =
        request.name.empty() ? string_at(request.body, {"metadata", "name"}) : std::string_view(request.name);
    std::string what = kind.kind + " " + api::object_key(request.ns, name);
    client.call(std::move(request), [weak = weak_from_this(), what = std::move(what),
                                     then = std::move(then)](const RestResponse& response) {
      const auto self = weak.lock();
      if (!self) return;
      if (!response.ok()) self->refusals[what] = api::status_message(response);
      if (then) then(response);
    });
  }

  std::string sentence(const MonkeyKind& kind, const std::string& key, std::string_view what) const {
    const std::string name = kind.kind + " " + key;
    const auto refusal = refusals.find(name);
    return name + " " + std::string(what) + (refusal == refusals.end() ? "" : "; the server says: " + refusal->second);
  }

  // kube-apiserver accepts some values in the status of a new object that it refuses at each change of the object, for
  // example a swap capacity of 0 in a node. Such an object could never lose its finalizers.
  void empty_status(const MonkeyKind& kind, const Json& object) {
    RestRequest request = request_about(kind, object, Verb::kUpdate);
    request.subresource = "status";
    request.body = object;
    request.body.as_object().erase("status");
    write(kind, std::move(request));
  }

  void remove(const MonkeyKind& kind, const Json& object) {
    if (is_terminating(object)) {
      Json wanted = object;
      without_stray_finalizers(kind.gvr.resource, wanted);
      if (!json_equal(wanted, object)) {
        RestRequest request = request_about(kind, object, Verb::kPatch);
        request.body = make_merge_patch(object, wanted);
        return write(kind, std::move(request), [weak = weak_from_this(), &kind, object](const RestResponse& response) {
          const auto self = weak.lock();
          if (self && response.code == 422 && kind.has_status) self->empty_status(kind, object);
        });
      }
      if (int_at(object, {"metadata", "deletionGracePeriodSeconds"}) == 0) return;
    }
    RestRequest request = request_about(kind, object, Verb::kDelete);
    request.body = JsonObject{{"propagationPolicy", "Background"}, {"gracePeriodSeconds", 0}};
    write(kind, std::move(request));
  }

  void create(const MonkeyKind& kind, const Json& object) {
    RestRequest request = request_about(kind, object, Verb::kCreate);
    request.name.clear();
    request.body = without_server_metadata(object);
    erase_path(request.body, {"metadata", "finalizers"});
    write(kind, std::move(request));
  }

  // Restores the status of kinds whose status no controller writes again. False when there is nothing to do.
  bool write_status(const MonkeyKind& kind, const Json& wanted, const Json& object) {
    if (std::ranges::find(kStatusKept, kind.gvr.resource) == kStatusKept.end()) return false;
    const Json *is = find(object, "status"), *shall = find(wanted, "status");
    if (shall == nullptr || (is != nullptr && json_equal(*is, *shall))) return false;
    RestRequest request = request_about(kind, object, Verb::kUpdate);
    request.subresource = "status";
    request.body = object;
    request.body.as_object()["status"] = *shall;
    write(kind, std::move(request));
    return true;
  }

  // False when there is nothing to do.
  bool bring_back(const MonkeyKind& kind, const Json& wanted, const Json& object) {
    if (is_terminating(object)) {
      remove(kind, object);
      return true;
    }
    const Json is = as_wanted(object), shall = as_wanted(wanted);
    // Writing the rest first could let a wrong status change it again, so the status comes first, except when an
    // annotation differs: it may tell the pretend kubelet what to write there.
    const bool same_notes = object_at(is, {"metadata", "annotations"}) == object_at(shall, {"metadata", "annotations"});
    if (same_notes && write_status(kind, wanted, object)) return true;
    Json next = object;
    without_monkey_finalizers(next);
    if (json_equal(is, shall) && json_equal(next, object)) return false;
    for (const auto& member : object_at(is, {})) {
      if (member.key() != "metadata") next.as_object().erase(member.key());
    }
    for (const auto& member : object_at(shall, {})) {
      if (member.key() != "metadata") next.as_object()[member.key()] = member.value();
    }
    for (const std::string_view member : {"labels", "annotations", "ownerReferences"}) {
      erase_path(next, {"metadata", member});
      if (const Json* value = find_path(wanted, {"metadata", member})) ensure_path(next, {"metadata", member}) = *value;
    }
    RestRequest request = request_about(kind, object, Verb::kUpdate);
    request.body = std::move(next);
    write(kind, std::move(request), [weak = weak_from_this(), &kind, object](const RestResponse& response) {
      // The server refuses the change (an immutable field): delete the object; a later round creates it again.
      const auto self = weak.lock();
      if (self && !response.ok() && response.code != 0 && response.code != 409) self->remove(kind, object);
    });
    return true;
  }

  // True when a remembered object is being deleted: objects that use it may block its deletion.
  bool somebody_goes(const Lists& lists) const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      for (const auto& object : lists[i]) {
        if (is_terminating(object) && remembered[i].contains(key_of(object))) return true;
      }
    }
    return false;
  }

  std::vector<std::string> put_right(const Lists& lists) {
    std::vector<std::string> wrong;
    const bool without_users = somebody_goes(lists);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i]->gvr.resource == "events") {  // events stay, but must not block a namespace's deletion
        for (const auto& object : lists[i]) {
          if (is_terminating(object)) remove(*kinds[i], object);
        }
        continue;
      }
      auto missing = remembered[i];
      if (without_users && std::ranges::find(kUsers, kinds[i]->gvr.resource) != kUsers.end()) missing.clear();
      for (const auto& object : lists[i]) {
        const auto it = missing.find(key_of(object));
        if (it == missing.end()) {
          wrong.push_back(sentence(*kinds[i], key_of(object), "is to go"));
          remove(*kinds[i], object);
          continue;
        }
        if (bring_back(*kinds[i], it->second, object))
          wrong.push_back(sentence(*kinds[i], key_of(object),
                                   "is not as it was: " + to_string(make_merge_patch(object, it->second))));
        missing.erase(it);
      }
      for (const auto& [key, object] : missing) {
        wrong.push_back(sentence(*kinds[i], key, "is missing"));
        create(*kinds[i], object);
      }
    }
    return wrong;
  }

  api::RestClient& client;
  std::vector<const MonkeyKind*> kinds;
  std::vector<std::map<std::string, Json>> remembered;  // for each kind, by key
  std::map<std::string, std::string> refusals;          // the server's last message, by kind and key
};

MonkeyRestorer::MonkeyRestorer(api::RestClient& client, std::vector<const MonkeyKind*> kinds)
    : state_(std::make_shared<State>(client, std::move(kinds))) {
  state_->remembered.resize(state_->kinds.size());
}

void MonkeyRestorer::remember(std::function<void(Result<void>)> done) {
  state_->list_all([state = state_.get(), done = std::move(done)](const State::Lists& lists,
                                                                  const std::vector<std::string>& failed) {
    if (!failed.empty()) return done(fail(failed.front()));
    for (std::size_t i = 0; i < lists.size(); ++i) {
      state->remembered[i].clear();
      if (passes(*state->kinds[i])) continue;
      for (const auto& object : lists[i]) state->remembered[i][key_of(object)] = object;
    }
    done({});
  });
}

void MonkeyRestorer::restore(std::function<void(std::vector<std::string>)> done) {
  state_->list_all(
      [state = state_.get(), done = std::move(done)](const State::Lists& lists, std::vector<std::string> failed) {
        done(failed.empty() ? state->put_right(lists) : std::move(failed));
      });
}

}  // namespace berth::lab
