// The name of a job's Workload.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::jobs {

// "<kind>-<owner>-<hash>": kind in lower case; the hash is five hexadecimal digits of the SHA-1 of kind,
// group, name and uid. The middle is cut so that the whole has at most 253 characters; 63 if `is_short`, as the value
// of a label may have. The same job always gets the same name.
// `which`: of several workloads of a job, counts for the hash; "": it has one.
std::string workload_name(std::string_view group, std::string_view kind, std::string_view name, std::string_view uid,
                          bool is_short = false, std::string_view which = {});

// The job's name in such a name, if the job was of this kind and its name was not cut. nullopt when the name has
// another form.
std::optional<std::string> job_in_name(std::string_view kind, std::string_view workload);

}  // namespace berth::jobs
