#include "embedded/apiserver/patch/field_set.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::apiserver {
namespace {

// Prints the keys of a path element: strings quoted as in JSON, numbers and booleans unquoted.
std::string print_keys(std::string_view canonical) {
  auto keys = parse_json(canonical);
  if (!keys || !keys->is_object()) return std::string(canonical);
  std::string out;
  for (const auto& [name, value] : keys->get_object()) {
    if (!out.empty()) out += ',';
    out.append(name.data(), name.size());
    out += '=';
    out += to_string(value);
  }
  return out;
}

std::string encode_element(const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::kField:
      return "f:" + element.text;
    case PathElement::Kind::kKey:
      return "k:" + element.text;
    case PathElement::Kind::kValue:
      return "v:" + element.text;
    case PathElement::Kind::kIndex:
      return "i:" + element.text;
  }
  return {};
}

Result<PathElement> decode_element(std::string_view text) {
  if (text.size() < 2 || text[1] != ':') {
    return fail("managedFields: \"" + std::string(text) + "\": expected f:, k:, v:, i: or \".\"");
  }
  const std::string_view rest = text.substr(2);
  const auto malformed = [&] { return fail("managedFields: \"" + std::string(text) + "\" cannot be read"); };
  switch (text[0]) {
    case 'f':
      return PathElement::field(rest);
    case 'k': {
      auto keys = parse_json(rest);
      if (!keys || !keys->is_object() || keys->get_object().empty()) return malformed();
      return PathElement::key(*keys);
    }
    case 'v': {
      auto value = parse_json(rest);
      if (!value) return malformed();
      return PathElement::value(*value);
    }
    case 'i': {
      std::uint64_t index = 0;
      const auto end = rest.data() + rest.size();
      const auto [at, error] = std::from_chars(rest.data(), end, index);
      if (error != std::errc() || at != end) return malformed();
      return PathElement{PathElement::Kind::kIndex, std::to_string(index)};
    }
    default:
      return malformed();
  }
}

void visit_all(const FieldSet& set, FieldPath& path, const std::function<void(const FieldPath&)>& visit) {
  for (const auto& [element, entry] : set.entries()) {
    path.push_back(element);
    if (entry.member) visit(path);
    visit_all(entry.below, path, visit);
    path.pop_back();
  }
}

constexpr int kMaxDepth = 256;

Result<FieldSet> decode_fields(const Json& fields, int depth) {
  if (!fields.is_object()) return fail("managedFields: fieldsV1 must be an object of objects");
  if (depth > kMaxDepth) return fail("managedFields: fieldsV1 nests too deeply");
  FieldSet out;
  for (const auto& [key, below] : fields.get_object()) {
    const std::string_view name(key.data(), key.size());
    if (name == ".") continue;  // read by the level above
    auto element = decode_element(name);
    if (!element) return tl::unexpected(element.error());
    auto children = decode_fields(below, depth + 1);
    if (!children) return children;
    auto& entry = out.at(*element);
    entry.member = below.get_object().empty() || below.get_object().contains(".");
    entry.below = *std::move(children);
  }
  return out;
}

}  // namespace

std::string path_text(const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::kField:
      return "." + element.text;
    case PathElement::Kind::kKey:
      return "[" + print_keys(element.text) + "]";
    case PathElement::Kind::kValue:
      return "[=" + element.text + "]";
    case PathElement::Kind::kIndex:
      return "[" + element.text + "]";
  }
  return {};
}

std::string path_text(const FieldPath& path) {
  std::string out;
  for (const auto& element : path) out += path_text(element);
  return out;
}

const FieldSet::Entry* FieldSet::find(const PathElement& element) const {
  const auto found = entries_.find(element);
  return found == entries_.end() ? nullptr : &found->second;
}

FieldSet::Entry& FieldSet::at(const PathElement& element) { return entries_[element]; }

bool FieldSet::contains(const FieldPath& path) const {
  const FieldSet* set = this;
  const Entry* entry = nullptr;
  for (const auto& element : path) {
    entry = set->find(element);
    if (entry == nullptr) return false;
    set = &entry->below;
  }
  return entry != nullptr && entry->member;
}

void FieldSet::insert(const FieldPath& path) {
  FieldSet* set = this;
  Entry* entry = nullptr;
  for (const auto& element : path) {
    entry = &set->at(element);
    set = &entry->below;
  }
  if (entry != nullptr) entry->member = true;
}

void FieldSet::erase_below(const FieldPath& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto found = set->entries_.find(path[i]);
    if (found == set->entries_.end()) return;
    if (i + 1 == path.size()) {
      set->entries_.erase(found);
      return;
    }
    set = &found->second.below;
  }
}

void FieldSet::for_each(const std::function<void(const FieldPath&)>& visit) const {
  FieldPath path;
  visit_all(*this, path, visit);
}

bool FieldSet::operator==(const FieldSet& other) const {
  return std::equal(
      entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(), [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.member == b.second.member && a.second.below == b.second.below;
      });
}

void FieldSet::add(const FieldSet& other) {
  for (const auto& [element, entry] : other.entries_) {
    Entry& mine = entries_[element];
    mine.member = mine.member || entry.member;
    mine.below.add(entry.below);
  }
}

FieldSet FieldSet::unite(const FieldSet& a, const FieldSet& b) {
  FieldSet out = a;
  out.add(b);
  return out;
}

FieldSet FieldSet::intersect(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  for (const auto& [element, entry] : a.entries_) {
    const auto* other = b.find(element);
    if (other == nullptr) continue;
    Entry both{entry.member && other->member, intersect(entry.below, other->below)};
    if (both.member || !both.below.empty()) out.entries_.emplace_hint(out.entries_.end(), element, std::move(both));
  }
  return out;
}

FieldSet FieldSet::subtract(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  for (const auto& [element, entry] : a.entries_) {
    const auto* other = b.find(element);
    Entry rest = other == nullptr ? entry : Entry{entry.member && !other->member, subtract(entry.below, other->below)};
    if (rest.member || !rest.below.empty()) out.entries_.emplace_hint(out.entries_.end(), element, std::move(rest));
  }
  return out;
}

Json FieldSet::encode() const {
  JsonObject out;
  for (const auto& [element, entry] : entries_) {
    Json below = entry.below.encode();
    auto& fields = below.get_object();
    if (entry.member && !fields.empty()) {
      JsonObject with_self;
      with_self["."] = JsonObject();
      for (auto& field : fields) with_self.emplace(field.key(), std::move(field.value()));
      fields = std::move(with_self);
    }
    out.emplace(encode_element(element), std::move(below));
  }
  return out;
}

Result<FieldSet> FieldSet::decode(const Json& fields) { return decode_fields(fields, 0); }

}  // namespace berth::apiserver
