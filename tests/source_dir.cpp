#include "source_dir.h"

namespace berth {

// The only place that knows where the build's sources are: objects of all other files are the same in every
// clone.
std::string source_path(const std::string& path) { return BERTH_SOURCE_DIR "/" + path; }

}  // namespace berth
