#include "embedded/apiserver/storage/object_store.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace berth::apiserver {
namespace {

constexpr std::chrono::seconds kSilence{10};  // how long the log may confirm nothing before that is a problem

}  // namespace

std::string bucket_of(std::string_view group, std::string_view resource) {
  std::string bucket;
  bucket.reserve(group.size() + resource.size() + 2);
  bucket.append(group).append("/").append(resource).append("/");
  return bucket;
}

ObjectKey key_of(std::string_view bucket, std::string_view ns, std::string_view name) {
  std::string item;
  item.reserve(ns.size() + name.size() + 1);
  item.append(ns).append("/").append(name);
  return {std::string(bucket), std::move(item)};
}

std::optional<ObjectKey> parse_key(std::string_view full) {
  const std::size_t first = full.find('/');
  const std::size_t second = first == std::string_view::npos ? first : full.find('/', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  if (full.find('/', second + 1) == std::string_view::npos) return std::nullopt;
  return ObjectKey{std::string(full.substr(0, second + 1)), std::string(full.substr(second + 1))};
}

ObjectStore::ObjectStore(Executor& executor, std::unique_ptr<Log> log, StoreOptions options)
    : executor_(executor), log_(std::move(log)), options_(options) {
  log_->on_trouble(lifetime_.guard([this](const std::string& why) { on_trouble(why); }));
}

ObjectStore::~ObjectStore() = default;

Result<void> ObjectStore::load() {
  auto snapshot = log_->load();
  if (!snapshot) return tl::unexpected(snapshot.error());
  for (Stored& stored : snapshot->objects) {
    auto key = parse_key(stored.key);
    if (!key) return fail("the log holds an object under '" + stored.key + "', which is no key");
    if (stored.revision > snapshot->revision) {
      return fail("the log holds '" + stored.key + "' at revision " + std::to_string(stored.revision) +
                  ", beyond its newest revision " + std::to_string(snapshot->revision));
    }
    if (written_) written_({Change::Type::kCreated, stored.revision, stored.key, stored.object, nullptr});
    Bucket& bucket = buckets_[key->bucket];
    auto [it, added] = bucket.items.try_emplace(std::move(key->item));
    if (!added) return fail("the log holds '" + stored.key + "' twice");
    it->second.push_back({stored.revision, std::move(stored.object)});
    ++bucket.live;
  }
  revision_ = durable_ = floor_ = snapshot->revision;
  return {};
}

bool ObjectStore::overloaded() const { return static_cast<std::size_t>(revision_ - durable_) >= options_.backlog; }

const ObjectStore::Versions* ObjectStore::find(std::string_view bucket, std::string_view item) const {
  const auto b = buckets_.find(bucket);
  if (b == buckets_.end()) return nullptr;
  const auto it = b->second.items.find(item);
  return it == b->second.items.end() ? nullptr : &it->second;
}

JsonPtr ObjectStore::get(std::string_view bucket, std::string_view item) const {
  const Versions* versions = find(bucket, item);
  return versions == nullptr ? nullptr : versions->back().object;
}

ObjectStore::At ObjectStore::get_at(std::string_view bucket, std::string_view item, Revision at) const {
  BERTH_INVARIANT(at >= floor_ && at <= revision_);
  const Versions* versions = find(bucket, item);
  if (versions == nullptr) return {};
  const auto newer = std::ranges::upper_bound(*versions, at, {}, &Version::revision);
  return newer == versions->begin() ? At{} : At{std::prev(newer)->revision, std::prev(newer)->object};
}

Revision ObjectStore::revision_of(std::string_view bucket, std::string_view item) const {
  const Versions* versions = find(bucket, item);
  return versions == nullptr || versions->back().object == nullptr ? 0 : versions->back().revision;
}

std::size_t ObjectStore::count(std::string_view bucket) const {
  const auto b = buckets_.find(bucket);
  return b == buckets_.end() ? 0 : b->second.live;
}

std::vector<std::string> ObjectStore::buckets() const {
  std::vector<std::string> names;
  names.reserve(buckets_.size());
  for (const auto& [name, bucket] : buckets_) names.push_back(name);
  return names;
}

void ObjectStore::scan(std::string_view bucket, std::string_view prefix, std::string_view after, Revision at,
                       const Visit& visit) const {
  BERTH_INVARIANT(at >= floor_ && at <= revision_);
  const auto b = buckets_.find(bucket);
  if (b == buckets_.end()) return;
  const auto& items = b->second.items;
  auto it = after.empty() || after < prefix ? items.lower_bound(prefix) : items.upper_bound(after);
  for (; it != items.end() && std::string_view(it->first).starts_with(prefix); ++it) {
    const Versions& versions = it->second;
    auto version = versions.rbegin();
    while (version != versions.rend() && version->revision > at) ++version;
    if (version == versions.rend() || version->object == nullptr) continue;
    if (!visit(it->first, version->object)) return;
  }
}

std::optional<WriteError> ObjectStore::refuse(const ObjectKey& key, Revision expected) const {
  if (!failure_.empty()) return WriteError::kStopped;
  if (revision_of(key.bucket, key.item) != expected) return WriteError::kConflict;
  if (overloaded()) return WriteError::kOverloaded;
  return std::nullopt;
}

tl::expected<JsonPtr, WriteError> ObjectStore::put(const ObjectKey& key, Json object, Revision expected) {
  if (const auto error = refuse(key, expected)) return tl::unexpected(*error);
  return commit(key, expected == 0 ? Change::Type::kCreated : Change::Type::kUpdated, std::move(object));
}

tl::expected<JsonPtr, WriteError> ObjectStore::remove(const ObjectKey& key, Revision expected,
                                                      std::optional<Json> last) {
  BERTH_INVARIANT(expected > 0);
  if (const auto error = refuse(key, expected)) return tl::unexpected(*error);
  if (!last) last = *get(key.bucket, key.item);
  return commit(key, Change::Type::kDeleted, *std::move(last));
}

JsonPtr ObjectStore::commit(const ObjectKey& key, Change::Type type, Json object) {
  if (durable_ == revision_) progress_ = executor_.now();
  const Revision revision = ++revision_;
  ensure_path(object, {"metadata", "resourceVersion"}) = std::to_string(revision);
  auto stored = std::make_shared<const Json>(std::move(object));

  Bucket& bucket = buckets_[key.bucket];
  Versions& versions = bucket.items[key.item];
  Change change{type, revision, key.full(), stored, versions.empty() ? nullptr : versions.back().object};
  versions.push_back({revision, type == Change::Type::kDeleted ? nullptr : stored});
  if (type == Change::Type::kCreated) ++bucket.live;
  if (type == Change::Type::kDeleted) --bucket.live;

  history_.push_back(change);
  if (written_) written_(change);
  std::vector<Change> batch;
  batch.push_back(std::move(change));
  log_->append(std::move(batch),
               lifetime_.guard([this, revision](Result<void> outcome) { on_appended(revision, outcome); }));
  return stored;
}

void ObjectStore::on_appended(Revision revision, const Result<void>& outcome) {
  if (!outcome) return on_trouble(outcome.error().message);
  BERTH_INVARIANT(revision == durable_ + 1);
  durable_ = revision;
  progress_ = executor_.now();
  // The reference stays valid while observers write: a deque does not move its elements when others are appended.
  const Change& change = history_[static_cast<std::size_t>(revision - floor_ - 1)];
  for (std::size_t i = 0; i < observers_.size(); ++i) observers_[i](change);
  release_waiting(true);
  trim();
}

void ObjectStore::on_trouble(const std::string& why) {
  if (failure_.empty() && !why.empty()) ++failures_;
  failure_ = why;
  if (why.empty()) return;
  release_waiting(true);
  release_waiting(false);
}

std::string ObjectStore::problem() const {
  if (!failure_.empty() || durable_ == revision_) return failure_;
  const Duration silence = executor_.now() - progress_;
  if (silence < kSilence) return "";
  return "no write was confirmed for " + std::to_string(std::chrono::floor<std::chrono::seconds>(silence).count()) +
         " s: the disk does not answer";
}

void ObjectStore::release_waiting(bool durable) {
  while (!waiting_.empty() && (!durable || waiting_.begin()->first <= durable_)) {
    auto task = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    task(durable);
  }
}

void ObjectStore::trim() {
  while (history_.size() > options_.history && history_.front().revision <= durable_) {
    floor_ = history_.front().revision;
    forget_before(history_.front());
    history_.pop_front();
  }
}

// Drops versions of the change's object that cannot be read any more, now that floor_ is at `change`.
void ObjectStore::forget_before(const Change& change) {
  const auto key = parse_key(change.key);
  const auto b = buckets_.find(key->bucket);
  const auto it = b->second.items.find(key->item);
  Versions& versions = it->second;
  auto keep =
      std::find_if(versions.begin(), versions.end(), [&](const Version& v) { return v.revision >= change.revision; });
  if (keep != versions.end() && keep->revision == change.revision && keep->object == nullptr) ++keep;
  versions.erase(versions.begin(), keep);
  if (versions.empty()) b->second.items.erase(it);
}

void ObjectStore::replay(std::string_view bucket, Revision from,
                         const std::function<void(const Change&)>& visit) const {
  BERTH_INVARIANT(from >= floor_);
  const auto end = std::min<Revision>(durable_, revision_);
  for (Revision r = from + 1; r <= end; ++r) {
    const Change& change = history_[static_cast<std::size_t>(r - floor_ - 1)];
    if (std::string_view(change.key).starts_with(bucket)) visit(change);
  }
}

void ObjectStore::observe(std::function<void(const Change&)> observer) { observers_.push_back(std::move(observer)); }

void ObjectStore::when_durable(Revision revision, std::function<void(bool)> task) {
  if (revision <= durable_) {
    task(true);
  } else if (!failure_.empty()) {
    task(false);
  } else {
    waiting_.emplace(revision, std::move(task));
  }
}

}  // namespace berth::apiserver
