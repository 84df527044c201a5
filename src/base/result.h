// Errors as values, for everything that input, network or the system can cause. No exception crosses a module border.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

// What went wrong, in one sentence that names the object, the field and what was expected.
struct Error {
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message) { return tl::unexpected<Error>(Error{std::move(message)}); }

}  // namespace berth
