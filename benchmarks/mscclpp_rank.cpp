// One rank of the executor of MSCCL++ as C functions, for bench_mscclpp_gpu.py.
//
// Every function returns 0, or 1 with the reason in fault().

#include <cuda_runtime.h>

#include <memory>
#include <mscclpp/core.hpp>
#include <mscclpp/executor.hpp>
#include <mscclpp/gpu_utils.hpp>
#include <string>

namespace {

struct Rank {
  int rank;
  std::shared_ptr<mscclpp::Communicator> communicator;
  std::unique_ptr<mscclpp::Executor> executor;
  mscclpp::ExecutionPlan plan;
  cudaStream_t stream;
};

std::string reason;

template <typename Work>
int guarded(Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    reason = error.what();
    return 1;
  }
}

}  // namespace

extern "C" {

const char* fault() { return reason.c_str(); }

// Meet the other ranks at an address, interface:IP:port, and load a plan.
int open_rank(Rank** made, int rank, int ranks, const char* address, const char* path) {
  return guarded([&] {
    // Ranks that wait must not take the cores of those that work.
    static const auto ready = cudaInitDevice(0, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid);
    MSCCLPP_CUDATHROW(ready);
    auto bootstrap = std::make_shared<mscclpp::TcpBootstrap>(rank, ranks);
    bootstrap->initialize(address);
    auto communicator = std::make_shared<mscclpp::Communicator>(bootstrap);
    auto executor = std::make_unique<mscclpp::Executor>(communicator);
    cudaStream_t stream;
    MSCCLPP_CUDATHROW(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    *made = new Rank{rank, communicator, std::move(executor), {path, rank}, stream};
  });
}

int close_rank(Rank* rank) {
  return guarded([&] {
    auto bootstrap = rank->communicator->bootstrap();
    bootstrap->barrier();
    rank->executor.reset();
    // No rank may free its memory while another one still has it open.
    bootstrap->barrier();
    MSCCLPP_CUDATHROW(cudaStreamDestroy(rank->stream));
    delete rank;
  });
}

int barrier(Rank* rank) {
  return guarded([&] { rank->communicator->bootstrap()->barrier(); });
}

int allocate(char** made, size_t bytes) {
  return guarded([&] { MSCCLPP_CUDATHROW(cudaMalloc(made, bytes)); });
}

int release(char* memory) {
  return guarded([&] { MSCCLPP_CUDATHROW(cudaFree(memory)); });
}

int copy(char* target, const char* source, size_t bytes) {
  return guarded([&] {
    MSCCLPP_CUDATHROW(cudaMemcpy(target, source, bytes, cudaMemcpyDefault));
    MSCCLPP_CUDATHROW(cudaDeviceSynchronize());
  });
}

// Run the plan, and wait for its end.
int execute(Rank* rank, char* input, size_t entering, char* output, size_t leaving, int type) {
  return guarded([&] {
    rank->executor->execute(rank->rank, input, output, entering, leaving, static_cast<mscclpp::DataType>(type),
                            rank->plan, rank->stream);
    MSCCLPP_CUDATHROW(cudaGetLastError());
    MSCCLPP_CUDATHROW(cudaStreamSynchronize(rank->stream));
  });
}

// Return the name of the GPU, and its driver and runtime versions.
int describe(char* text, size_t bytes) {
  return guarded([&] {
    cudaDeviceProp properties;
    int driver, runtime;
    MSCCLPP_CUDATHROW(cudaGetDeviceProperties(&properties, 0));
    MSCCLPP_CUDATHROW(cudaDriverGetVersion(&driver));
    MSCCLPP_CUDATHROW(cudaRuntimeGetVersion(&runtime));
    snprintf(text, bytes, "%s, CUDA driver %d, runtime %d", properties.name, driver, runtime);
  });
}
}
