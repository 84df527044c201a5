// Compares what a server answered with what was recorded, by meaning.
//
// The rule: members, values and order are equal, except that
//  - placeholders stand for values: <time> for any RFC 3339 time, <text> for any text, <n> for any number, <uid1>, <rv2>,
//  <continue> and
//    generated names for one value each, the same at every place;
//  - different <uidN> are different values, and so are different <rvN> of objects (the revision of a list may
//  be the one
//    of its last object);
//  - lists of things with distinct names (resources of discovery documents) are compared name by name, and
//  conditions type by type;
//  - ages in cells of Tables are any age;
//  - the rules of a review of what one may do have no order;
//  - the causes of a Status have none either, and its message is compared up to their list when there are
//  several;
//  - in texts, the dump of a value ("Invalid value: {...}") is any dump, since it shows Go's structures, and
//  so are
//    revisions of the store.
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
  // True when the placeholder is, or now becomes, `value`.
  bool match(const std::string& placeholder, const std::string& value, bool of_list);
  // Replaces bound placeholders and renamed names in a text of a request.
  std::string substitute(std::string_view text) const;
  // Others write too: the revision of a list is the recorded one or a newer one.
  void let_the_store_move() { store_moves_ = true; }
  // A name that the recorded server made up and the one that this server did.
  void rename(const std::string& recorded, const std::string& actual) { renamed_[recorded] = actual; }

 private:
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> taken_;  // value -> placeholder, of those that must differ
  std::map<std::string, std::string> renamed_;
  bool store_moves_ = false;
};

std::vector<Difference> compare(const Json& recorded, const Json& actual, Bindings& bindings);

// For texts outside of documents: header values.
bool text_matches(std::string_view recorded, std::string_view actual, Bindings& bindings,
                  bool of_list = false);

// The text with "..." for dumps of values and revisions of the store.
std::string without_dumps(std::string_view text);

}  // namespace berth::conformance
