#include "embedded/lab/monkeys/words.h"

#include <algorithm>

namespace berth::lab {
namespace {

constexpr std::size_t kMostOfOneMember = 24;  // enough for existing names; old words are replaced
constexpr std::size_t kMostMembers = 2'000;   // labels and annotations are members too
constexpr std::size_t kLongestWord = 256;     // in bytes; messages are not worth keeping
constexpr int kDeepestValue = 40;

}  // namespace

void Words::Heard::add(std::string_view text) {
  if (text.size() > kLongestWord || std::ranges::find(strings, text) != strings.end()) return;
  if (strings.size() < kMostOfOneMember) {
    strings.emplace_back(text);
    return;
  }
  strings[next++ % kMostOfOneMember] = text;
}

std::string_view Words::Heard::pick(Random& random) const {
  return strings.empty() ? std::string_view() : std::string_view(strings[random.below(strings.size())]);
}

void Words::learn(const Json& object) {
  names_.add(string_at(object, {"metadata", "name"}));
  for (const auto& member : object_at(object, {})) {
    if (member.key() != "metadata") learn(member.key(), member.value(), 0);
  }
  for (const std::string_view member : {"labels", "annotations", "finalizers"}) {
    if (const Json* value = find_path(object, {"metadata", member})) learn(member, *value, 0);
  }
}

void Words::learn(std::string_view member, const Json& value, int depth) {
  if (depth > kDeepestValue) return;
  if (value.is_string()) {
    if (const auto it = values_.find(member); it != values_.end())
      it->second.add(view(value.get_string()));
    else if (values_.size() < kMostMembers)
      values_[std::string(member)].add(view(value.get_string()));
  } else if (value.is_array()) {
    for (const Json& item : value.get_array()) learn(member, item, depth + 1);
  } else if (value.is_object()) {
    for (const auto& child : value.get_object()) {
      if (keys_.size() < kMostMembers || keys_.contains(member)) keys_[std::string(member)].add(child.key());
      learn(child.key(), child.value(), depth + 1);
    }
  }
}

std::string_view Words::value(std::string_view member, Random& random) const {
  const auto it = values_.find(member);
  return it == values_.end() ? std::string_view() : it->second.pick(random);
}

std::string_view Words::key(std::string_view member, Random& random) const {
  const auto it = keys_.find(member);
  return it == keys_.end() ? std::string_view() : it->second.pick(random);
}

std::string_view Words::name(Random& random) const { return names_.pick(random); }

}  // namespace berth::lab
