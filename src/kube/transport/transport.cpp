#include "kube/transport/transport.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "base/io_loop.h"
#include "base/lifetime.h"
#include "kube/transport/line_stream.h"
#include "kube/transport/request_connections.h"
#include "kube/transport/stream_connections.h"

namespace berth::kube {

namespace asio = boost::asio;

namespace {

// Under load, bytes that arrive within this time are read together.
constexpr Duration kRest = std::chrono::milliseconds(10);

}  // namespace

// All members run on the I/O thread and are used only there, except `executor` (tasks are posted to it) and `lifetime`.
struct Transport::Impl {
  Impl(Executor& e, TransportOptions o) : executor(e), options(std::move(o)) {}

  // Posts the reply to the executor; nothing happens when the transport is gone by then.
  void report(ReplyHandler done, HttpReply reply) {
    executor.post(
        lifetime.guard([done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); }));
  }

  Executor& executor;
  TransportOptions options;
  Lifetime lifetime;  // ends on the executor's thread
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  RequestConnections requests{
      io, options, [this](ReplyHandler done, HttpReply reply) { report(std::move(done), std::move(reply)); }};
  StreamConnections streams{io, options};
  std::thread thread;
};

Transport::Transport(Executor& executor, TransportOptions options)
    : impl_(std::make_shared<Impl>(executor, std::move(options))) {
  impl_->thread = std::thread([impl = impl_.get()] { run_loop(impl->io, kRest); });
}

Transport::~Transport() {
  impl_->lifetime.end();
  impl_->io.stop();
  impl_->thread.join();
}

void Transport::use(TlsContext context) {
  auto shared = std::make_shared<asio::ssl::context>(context.release());
  asio::post(impl_->io, [impl = impl_.get(), shared] {
    impl->requests.use(shared);
    impl->streams.use(shared);
  });
}

void Transport::call(HttpRequest request, Duration timeout, ReplyHandler done) {
  asio::post(impl_->io,
             [impl = impl_.get(), waiting = WaitingRequest{std::move(request), timeout, std::move(done)}]() mutable {
               impl->requests.call(std::move(waiting));
             });
}

namespace {

class RunningStream final : public Stream {
 public:
  explicit RunningStream(std::function<void()> close) : close_(std::move(close)) {}
  ~RunningStream() override { close_(); }
  LifetimeWatch watch() const { return lifetime_.watch(); }

 private:
  std::function<void()> close_;
  Lifetime lifetime_;
};

}  // namespace

std::unique_ptr<Stream> Transport::stream(HttpRequest request, Duration silence, StreamHandler handler) {
  auto lines = std::make_shared<std::shared_ptr<LineStream>>();  // set and used on the I/O thread
  auto impl = impl_;
  auto running = std::make_unique<RunningStream>([impl, lines] {
    asio::post(impl->io, [lines] {
      if (*lines) (*lines)->close();
    });
  });
  asio::post(impl->io, [impl, lines, request = std::move(request), silence, handler = std::move(handler),
                        owner = running->watch()]() mutable {
    *lines = std::make_shared<LineStream>(impl->executor, impl->io, std::move(request), silence, std::move(handler),
                                          std::move(owner));
    impl->streams.start(*lines);
  });
  return running;
}

}  // namespace berth::kube
