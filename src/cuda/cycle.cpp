#include "cuda/cycle.hpp"

#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

namespace {

class RecordedGraph final : public RecordedWork {
 public:
  RecordedGraph(Graph graph, const cudaStream_t& queue) : graph_(std::move(graph)), queue_(queue) {}
  void run() const override {
    if (graph_.nodes() > 0) graph_.launch(queue_);
  }
  int size() const override { return graph_.nodes(); }

 private:
  Graph graph_;
  const cudaStream_t& queue_;
};

class GraphRecording final : public Recording {
 public:
  explicit GraphRecording(cudaStream_t& queue) : recorder_(queue), queue_(queue) {}
  std::unique_ptr<RecordedWork> finish() override {
    return std::make_unique<RecordedGraph>(recorder_.finish(), queue_);
  }

 private:
  GraphRecorder recorder_;
  const cudaStream_t& queue_;
};

}  // namespace

void smooth(ScalarType scalar, const smoothing_pass_args& args, cudaStream_t queue) {
  launch_workers(kernel_of(smoothing_pass_source(scalar)), args.scalars, args, queue);
}

void multiply_dense(ScalarType scalar, const dense_args& args, cudaStream_t queue) {
  launch_workers(kernel_of(dense_source(scalar)), args.rows * 32, args, queue);
}

std::unique_ptr<Recording> record(cudaStream_t& queue) { return std::make_unique<GraphRecording>(queue); }

}  // namespace compound::cuda
