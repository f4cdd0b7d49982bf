// The loops of one level of instructions, in a submodule for each topic.
#include "bind.hpp"

namespace suffice {
void bind_distances(nb::module_&);
void bind_trees(nb::module_&);
}

NB_MODULE(LEVEL_MODULE, m) {
    auto topic = [&](const char* name, void (*bind)(nb::module_&)) {
        auto submodule = m.def_submodule(name);
        bind(submodule);
    };
    topic("distances", suffice::bind_distances);
    topic("trees", suffice::bind_trees);
}
