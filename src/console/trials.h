// "Try a job": what would become of a job that is not created. It is asked with the user's own token, first as a dry
// run of its creation, then as a local what-if; the API server decides whether the user may.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "console/changes.h"
#include "console/positions.h"
#include "http/message.h"

namespace berth::console {

struct Trial {
  Json job;  // with its namespace, and a name if it had none
};

// Of the body of POST /api/try: {"namespace", "queue", "manifest"}, the manifest being YAML or JSON text of one object.
// A queue takes the place of the one that the manifest names. The error says what is wrong. Pure.
Result<Trial> read_trial(const Json& body);

// Calls `done` once, on the executor: 200 with {"queue", "status"}, the status being that of a LocalWhatIf
// (docs/explain.md), or the refusal of the API server. `read`: for the names of resources.
void try_job(const AsUser& as_user, const std::string& token, const ReadPath& read, Trial trial,
             std::function<void(http::HttpResponse)> done);

}  // namespace berth::console
