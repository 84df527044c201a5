// What webhooks make of a request: what they change, refuse and warn of.
#pragma once

#include <string>

#include "conformance/site.h"

namespace berth::conformance {

// Sends the request, and says what became of it in the recordings' own form: an object with `changed`, `refused` or `warnings`;
// empty: it was taken as it was. What was changed is found by a dry run that no webhook looks at.
Json send_and_tell(Site& site, api::RestRequest request);

}  // namespace berth::conformance
