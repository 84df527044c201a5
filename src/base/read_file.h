// Reads small files as a whole: configurations, certificates, manifests.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

// The contents of a file of at most 8 MiB. The error names the file and why it cannot be read, as for a folder.
Result<std::string> read_file(const std::string& path);

}  // namespace berth
