// The embedded server's admission with everything behind it: Kueue's rules and Volcano's.
#pragma once

#include "api/kueue/admission.h"
#include "apiserver/server/api_server.h"

namespace berth::simulate {

// Sets `admission` and `on_write` of the options. Volcano's rules judge by the server's own queues as they are in the
// moment of the write: nothing happens between the two.
void open_doors(apiserver::ApiServerOptions& options, api::kueue::AdmissionPolicy policy = {});

}  // namespace berth::simulate
