// Makes the names in a directory survive a power cut: those of files that were made, renamed or removed in it.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

// Does nothing on a file system whose directories cannot be synced. An empty path is the working directory.
Result<void> sync_directory(const std::string& path);

}  // namespace berth
