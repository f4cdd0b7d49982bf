// The loops of one level of instructions, in a submodule for each topic.
#include "bind.hpp"

namespace suffice {
void bind_coordinates(nb::module_&);
void bind_distances(nb::module_&);
void bind_dual(nb::module_&);
void bind_labels(nb::module_&);
void bind_medians(nb::module_&);
void bind_sparse(nb::module_&);
void bind_trees(nb::module_&);
void bind_vectors(nb::module_&);
}

NB_MODULE(LEVEL_MODULE, m) {
    auto topic = [&](const char* name, void (*bind)(nb::module_&)) {
        auto submodule = m.def_submodule(name);
        bind(submodule);
    };
    topic("coordinates", suffice::bind_coordinates);
    topic("distances", suffice::bind_distances);
    topic("dual", suffice::bind_dual);
    topic("labels", suffice::bind_labels);
    topic("medians", suffice::bind_medians);
    topic("sparse", suffice::bind_sparse);
    topic("trees", suffice::bind_trees);
    topic("vectors", suffice::bind_vectors);
}
