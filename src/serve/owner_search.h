// Whether a new object has a managed owner, when the caches may be late: a controller creates an object for a job at
// once, and the watch brings the job later.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/kueue/webhooks/admission.h"
#include "api/kueue/webhooks/owners.h"
#include "api/rest.h"
#include "base/json.h"
#include "http/handler.h"

namespace berth::serve {

// Reads an owner from the API server. Calls `done` once, on the executor and not before it returns.
using AskForOwner =
    std::function<void(const api::kueue::UnknownOwner& owner, std::function<void(api::RestResponse)> done)>;

// The object that a review (AdmissionReview) wants to create; null for another operation, and for a review without it.
// The object lives as long as the review.
const Json* created_in(const Json& review);

// Calls `done` once with a getter that has all managed owners of the object that exist: at once when `admission.get`
// has them, or when `object` is null. Otherwise it asks, and returns the exchange that waits; when that is destroyed
// earlier, `done` is not called. `failure`: why an owner could not be read; "" when all is known. `object`, `ask` and
// what `admission` refers to must live until then.
using OwnersKnown = std::function<void(const api::kueue::ObjectGetter& get, const std::string& failure)>;
std::unique_ptr<http::Exchange> search_owners(const Json* object, const api::kueue::AdmissionContext& admission,
                                              const AskForOwner& ask, OwnersKnown done);

}  // namespace berth::serve
