#include "serve/owner_search.h"

#include <map>
#include <tuple>
#include <utility>

#include "api/status.h"
#include "base/lifetime.h"

namespace berth::serve {
namespace {

class OwnerSearch final : public http::Exchange {
 public:
  OwnerSearch(const Json& object, const api::kueue::AdmissionContext& admission, const AskForOwner& ask,
              OwnersKnown done)
      : object_(object), policy_(admission.policy), ask_(ask), done_(std::move(done)) {
    get_ = [this, &cached = admission.get](const api::GroupVersionResource& resource, std::string_view ns,
                                           std::string_view name) {
      const auto reported = reported_.find(Place{resource, std::string(ns), std::string(name)});
      return reported != reported_.end() ? reported->second : cached ? cached(resource, ns, name) : nullptr;
    };
  }

  // Returns whether it waits for an answer.
  bool go_on() {
    const auto owner = api::kueue::unknown_owner(object_, {get_, policy_});
    const Place place = owner ? Place{owner->resource, owner->ns, owner->name} : Place();
    if (!owner || reported_.contains(place)) {
      end("");
      return false;
    }
    ask_(*owner, lifetime_.guard([this, owner = *owner](const api::RestResponse& response) { take(owner, response); }));
    return true;
  }

 private:
  using Place = std::tuple<api::GroupVersionResource, std::string, std::string>;

  void take(const api::kueue::UnknownOwner& owner, const api::RestResponse& response) {
    if (const auto found = api::kueue::owner_in(owner, response)) {
      reported_[{owner.resource, owner.ns, owner.name}] = *found;
      go_on();
    } else {
      end("cannot tell whether the owner " + owner.resource.resource + " " + owner.ns + "/" + owner.name +
          " is queued: the API server does not return it (" + api::failure_text(response) +
          "): create the object again");
    }
  }

  // The exchange may be destroyed by the answer.
  void end(const std::string& failure) {
    const auto done = std::move(done_);
    const auto get = get_;
    done(get, failure);
  }

  const Json& object_;
  const api::kueue::AdmissionPolicy& policy_;
  const AskForOwner& ask_;
  OwnersKnown done_;
  api::kueue::ObjectGetter get_;
  std::map<Place, JsonPtr> reported_;  // by the API server; null: it does not exist. At most kMaxOwners
  Lifetime lifetime_;
};

}  // namespace

const Json* created_in(const Json& review) {
  if (string_at(review, {"request", "operation"}) != "CREATE") return nullptr;
  const Json* object = find_path(review, {"request", "object"});
  return object != nullptr && object->is_object() ? object : nullptr;
}

std::unique_ptr<http::Exchange> search_owners(const Json* object, const api::kueue::AdmissionContext& admission,
                                              const AskForOwner& ask, OwnersKnown done) {
  if (object == nullptr || !ask) {
    done(admission.get, "");
    return nullptr;
  }
  auto search = std::make_unique<OwnerSearch>(*object, admission, ask, std::move(done));
  return search->go_on() ? std::move(search) : nullptr;
}

}  // namespace berth::serve
