// Pieces of flags' values, and errors about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::cli::queues {

// The parts between separators, empty ones too; "" has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

// `FLAG "VALUE": EXPECTED`
tl::unexpected<Error> wrong_value(std::string_view flag, std::string_view value, std::string_view expected);

// "a, b or c"
std::string either(const std::vector<std::string>& words);

// The text of a key, printable; empty without it.
std::string at(const Json& object, std::string_view key);

}  // namespace berth::cli::queues
