// A text picture of the racks: one line per rack, one character per node. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::simulate {

struct PictureOptions {
  std::string rack_label = "cloud.provider.com/topology-rack";  // node label; nodes with the same value share a line
  std::vector<std::string>
      holders;          // jobs and pods in the order of their letters, A first; others follow, oldest pod first
  bool colour = false;  // use terminal escape sequences
};

// b1-r1   AAAAAAAAAAAAAAAABBBBBBBB!bbb....                   28/32
// b1-r2   CCCC............................                    4/32
//
// A capital letter: at least one resource of the node is used up; a small letter: the node is partly used. The letter
// stands for the holder with the most pods on the node. '.' free, '!' not Ready, '-' free but cordoned or tainted,
// '_' a gap in the numbering of the rack's nodes (a node was deleted). A rack's line ends with the number of nodes in
// use and of all nodes. A legend of the letters follows. At most 100 columns and kMaxRackLines racks.
std::string rack_picture(const std::vector<Json>& nodes, const std::vector<Json>& pods, const PictureOptions& options);
inline constexpr std::size_t kMaxRackLines = 40;
// Explains the characters in one line.
inline constexpr std::string_view kPictureKey =
    "A full  a partly used  . free  ! not Ready  - cordoned or tainted  _ deleted";

// The holders of nodes by these pods: "namespace/job", or "namespace/pod" for pods without a job. Ordered by the age
// of their oldest pod, then by name.
std::vector<std::string> holders_of(const std::vector<Json>& pods);

// The rack label in the first topology (by name) with at least two levels: the level above the hostname, or the
// lowest level when it is not the hostname. The default of PictureOptions when there is no such topology.
std::string rack_label_of(const std::vector<Json>& topologies);

// "n2" before "n10".
bool natural_less(std::string_view a, std::string_view b);
struct NaturalOrder {
  bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
};

}  // namespace berth::simulate
