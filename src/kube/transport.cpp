#include "kube/transport.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <thread>

#include "base/io_loop.h"
#include "base/lifetime.h"
#include "kube/connection.h"

namespace berth::kube {

namespace asio = boost::asio;

namespace {

using Done = std::function<void(HttpReply)>;
using ConnectionPtr = std::shared_ptr<Connection>;

// Bound on lines that were read but not handled yet: reading pauses above it and resumes at half of it.
constexpr int kMaxLinesAhead = 1000;

// Under load, bytes that arrive within this time are read together.
constexpr Duration kRest = std::chrono::milliseconds(10);

HttpReply never_sent(std::string why, bool hopeless = false) {
  return HttpReply{
      .error = std::move(why), .hopeless = hopeless, .retry_after_seconds = {}, .warnings = {}, .body = {}};
}

}  // namespace

// All members run on the I/O thread and are used only there, except `executor` (tasks are posted to it) and `lifetime`.
struct Transport::Impl : std::enable_shared_from_this<Transport::Impl> {
  Impl(Executor& e, TransportOptions o) : executor(e), options(std::move(o)) {}

  struct Waiting {
    HttpRequest request;
    Duration timeout;
    Done done;
  };
  struct Idle {
    ConnectionPtr connection;
    std::chrono::steady_clock::time_point since;
  };

  // Posts the reply to the executor; nothing happens when the transport is gone by then.
  void tell(Done done, HttpReply reply) {
    executor.post(
        lifetime.guard([done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); }));
  }

  void call(Waiting waiting) {
    auto& waiting_there = waiting.request.background ? background : queue;
    if (waiting_there.size() >= kMaxWaiting)
      return tell(std::move(waiting.done), never_sent(std::to_string(kMaxWaiting) + " requests wait already"));
    waiting_there.push_back(std::move(waiting));
    serve();
  }

  // How many waiting requests may run if there are connections for them.
  std::size_t wanted() const { return queue.size() + wanted_in_background(); }
  std::size_t wanted_in_background() const { return std::min(background.size(), kMaxBackground - in_background); }

  // Every kBackgroundTurn-th time a background request goes first, so that it does not wait forever.
  std::deque<Waiting>& next_queue() {
    if (queue.empty()) return background;
    if (wanted_in_background() == 0 || ++turns % kBackgroundTurn != 0) return queue;
    return background;
  }

  void serve() {
    while (wanted() > 0) {
      if (ConnectionPtr idle_one = take_idle()) {
        run(std::move(idle_one));
      } else if (connections < kMaxConnections && opening < wanted()) {
        open_one();
      } else {
        return;
      }
    }
  }

  ConnectionPtr take_idle() {
    const auto oldest = std::chrono::steady_clock::now() - kIdleConnection;
    while (!idle.empty()) {
      Idle last = std::move(idle.back());
      idle.pop_back();
      if (last.since > oldest && last.connection->context() == context && last.connection->still_open())
        return last.connection;
      last.connection->close();
      --connections;
    }
    return nullptr;
  }

  void open_one() {
    ++connections;
    ++opening;
    auto connection = std::make_shared<Connection>(io, context, options);
    connection->open([this, connection](const std::string& error) {
      --opening;
      if (error.empty()) {
        if (wanted() > 0) return run(connection);
        idle.push_back({connection, std::chrono::steady_clock::now()});
        return;
      }
      connection->close();
      --connections;
      // The waiting requests would fail, too: fail them all. The next request tries to connect again.
      for (auto* all : {&queue, &background}) {
        for (auto& waiting : std::exchange(*all, {}))
          tell(std::move(waiting.done), never_sent(error, connection->untrusted()));
      }
    });
  }

  // The first waiting request that is not too late; refuses those before it.
  std::optional<Waiting> take_next() {
    while (wanted() > 0) {
      auto& from = next_queue();
      Waiting next = std::move(from.front());
      from.pop_front();
      const auto& not_from = next.request.not_sent_from;
      if (!not_from || std::chrono::system_clock::now() < *not_from) return next;
      tell(std::move(next.done), never_sent("too late to be sent"));
    }
    return std::nullopt;
  }

  void run(ConnectionPtr connection) {
    auto next = take_next();
    if (!next) return idle.push_back({connection, std::chrono::steady_clock::now()});
    const std::size_t one = next->request.background ? 1 : 0;
    in_background += one;
    connection->call(std::move(next->request), next->timeout,
                     [this, connection, one, done = std::move(next->done)](HttpReply reply) {
                       in_background -= one;
                       if (connection->reusable()) {
                         idle.push_back({connection, std::chrono::steady_clock::now()});
                       } else {
                         connection->close();
                         --connections;
                       }
                       tell(done, std::move(reply));
                       serve();
                     });
  }

