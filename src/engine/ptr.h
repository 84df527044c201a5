// A shared pointer to an object that never changes.
#pragma once

#include <memory>

namespace berth::engine {

template <typename T>
using Ptr = std::shared_ptr<const T>;

}  // namespace berth::engine
