// The classes of C++ text and how many methods each declares. A reader of declarations, not a compiler: it knows what
// clang-format leaves in the sources of this repository.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace berth::house {

struct ClassMethods {
  std::string name;
  std::size_t line = 0;     // of its name, from 0
  std::size_t methods = 0;  // declared in its body; constructors, operators and overloads count
};

// In the order in which the classes end. Nested classes have entries of their own.
std::vector<ClassMethods> class_methods(const std::vector<std::string>& lines);

}  // namespace berth::house
