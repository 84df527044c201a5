// The strings in a cluster's objects, by the name of the member that holds them. Random objects use them, so that
// they refer to existing objects and contain meaningful values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/lab/faults.h"

namespace berth::lab {

class Words {
 public:
  // Takes the strings of an object, the keys of its maps and its name. New strings replace the oldest ones.
  void learn(const Json& object);
  // Returns a string that was seen in a member with this name, or a key below it; empty when there is none.
  std::string_view value(std::string_view member, Random& random) const;
  std::string_view key(std::string_view member, Random& random) const;
  std::string_view name(Random& random) const;  // of any object

 private:
  // A ring buffer of strings: bounded.
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

}  // namespace berth::lab
