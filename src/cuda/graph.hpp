// Graphs of kernels: work that is recorded on a stream of its own, and queued as a whole.
#pragma once

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "cuda/runtime.hpp"

namespace compound::cuda {

class Stream {
 public:
  Stream() {
    count_allocation();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }
  Stream(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }
  void wait() const { check(cudaEventSynchronize(event_), "waiting for queued work"); }
  void let_wait(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "ordering queued work"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Work beside a queue, on a stream of its own.
class WorkBeside {
 public:
  cudaStream_t stream() const { return stream_.get(); }
  /// What comes on the stream waits for what is on the queue.
  void follow(cudaStream_t queue) const {
    begin_.record(queue);
    begin_.let_wait(stream_.get());
  }
  /// What comes on the queue waits for what is on the stream.
  void end_before(cudaStream_t queue) const {
    end_.record(stream_.get());
    end_.let_wait(queue);
  }

 private:
  Stream stream_;
  Event begin_, end_;
};

/// Work that was recorded: kernels, copies, clears.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& from) noexcept : made_(std::exchange(from.made_, nullptr)), nodes_(from.nodes_) {}
  Graph& operator=(Graph&& from) noexcept {
    std::swap(made_, from.made_);
    std::swap(nodes_, from.nodes_);
    return *this;
  }
  ~Graph() {
    if (made_) cudaGraphExecDestroy(made_);
  }

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(made_, stream), "launching a graph"); }
  explicit operator bool() const { return made_ != nullptr; }
  int nodes() const { return nodes_; }

 private:
  friend class GraphRecorder;
  cudaGraphExec_t made_ = nullptr;
  int nodes_ = 0;
};

/// What is queued on `queue` while this lives is recorded. Default streams cannot be recorded: `queue` is another
/// stream until then.
class GraphRecorder {
 public:
  explicit GraphRecorder(cudaStream_t& queue) : queue_(queue), queue_before_(queue) {
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeRelaxed), "recording a graph");
    queue_ = stream_.get();
  }
  GraphRecorder(const GraphRecorder&) = delete;
  ~GraphRecorder() {
    if (queue_ == stream_.get()) end();
  }
  Graph finish() {
    const Recorded recorded = end();
    check(recorded.code, "recording a graph");
    Graph made;
    std::size_t nodes = 0;
    cudaGraphGetNodes(recorded.graph.get(), nullptr, &nodes);
    made.nodes_ = static_cast<int>(nodes);
    count_allocation();
    check(cudaGraphInstantiate(&made.made_, recorded.graph.get(), 0), "making a graph");
    return made;
  }

 private:
  struct Destroy {
    void operator()(cudaGraph_t graph) const noexcept { cudaGraphDestroy(graph); }
  };
  using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Destroy>;
  struct Recorded {
    cudaError_t code;
    OwnedGraph graph;
  };

  Recorded end() noexcept {
    cudaGraph_t graph = nullptr;
    queue_ = queue_before_;
    const cudaError_t code = cudaStreamEndCapture(stream_.get(), &graph);
    return {code, OwnedGraph(graph)};
  }

  Stream stream_;
  cudaStream_t& queue_;
  cudaStream_t queue_before_;
};

inline constexpr int graphs_in_flight = 2;

/// Queues the graph again and again while `goes_on`(), up to `ahead` of it at once, at most graphs_in_flight: look()
/// comes after each of them, while the next is under way, and once more at the end.
template <class GoesOn, class Look>
void run_ahead(const Graph& graph, cudaStream_t queue, int ahead, const GoesOn& goes_on, const Look& look) {
  std::array<Event, graphs_in_flight> ends;
  for (int launched = 0, ended = 0; goes_on(); ++ended) {
    for (; launched < ended + ahead; ++launched) {
      graph.launch(queue);
      ends[launched % graphs_in_flight].record(queue);
    }
    ends[ended % graphs_in_flight].wait();
    look();
  }
  check(cudaStreamSynchronize(queue), "waiting for iterations");
  look();
}

}  // namespace compound::cuda
