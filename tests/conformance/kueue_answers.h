// The effect of webhooks on a request: changes, refusal and warnings.
#pragma once

#include <string>

#include "conformance/site.h"

namespace berth::conformance {

// Sends the request and returns the result in the form of the recordings: an object with `changed`, `refused` or
// `warnings`; empty: it was accepted unchanged. The changes are found by comparison with a dry run without webhooks.
Json send_and_report(Site& site, api::RestRequest request);

}  // namespace berth::conformance
