// One open page: sends snapshots of the collections that it asked for, then their changes, in the limits of the user's
// rights. When the page reads slowly the stream pauses, and catches up with one merged change per row.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "console/feeds.h"
#include "console/sessions.h"
#include "http/message.h"

namespace berth::console {

// Use it on the executor only.
class Stream final : public http::Exchange {
 public:
  // Begins the answer; `open` has the stream from now until it is destroyed. Everything must outlive the stream.
  Stream(SessionPtr session, std::vector<Feed*> feeds, std::shared_ptr<http::ResponseSink> sink,
         std::set<Stream*>& open);
  ~Stream() override;

  // Sends what is new, as far as there is room.
  void pump();
  void ping();
  // Sends the event `end` and closes. Reasons: "expired", "signedOut", "stopping".
  void end(std::string_view reason, std::string_view message);
  const SessionPtr& session() const { return session_; }

 private:
  struct Part {
    Feed* feed = nullptr;
    enum class State { kNew, kDenied, kSnapshot, kLive } state = State::kNew;
    Scope scope;
    Collection::Cursor cursor;
    bool first = true;
    std::uint64_t version = 0;
    std::vector<http::SharedBytes> waiting;  // encoded events that had no room; at most those of one change
    bool waits() const { return state == State::kNew || state == State::kSnapshot; }
  };
  bool send(http::SharedBytes bytes);
  bool send(std::string text) { return send(std::make_shared<const std::string>(std::move(text))); }
  const Scope* scope_of(const Feed& feed, Scope& sum) const;
  void judge(Part& part);
  void step(Part& part);
  void send_snapshot(Part& part);
  void send_changes(Part& part);

  SessionPtr session_;
  std::vector<Part> parts_;
  std::shared_ptr<http::ResponseSink> sink_;
  std::set<Stream*>& open_;
  bool room_ = true, over_ = false, ready_ = false;
  Lifetime lifetime_;
};

}  // namespace berth::console
