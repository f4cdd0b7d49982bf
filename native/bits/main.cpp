// Prints the digests of all topics by name, for tests/loops/test_bits.py.
#include <map>
#include <string>

#include "bits.hpp"

using namespace suffice;

int main() {
    std::map<std::string, void (*)()> topics;
    for (auto* t = Digests::first; t; t = t->next) topics[t->name] = t->print;
    for (auto& [name, print] : topics) {
        std::printf("%s\n", name.c_str());
        print();
    }
}
