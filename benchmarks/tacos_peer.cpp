// One job for TACOS: nodes, chunks of each, bytes of a chunk and tries; then links, until the end of input,
// as source, target, GiB/s and microseconds.  Prints the least predicted time in microseconds, and the
// milliseconds of all tries.
//
//     g++ -O2 -std=c++17 -I DIRECTORY/include benchmarks/tacos_peer.cpp DIRECTORY/src/*/*.cpp -o tacos_peer

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <tacos/collective/all_gather.h>
#include <tacos/synthesizer/synthesizer.h>
#include <tacos/topology/topology.h>

class Given final : public tacos::Topology {
  public:
    Given(int nodes, std::istream& links) {
        setNpusCount_(nodes);
        int source = 0, target = 0;
        double bandwidth = 0, latency = 0;
        while (links >> source >> target >> bandwidth >> latency) {
            connect_(source, target, bandwidth, latency);
        }
    }
};

int main() {
    int nodes = 0, chunks = 0, tries = 0;
    double bytes = 0;
    std::cin >> nodes >> chunks >> bytes >> tries;
    const Given topology(nodes, std::cin);
    const auto start = std::chrono::steady_clock::now();
    double least = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < tries; ++attempt) {
        const tacos::AllGather collective(nodes, chunks);
        auto synthesizer = tacos::Synthesizer();
        least = std::min<double>(least, synthesizer.solve(topology, collective, bytes));
    }
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::cout.precision(17);
    std::cout << least << " " << taken.count() << std::endl;
    return 0;
}
