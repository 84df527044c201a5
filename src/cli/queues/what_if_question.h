// The question what would follow from changes, and the objects that it tries.
#pragma once

#include "cli/object_files.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"

namespace berth::cli::queues {

// The object as the server would store it: with its defaults, and merged into the present one. A refusal is the
// server's own text, with the origin of the object.
Result<Json> as_stored(Opened& opened, Discovery& discovery, const ObjectToApply& each);

// The engine knows these objects by themselves. All others count as jobs.
bool is_no_job(const FoundResource& found);

// A WhatIf with this spec.
Json what_if_of(JsonObject spec);
// The server's answer to it. Error: why there is none.
Result<Json> ask_what_if(Server& server, Json what_if);
// The same about new jobs of one namespace. Without the right to ask about the cluster it asks about the namespace
// alone: then workloads of others are counted ("otherNamespaces") and not named.
Result<Json> ask_what_if_in(Server& server, const std::string& ns, JsonObject spec);

}  // namespace berth::cli::queues
