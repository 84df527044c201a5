// Scripts that complete berth's commands and flags, and the names of queues and workloads, in a shell.
#pragma once

#include <string>

namespace berth::cli {

// `shell`: "bash", "zsh" or "fish"; "" for others. The scripts ask `berth __complete` what may come next, and offer
// files where it knows nothing.
std::string completion_script(const std::string& shell);

}  // namespace berth::cli
