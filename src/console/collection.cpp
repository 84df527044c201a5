#include "console/collection.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "console/sse.h"

namespace berth::console {

void Collection::set(Row row) {
  auto& stored = rows_[row.key];
  if (stored && *stored->ns != row.ns) {
    erase(row.key);
    return set(std::move(row));
  }
  if (!stored) {
    stored = std::make_unique<Stored>();
    stored->key = &rows_.find(row.key)->first;
    const auto space = spaces_.try_emplace(row.ns).first;
    stored->ns = &space->first;
    place(*stored, space->second);
  } else if (stored->json == row.json) {
    return;
  } else {
    log_.erase(stored->version);
  }
  stored->json = std::move(row.json);
  stored->shard->encoded.reset();
  stored->version = ++version_;
  log_.emplace(stored->version, stored.get());
}

void Collection::erase(std::string_view key) {
  const auto it = rows_.find(std::string(key));
  if (it == rows_.end()) return;
  Stored& row = *it->second;
  deletions_.push_back({++version_, *row.key, *row.ns});
  if (deletions_.size() > kMaxDeletions) {
    forgotten_ = deletions_.front().version;
    deletions_.pop_front();
  }
  log_.erase(row.version);
  remove(row);
  rows_.erase(it);
}

void Collection::place(Stored& row, Space& space) {
  const auto room = std::find_if(space.shards.begin(), space.shards.end(),
                                 [](const Shard& shard) { return shard.rows.size() < kRowsPerPart; });
  Shard& shard = room == space.shards.end() ? space.shards.emplace_back() : *room;
  row.shard = &shard;
  row.index = shard.rows.size();
  shard.rows.push_back(&row);
  ++space.rows;
}

void Collection::remove(Stored& row) {
  Shard& shard = *row.shard;
  shard.rows.back()->index = row.index;
  std::swap(shard.rows[row.index], shard.rows.back());
  shard.rows.pop_back();
  shard.encoded.reset();
  const auto space = spaces_.find(*row.ns);
  if (--space->second.rows == 0) spaces_.erase(space);
}

std::vector<std::string> Collection::namespaces() const {
  std::vector<std::string> names;
  names.reserve(spaces_.size());
  for (const auto& [ns, space] : spaces_) names.push_back(ns);
  return names;
}

http::SharedBytes Collection::next_part(const Scope& scope, Cursor& cursor) {
  for (auto space = spaces_.lower_bound(cursor.ns); space != spaces_.end(); ++space) {
    if (space->first != cursor.ns) cursor = {space->first, 0};
    if (!scope.covers(space->first)) continue;
    while (cursor.shard < space->second.shards.size()) {
      Shard& shard = space->second.shards[cursor.shard++];
      if (shard.rows.empty()) continue;
      shard.used = true;
      if (!shard.encoded) {
        std::string text;
        for (const Stored* row : shard.rows) text.append(text.empty() ? "" : ",").append(row->json);
        shard.encoded = std::make_shared<const std::string>(std::move(text));
      }
      return shard.encoded;
    }
  }
  return nullptr;
}

Collection::Events Collection::encode_changes(const std::string* ns, std::uint64_t since) const {
  Events events;
  std::string set, deleted;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    events.push_back(std::make_shared<const std::string>(sse_event(
        "change",
        R"({"collection":)" + to_string(Json(name_)) + R"(,"set":[)" + set + R"(],"delete":[)" + deleted + "]}")));
    set.clear();
    deleted.clear();
    count = 0;
  };
  const auto add = [&](std::string& list, std::string_view text) {
    list.append(list.empty() ? "" : ",").append(text);
    if (++count == kRowsPerPart) flush();
  };
  const auto first = std::upper_bound(deletions_.begin(), deletions_.end(), since,
                                      [](std::uint64_t version, const Deletion& d) { return version < d.version; });
  for (auto it = first; it != deletions_.end(); ++it) {
    if (ns != nullptr && it->ns != *ns) continue;
    const auto again = rows_.find(it->key);
    const bool there = again != rows_.end() && (ns == nullptr || *again->second->ns == *ns);
    if (!there) add(deleted, to_string(Json(it->key)));
  }
  for (auto it = log_.upper_bound(since); it != log_.end(); ++it) {
    if (ns == nullptr || *it->second->ns == *ns) add(set, it->second->json);
  }
  flush();
  return events;
}

const Collection::Events& Collection::cached_changes(const std::string* ns, std::uint64_t since) {
  if (cached_for_ != version_ || cached_.size() >= kMaxCachedChanges) cached_.clear();
  cached_for_ = version_;
  const std::pair<std::string, std::uint64_t> key(ns == nullptr ? "*" : *ns, since);
  const auto it = cached_.find(key);
  if (it != cached_.end()) return it->second;
  return cached_.emplace(key, encode_changes(ns, since)).first->second;
}

bool Collection::too_far_behind(std::uint64_t since) const {
  if (since < forgotten_) return true;
  if (version_ - since <= kMaxMergedChanges) return false;
  std::size_t count = 0;
  for (auto it = log_.upper_bound(since); it != log_.end() && count <= kMaxMergedChanges; ++it) ++count;
  for (auto it = deletions_.rbegin(); it != deletions_.rend() && it->version > since; ++it) {
    if (++count > kMaxMergedChanges) break;
  }
  return count > kMaxMergedChanges;
}

bool Collection::changes(const Scope& scope, std::uint64_t since, std::vector<http::SharedBytes>& events) {
  if (too_far_behind(since)) return false;
  const auto add = [&](const std::string* ns) {
    const Events& more = cached_changes(ns, since);
    events.insert(events.end(), more.begin(), more.end());
  };
  if (scope.all) add(nullptr);
  for (const std::string& ns : scope.namespaces) add(&ns);
  return true;
}

void Collection::forget_unused() {
  for (auto& [ns, space] : spaces_) {
    for (Shard& shard : space.shards) {
      if (!std::exchange(shard.used, false)) shard.encoded.reset();
    }
  }
}

}  // namespace berth::console
