#include "http/call.h"

#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "http/watch_backlog.h"

namespace berth::http {

namespace asio = boost::asio;

namespace {

// Larger bodies are decoded on the pool, so that they do not delay other requests of the connection.
constexpr std::size_t kDecodedAtOnce = 64 * 1024;

// Shared by the core side and the connection side of a call.
struct Flow {
  WatchBacklog backlog;
  std::atomic<bool> dropped{false};  // the client is gone or the call was dropped: send no more
  std::function<void()> on_room;     // used on the core executor only
};

// Passes responses from the core to the connection and keeps the connection alive. The core destroys the sink with
// the exchange.
class CallSink final : public ResponseSink {
 public:
  CallSink(std::shared_ptr<Hub> hub, Call::Origin origin, std::shared_ptr<Flow> flow)
      : hub_(std::move(hub)), origin_(std::move(origin)), flow_(std::move(flow)) {}

  void respond(std::function<HttpResponse()> make) override {
    // Encoding a large response takes long: do it on the pool, so that other requests of the connection do not wait.
    asio::post(hub_->pool, [origin = origin_, make = std::move(make)] {
      auto response = std::make_shared<HttpResponse>(make());
      asio::dispatch(origin.strand,
                     [origin, response] { origin.connection->on_response(origin.stream, std::move(*response)); });
    });
  }
  void begin(int status, std::vector<Header> headers) override {
    report(
        [status, headers = std::move(headers)](Answered& to, Answered::Stream s) { to.on_begin(s, status, headers); });
  }
  bool chunk(SharedBytes bytes) override {
    // Count here, before the connection sees the event: then a connection that is too busy to write cannot pile up
    // events unnoticed.
    const bool room = flow_->backlog.add(bytes->size());
    if (flow_->backlog.too_much()) {
      if (!flow_->dropped.exchange(true)) report([](Answered& to, Answered::Stream s) { to.on_overrun(s); });
      return false;
    }
    report([bytes = std::move(bytes)](Answered& to, Answered::Stream s) { to.on_chunk(s, bytes); });
    return room;
  }
  void on_room(std::function<void()> handler) override { flow_->on_room = std::move(handler); }
  void end() override {
    report([](Answered& to, Answered::Stream s) { to.on_end(s); });
  }

 private:
  template <typename F>
  void report(F&& what) {
    asio::post(origin_.strand,
               [origin = origin_, what = std::forward<F>(what)] { what(*origin.connection, origin.stream); });
  }

  std::shared_ptr<Hub> hub_;
  Call::Origin origin_;
  std::shared_ptr<Flow> flow_;
};

}  // namespace

struct Call::Work {
  std::shared_ptr<Flow> flow = std::make_shared<Flow>();
  std::unique_ptr<Exchange> exchange;  // used on the core executor only
  std::optional<Turns::Kind> turn;     // used on the strand first, then on the core executor
};

Call::Call(std::shared_ptr<Hub> hub, Origin origin, Turns::Kind kind, std::unique_ptr<Handler::Parsed> request)
    : hub_(std::move(hub)), work_(std::make_shared<Work>()) {
  work_->turn = kind;
  const bool at_once = request->http.body.size() <= kDecodedAtOnce;
  auto sink = std::make_shared<CallSink>(hub_, std::move(origin), work_->flow);
  // Tasks must be copyable.
  auto shared_request = std::make_shared<std::unique_ptr<Handler::Parsed>>(std::move(request));
  auto go = [shared = hub_, work = work_, sink = std::move(sink), shared_request] {
    shared->handler.decode(**shared_request);
    shared->core.post([shared, work, shared_request, sink] {
      if (work->flow->dropped) return;  // the client disconnected before the core ran this
      work->exchange = shared->handler.execute(std::move(*shared_request), sink);
    });
  };
  if (at_once) {
    go();
  } else {
    asio::post(hub_->pool, std::move(go));
  }
}

Call::~Call() {
  work_->flow->dropped = true;
  // The request keeps its turn until the core has released it. A client that cancels requests gets no more work done
  // than one that waits.
  hub_->core.post([hub = std::move(hub_), work = std::move(work_)] {
    work->exchange.reset();
    work->flow->on_room = nullptr;
    if (work->turn) hub->turns.give_back(*std::exchange(work->turn, {}));
  });
}

void Call::streams() {
  if (work_->turn) hub_->turns.give_back(*std::exchange(work_->turn, {}));
}

void Call::sent(std::size_t bytes, std::size_t events) {
  if (!work_->flow->backlog.sent(bytes, events)) return;
  hub_->core.post([flow = work_->flow] {
    if (flow->on_room) flow->on_room();
  });
}

}  // namespace berth::http
