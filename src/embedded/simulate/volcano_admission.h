// Admission of the embedded API server: the webhook rules of Kueue and of Volcano.
#pragma once

#include <functional>

#include "api/config/volcano.h"
#include "api/kueue/webhooks/admission.h"
#include "embedded/apiserver/server/api_server.h"
#include "volcano/admission.h"

namespace berth::simulate {

// Sets `admission` and `on_write` of the options. Volcano's rules judge by the server's own queues and PodGroups at
// the moment of the write, so no other write can come between. `holders_in` counts the workloads that hold quota in a
// queue; the rules ask it in addition to the server's objects. It may be empty. When `config` disables Volcano, its
// kinds are stored without these rules.
void set_admission(apiserver::ApiServerOptions& options, const api::config::Volcano& config = {},
                   volcano::HoldersIn holders_in = {}, api::kueue::AdmissionPolicy policy = {});

// The same admission, but requests skip it while `past` returns true. Use it as a webhook configuration that excludes
// some requests.
std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> with_a_way_past(
    std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> admission, std::function<bool()> past);

}  // namespace berth::simulate
