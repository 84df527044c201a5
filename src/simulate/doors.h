// The embedded server's admission with everything behind it: Kueue's rules and Volcano's.
#pragma once

#include <functional>

#include "api/config/volcano.h"
#include "api/kueue/admission.h"
#include "apiserver/server/api_server.h"
#include "volcano/admission.h"

namespace berth::simulate {

// Sets `admission` and `on_write` of the options. Volcano's rules judge by the server's own queues as they are in the
// moment of the write: nothing happens between the two. `holders_in` counts who holds quota in a queue before the
// server knows of it; it may be empty. When `config` says off, its kinds are stored as they come.
void open_doors(apiserver::ApiServerOptions& options, const api::config::Volcano& config = {},
                volcano::HoldersIn holders_in = {}, api::kueue::AdmissionPolicy policy = {});

// The same doors, but a request passes by them while `past` says so: of a webhook configuration, that leaves somebody out.
std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> with_a_way_past(
    std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> admission, std::function<bool()> past);

}  // namespace berth::simulate
