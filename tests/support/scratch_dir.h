// Directories for the files of a test.
#pragma once

#include <string>

namespace berth::testing_support {

// A new, empty directory whose name starts with `name`: in memory (/dev/shm) where that has room, else in /tmp. On a
// disk that others keep busy, one write may take seconds, and tests with leases fail. The caller removes it. Throws
// std::runtime_error when it cannot be made.
std::string make_scratch_dir(const std::string& name);

}  // namespace berth::testing_support
