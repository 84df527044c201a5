// The names of ProvisioningRequests and of their PodTemplates, the same as in Kueue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::jobs {

// A name of at most 253 bytes: a name longer than 247 bytes is cut there and gets "-" and five digits of its SHA-1.
std::string limited_name(std::string_view name);

// "<workload>-<check>-<attempt>", limited. Attempts count from 1.
std::string provisioning_request_name(std::string_view workload, std::string_view check, std::int32_t attempt);
// "ppt-<request>-<pod set>", limited.
std::string pod_template_name(std::string_view request, std::string_view pod_set);

// The attempt of a request for this check of the workload; nullopt for a request of another check. A cut name does
// not contain its attempt: it is compared with the names of the latest attempts up to `highest`.
std::optional<std::int32_t> attempt_of(std::string_view request, std::string_view workload, std::string_view check,
                                       std::int32_t highest);

}  // namespace berth::jobs
