// Where the project's files are that tests read: samples, recordings, manifests.
#pragma once

#include <string>

namespace berth {

std::string source_path(const std::string& path);  // of a file or folder, given from the project's root

}  // namespace berth
