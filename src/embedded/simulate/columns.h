// Text tables with columns as kubectl prints them.
#pragma once

#include <string>
#include <vector>

namespace berth::simulate {

// Pads each column and separates columns with three spaces. No borders; one line per row.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace berth::simulate
