// What objects of a cluster say, by the name of the member that says it: so that what is made at random names
// things that are there, and words that mean something.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "simulate/faults.h"

namespace berth::simulate {

class Words {
 public:
  // Takes in the strings of an object, the keys of its maps and its name. What was learnt last replaces what
  // was learnt first.
  void learn(const Json& object);
  // A string that was seen in a member of this name, or a key below it; empty when none was.
  std::string_view value(std::string_view member, Random& random) const;
  std::string_view key(std::string_view member, Random& random) const;
  std::string_view name(Random& random) const;  // of any object

 private:
  // A ring of strings: bounded, and of every age something.
  struct Heard {
    std::vector<std::string> strings;
    std::size_t next = 0;
    void add(std::string_view text);
    std::string_view pick(Random& random) const;
  };
  void learn(std::string_view member, const Json& value, int depth);

  std::map<std::string, Heard, std::less<>> values_, keys_;
  Heard names_;
};

}  // namespace berth::simulate
