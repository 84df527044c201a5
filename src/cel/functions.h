// The parts of the function table, by topic.
#pragma once

#include <span>

#include "cel/library.h"

namespace berth::cel {

std::span<const Function> text_functions();
std::span<const Function> list_functions();
std::span<const Function> conversion_functions();
std::span<const Function> time_functions();
std::span<const Function> quantity_functions();

}  // namespace berth::cel
