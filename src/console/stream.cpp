#include "console/stream.h"

#include <utility>

#include "console/replies.h"
#include "console/sse.h"

namespace berth::console {
namespace {

// Shards below this size are copied together, so that many small namespaces do not make many small events.
constexpr std::size_t kSmallPart = 32 * 1024;
constexpr std::size_t kEventBytes = 256 * 1024;

std::string name_field(const Feed& feed) { return R"({"collection":)" + to_string(Json(feed.rows.name())); }

std::string denied_event(const Feed& feed) {
  const std::string& resource = feed.rights.front().resource.resource;
  const std::string message = feed.trouble.empty() ? "your roles do not allow you to list " + resource : feed.trouble;
  return sse_event("denied", name_field(feed) + R"(,"message":)" + to_string(Json(message)) + "}");
}

std::vector<http::Header> stream_headers() {
  auto headers = common_headers();
  headers.push_back({"Content-Type", "text/event-stream"});
  headers.push_back({"Cache-Control", "no-store"});
  headers.push_back({"X-Accel-Buffering", "no"});  // a proxy must not collect events
  return headers;
}

}  // namespace

Stream::Stream(SessionPtr session, std::vector<Feed*> feeds, std::shared_ptr<http::ResponseSink> sink,
               std::set<Stream*>& open)
    : session_(std::move(session)), sink_(std::move(sink)), open_(open) {
  for (Feed* feed : feeds) {
    parts_.emplace_back();
    parts_.back().feed = feed;
    ++feed->watchers;
  }
  ++session_->streams;
  open_.insert(this);
  sink_->on_room(lifetime_.guard([this] {
    room_ = true;
    pump();
  }));
  sink_->begin(200, stream_headers());
  send(std::string("retry: 2000\n\n"));
}

Stream::~Stream() {
  --session_->streams;
  for (const Part& part : parts_) --part.feed->watchers;
  open_.erase(this);
}

bool Stream::send(http::SharedBytes bytes) {
  room_ = sink_->chunk(std::move(bytes));
  return room_;
}

void Stream::ping() {
  if (!over_ && room_) send(std::string(": ping\n\n"));
}

void Stream::end(std::string_view reason, std::string_view message) {
  if (std::exchange(over_, true)) return;
  sink_->chunk(std::make_shared<const std::string>(
      sse_event("end", to_string(JsonObject{{"reason", reason}, {"message", message}}))));
  sink_->end();
}

// What the user may see of the collection; null while this is not known.
const Scope* Stream::scope_of(const Feed& feed, Scope& sum) const {
  for (const Right& right : feed.rights) {
    const Scope* scope = session_->rights.find(session_->caller, right);
    if (scope == nullptr) return nullptr;
    sum.add(*scope);
  }
  return &sum;
}

// Whether the user's rights have changed: then the page gets a new snapshot, or hears that it may see nothing.
void Stream::judge(Part& part) {
  Scope sum;
  const Scope* scope = scope_of(*part.feed, sum);
  if (scope == nullptr || !part.feed->rows.settled()) return;
  const bool denied = scope->nothing() || !part.feed->trouble.empty();
  const bool as_before = *scope == part.scope && denied == (part.state == Part::State::kDenied);
  if (part.state != Part::State::kNew && as_before) return;
  const bool shown = part.state == Part::State::kSnapshot || part.state == Part::State::kLive;
  part.scope = *scope;
  part.cursor = {};
  part.first = true;
  part.waiting.clear();  // its rows may be among those that the user may not see any more
  part.version = part.feed->rows.version();
  part.state = denied ? Part::State::kDenied : Part::State::kSnapshot;
  if (!denied) return;
  if (shown) {
    part.waiting.push_back(std::make_shared<const std::string>(
        sse_event("snapshot", name_field(*part.feed) + R"(,"first":true,"last":true,"rows":[]})")));
  }
  part.waiting.push_back(std::make_shared<const std::string>(denied_event(*part.feed)));
}

void Stream::pump() {
  if (over_) return;
  for (Part& part : parts_) judge(part);
  for (Part& part : parts_) step(part);
  if (!room_ || ready_) return;
  for (const Part& part : parts_) {
    if (part.waits()) return;
  }
  ready_ = true;
  send(sse_event("ready", "{}"));
}

void Stream::step(Part& part) {
  std::size_t sent = 0;
  while (room_ && sent < part.waiting.size()) send(std::move(part.waiting[sent++]));
  part.waiting.erase(part.waiting.begin(), part.waiting.begin() + static_cast<std::ptrdiff_t>(sent));
  if (room_ && part.state == Part::State::kSnapshot) send_snapshot(part);
  if (room_ && part.state == Part::State::kLive) send_changes(part);
}

void Stream::send_snapshot(Part& part) {
  Collection& rows = part.feed->rows;
  // Looks one part ahead, to know which is the last one; the cursor returns to that part when there is no room.
  Collection::Cursor ahead = part.cursor;
  const auto advance = [&] {
    part.cursor = ahead;
    return rows.next_part(part.scope, ahead);
  };
  http::SharedBytes next = advance();
  while (room_ && part.state == Part::State::kSnapshot) {
    std::string small;
    while (next && next->size() < kSmallPart && small.size() < kEventBytes) {
      small.append(small.empty() ? "" : ",").append(*next);
      next = advance();
    }
    http::SharedBytes body;
    if (small.empty() && next) {
      body = std::move(next);
      next = advance();
    } else {
      body = std::make_shared<const std::string>(std::move(small));
    }
    const std::string first = std::exchange(part.first, false) ? "true" : "false";
    // One event in three chunks: the rows are shared with other streams.
    sink_->chunk(std::make_shared<const std::string>("event: snapshot\ndata: " + name_field(*part.feed) +
                                                     R"(,"first":)" + first + R"(,"last":)" +
                                                     (next ? "false" : "true") + R"(,"rows":[)"));
    sink_->chunk(std::move(body));
    send(std::string("]}\n\n"));
    if (!next) part.state = Part::State::kLive;
  }
}

void Stream::send_changes(Part& part) {
  Collection& rows = part.feed->rows;
  if (rows.version() == part.version) return;
  std::vector<http::SharedBytes> events;
  if (!rows.changes(part.scope, part.version, events)) {
    part.state = Part::State::kSnapshot;
    part.cursor = {};
    part.first = true;
    part.version = rows.version();
    return send_snapshot(part);
  }
  part.version = rows.version();
  for (auto& event : events) {
    if (room_) {
      send(std::move(event));
    } else {
      part.waiting.push_back(std::move(event));
    }
  }
}

}  // namespace berth::console
