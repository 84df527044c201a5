// A picture of the machine room in text: a line per rack, a character per node. Pure: objects in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::simulate {

struct PictureOptions {
  std::string rack_label = "cloud.provider.com/topology-rack";  // of the nodes: what makes a line
  std::vector<std::string>
      holders;          // who gets which letter, A first; others follow in the order of their pods' age
  bool colour = false;  // with the escape sequences of terminals
};

// b1-r1   AAAAAAAAAAAAAAAABBBBBBBB!bbb....                   28/32
// b1-r2   CCCC............................                    4/32
//
// A capital letter: a node whose first scarce resource is used up; a small one: partly used; the letter is
// that of who has most pods there. '.' is free, '!' not Ready, '-' free but cordoned or tainted, '_' a gap in
// the numbering of the rack's nodes (one was deleted). Then the nodes in use of all, and below it who the
// letters are. At most 100 columns and kMaxRackLines lines of racks.
std::string rack_picture(const std::vector<Json>& nodes, const std::vector<Json>& pods,
                         const PictureOptions& options);
inline constexpr std::size_t kMaxRackLines = 40;
// What the marks mean, in a line.
inline constexpr std::string_view kPictureKey =
    "A full  a partly used  . free  ! not Ready  - cordoned or tainted  _ deleted";

// Who holds nodes by these pods: "namespace/job", or "namespace/pod" for pods of no job; by the age of their
// oldest pod, then name.
std::vector<std::string> holders_of(const std::vector<Json>& pods);

// The label above the hostname in the first topology (by name) that has one; the default of PictureOptions
// otherwise.
std::string rack_label_of(const std::vector<Json>& topologies);

// "n2" before "n10".
bool natural_less(std::string_view a, std::string_view b);

}  // namespace berth::simulate
