// Compares a server's answer with the recorded answer, by meaning.
//
// The rule: members, values and order are equal, with these exceptions:
//  - placeholders stand for values: <time> for any RFC 3339 time, <text> for any text, <n> for any number or quantity,
//    <about 4> for a quantity within a thousandth, <about 0> for nearly nothing; <uid1>,
//    <rv2>, <continue> and generated names for one value each, the same in all places;
//  - different <uidN> are different values, and so are different <rvN> of objects (the revision of a list may be the
//    revision of its last object);
//  - lists of items with distinct names (resources of discovery documents) are compared by name, and conditions by
//    type;
//  - an age in a cell of a Table matches any age;
//  - the rules in a review of a user's permissions have no order;
//  - where time is real, so that two writes may happen in one second or in two, managers of fields have no order;
//  - the causes of a Status have no order either; with several causes its message is compared up to their list;
//  - in texts, a dumped value ("Invalid value: {...}") matches any dump, because it shows Go structures, and a
//    revision of the store matches any revision.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::conformance {

struct Difference {
  std::string path;  // "response.metadata.labels.a"
  std::string what;  // "expected 1, got 2"
};

// Values of placeholders, in both directions.
class Bindings {
 public:
  bool bound(const std::string& placeholder) const { return values_.count(placeholder) != 0; }
  void bind(const std::string& placeholder, std::string value);
  // True when the placeholder has, or now gets, the value `value`.
  bool match(const std::string& placeholder, const std::string& value, bool of_list);
  // Replaces bound placeholders and renamed names in a text of a request.
  std::string substitute(std::string_view text) const;
  // Other clients write too: the revision of a list may be newer than the recorded one.
  void let_the_store_move() { store_moves_ = true; }
  bool store_moves() const { return store_moves_; }
  // Maps a name that the recorded server generated to the name that this server generated.
  void rename(const std::string& recorded, const std::string& actual) { renamed_[recorded] = actual; }

 private:
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> taken_;  // value -> placeholder, for placeholders whose values must differ
  std::map<std::string, std::string> renamed_;
  bool store_moves_ = false;
};

std::vector<Difference> compare(const Json& recorded, const Json& actual, Bindings& bindings);

// For texts outside of documents, such as header values.
bool text_matches(std::string_view recorded, std::string_view actual, Bindings& bindings, bool of_list = false);

// The text with "..." in place of dumped values and revisions of the store.
std::string without_dumps(std::string_view text);

}  // namespace berth::conformance