  Executor& executor;
  TransportOptions options;
  Lifetime lifetime;  // ends on the executor's thread
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Connection::Context context;
  std::deque<Waiting> queue, background;
  std::vector<Idle> idle;
  std::size_t connections = 0;  // of the pool: idle, busy and opening
  std::size_t opening = 0;
  std::size_t in_background = 0;  // background requests that run now
  std::size_t turns = 0;          // requests taken while both kinds waited
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
  asio::post(impl_->io, [impl = impl_.get(), shared] { impl->context = shared; });
}

void Transport::call(HttpRequest request, Duration timeout, Done done) {
  asio::post(impl_->io,
             [impl = impl_.get(), waiting = Impl::Waiting{std::move(request), timeout, std::move(done)}]() mutable {
               impl->call(std::move(waiting));
             });
}

namespace {

// The part of a stream that runs on the I/O thread.
class StreamReader : public std::enable_shared_from_this<StreamReader> {
 public:
  StreamReader(Executor& executor, asio::io_context& io, ConnectionPtr connection, Duration silence,
               Transport::StreamHandler handler, LifetimeWatch owner)
      : executor_(executor),
        io_(io),
        connection_(std::move(connection)),
        silence_(silence),
        handler_(std::make_shared<Transport::StreamHandler>(std::move(handler))),
        owner_(std::move(owner)) {}

  void start(HttpRequest request) {
    auto self = shared_from_this();
    connection_->open([self, request = std::move(request)](const std::string& error) mutable {
      if (!error.empty()) return self->head(never_sent(error, self->connection_->untrusted()));
      self->connection_->start_stream(std::move(request), self->silence_,
                                      [self](HttpReply reply) { self->head(std::move(reply)); });
    });
  }

  void close() { connection_->close(); }

 private:
  void head(HttpReply reply) {
    const bool streams = reply.status == 200;
    post([reply = std::move(reply)](Transport::StreamHandler& handler) mutable { handler.on_head(std::move(reply)); });
    if (streams) {
      read();
    } else {
      close();
    }
  }

  void read() {
    if (ahead_->load() > kMaxLinesAhead) {
      paused_ = true;
      return;
    }
    connection_->read_piece(silence_,
                            [self = shared_from_this()](Connection::Piece piece) { self->take(std::move(piece)); });
  }

  void take(Connection::Piece piece) {
    // What came before has no line end: a long line is searched once, not with each of its pieces.
    const std::size_t known = received_.size(), last = piece.bytes.rfind('\n');
    received_ += piece.bytes;
    if (last != std::string::npos) {
      const std::size_t end = known + last;
      std::string rest = received_.substr(end + 1);
      received_.resize(end + 1);
      lines(std::exchange(received_, std::move(rest)));
    }
    if (received_.size() > kMaxLineBytes)
      piece = {{}, true, "an event is larger than " + std::to_string(kMaxLineBytes) + " bytes"};
    if (!piece.ended) return read();
    post([error = std::move(piece.error)](Transport::StreamHandler& handler) { handler.on_end(error); });
    close();
  }

  // Posts complete lines to the executor, in one task.
  void lines(std::string text) {
    const int count = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    *ahead_ += count;
    // The task holds the reader weakly: the task may outlive the transport, on whose thread the connection must end.
    post([reader = weak_from_this(), &io = io_, ahead = ahead_, owner = owner_,
          text = std::move(text)](Transport::StreamHandler& handler) {
      for (std::size_t begin = 0, end; begin < text.size() && owner.alive(); begin = end + 1) {
        end = text.find('\n', begin);
        if (--*ahead == kMaxLinesAhead / 2) {
          asio::post(io, [reader] {
            if (const auto self = reader.lock()) self->go_on();
          });
        }
        if (end > begin) handler.on_line(std::string_view(text).substr(begin, end - begin));
      }
    });
  }

  void go_on() {
    if (std::exchange(paused_, false)) read();
  }

  template <typename Task>
  void post(Task task) {
    executor_.post(owner_.guard([handler = handler_, task = std::move(task)]() mutable { task(*handler); }));
  }

  Executor& executor_;
  asio::io_context& io_;
  ConnectionPtr connection_;
  Duration silence_;
  std::shared_ptr<Transport::StreamHandler> handler_;
  LifetimeWatch owner_;  // the RunningStream; asked on the executor's thread only
  std::string received_;
  std::shared_ptr<std::atomic<int>> ahead_ = std::make_shared<std::atomic<int>>(0);
  bool paused_ = false;
};

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
  auto reader = std::make_shared<std::shared_ptr<StreamReader>>();  // set and used on the I/O thread
  auto impl = impl_;
  auto running = std::make_unique<RunningStream>([impl, reader] {
    asio::post(impl->io, [reader] {
      if (*reader) (*reader)->close();
    });
  });
  asio::post(impl->io, [impl, reader, request = std::move(request), silence, handler = std::move(handler),
                        owner = running->watch()]() mutable {
    auto connection = std::make_shared<Connection>(impl->io, impl->context, impl->options);
    *reader = std::make_shared<StreamReader>(impl->executor, impl->io, connection, silence, std::move(handler),
                                             std::move(owner));
    (*reader)->start(std::move(request));
  });
  return running;
}

}  // namespace berth::kube
