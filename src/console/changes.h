// The changes that a user may make: stop and resume queues, activate and deactivate workloads. They are made with the
// user's own token; the API server decides.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/result.h"
#include "http/message.h"

namespace berth::console {

// Makes a client that acts as the user of a token.
using AsUser = std::function<Result<std::shared_ptr<api::RestClient>>(const std::string& token)>;

// The patch that a change asks for; the error says what is wrong with `change`, the body of POST /api/changes. Pure.
Result<api::RestRequest> read_change(const Json& change);

// Calls `done` once, on the executor.
void make_change(const AsUser& as_user, const std::string& token, api::RestRequest change,
                 std::function<void(http::HttpResponse)> done);

}  // namespace berth::console
