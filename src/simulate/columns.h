// Tables for people: columns as kubectl prints them.
#pragma once

#include <string>
#include <vector>

namespace berth::simulate {

// Padded, three spaces apart, no borders; a line per row.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace berth::simulate
